"""What each feature says, in plain words: models store short names, and people read these."""

import re
from functools import lru_cache

PLAIN = {
    "lazy walks of 3": "walks of 3 steps that may pause",
    "attribute walks of 3": "walks of 3 steps through nodes with similar attributes",
    "rare common neighbours": "common neighbours with few links",
    "shared resources": "common neighbours with very few links",
    "share of neighbours": "share of their neighbours that are common",
    "paths of 3": "paths of 3 links",
    "attribute eigenvectors": "wider neighbourhoods through nodes with similar attributes",
    "cosine": "similarity of their attributes",
    "cosine of rare attributes": "similarity of their attributes with rare ones counting more",
    "cosine of reduced attributes": "similarity of the main themes of their attributes",
    "cosine above the usual": "similarity of these themes beyond what is usual for the two",
    "least cosine with neighbours": "each has attributes like the neighbours of the other",
    "most cosine with neighbours": "one has attributes like the neighbours of the other",
    "cosine of neighbours": "similarity of the attributes of their neighbours",
    "cosine of surroundings": "similarity of the attributes around them",
    "attributes shared across links": "shared attributes of the kind that linked nodes share",
    "link back": "a link in the other direction",
}
"""Features whose words follow no pattern; further methods, common neighbours and others speak for themselves."""

DETAIL = {"all": "in full detail", "a quarter": "in less detail", "a sixteenth": "in broad outline"}
"""How many eigenvectors count."""

OF_A_NODE = {
    "degree": ("number of links", "of"),
    "clustering": ("share of linked pairs among the neighbours", "of"),
    "neighbours' degree": ("mean number of links of the neighbours", "of"),
    "strength": ("total weight of links", "of"),
    "links out": ("number of links", "from"),
    "links in": ("number of links", "to"),
}
"""Values of the two ends, and what leads from them to a node."""

AGAINST_CHANCE = " against chance"

OF_AN_END = ("of the first", "of the second")


@lru_cache(maxsize=4096)
def feature_words(feature: str, first: str = "the first node", second: str = "the second node") -> str:
    """A feature in words; ``first`` and ``second`` are what the two ends are called where they are told apart.

    >>> feature_words("walks of 3 against chance"), feature_words("eigenvectors 0, all")
    ('walks of 3 steps relative to their numbers of links', 'wider neighbourhoods in full detail')
    >>> feature_words("smaller degree"), feature_words("links in of the second", second="bob")
    ('the smaller number of links', 'number of links to bob')
    """
    if feature.endswith(AGAINST_CHANCE):
        return f"{feature_words(feature.removesuffix(AGAINST_CHANCE))} relative to their numbers of links"
    if found := re.fullmatch(r"walks of (\d+)", feature):
        return f"walks of {found[1]} steps"
    if found := re.fullmatch(r"eigenvectors ([\d.]+), (.+)", feature):
        hubs = "" if float(found[1]) == 0 else " with hubs counting less"
        return f"wider neighbourhoods {DETAIL.get(found[2], found[2])}{hubs}"
    if found := re.fullmatch(r"(smaller|larger) (.+)", feature):
        return f"the {found[1]} {OF_A_NODE.get(found[2], (found[2],))[0]}"
    if found := re.fullmatch(r"(.+) of the (first|second)", feature):
        value, of = OF_A_NODE.get(found[1], (found[1], "of"))
        return f"{value} {of} {first if found[2] == 'first' else second}"
    return PLAIN.get(feature, feature)
