"""SVG for the page: charts made small, to stand side by side; pictures checked at the door."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from html import escape

from gelato.errors import InputError

_DROPPED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style .*?</style>", re.DOTALL)
_IDENTIFIER = re.compile(r' id="([^"]*)"')
_USE = re.compile(r'(url\(#|href="#)([^")]+)')
_PLACES = re.compile(r' (?:d|x|y|points|transform)="[^"]*"')
_STILL = re.compile(r' transform="rotate\(-?0 [^"]*"')
_BAD_ATTRIBUTE = re.compile(r"javascript:|url\((?!#)|@import", re.IGNORECASE)
_BAD_ELEMENTS = {"script", "foreignObject", "iframe", "image", "a", "animate", "set", "handler", "style"}


def tidy(svg: str, prefix: str, alternative: str, palette: Mapping[str, str]) -> str:
    """The ``<svg>`` element of a chart, for a page that holds several.

    Ids get a prefix, those nobody uses are dropped; colours follow the page through ``palette``; the size is left to
    the page; what the file says about itself is dropped.
    """
    body = _DROPPED.sub("", svg).strip()
    used = {found[2] for found in _USE.finditer(body)}
    body = _IDENTIFIER.sub(lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", body)
    body = _USE.sub(lambda found: f"{found[1]}{prefix}-{found[2]}", body).replace("xlink:href", "href")
    for colour, meaning in palette.items():
        body = body.replace(colour, meaning)
    body = _PLACES.sub(lambda found: _shortened(found[0]), _STILL.sub("", body))
    head, _, rest = body.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    words = escape(alternative, quote=True)
    head = f'<svg {box[0]} role="img" aria-label="{words}" stroke-linejoin="round" stroke-linecap="butt"'
    rest = re.sub(r"<defs>\s*</defs>", "", rest)
    return re.sub(r">\s+<", "><", f"{head}>{rest}")


def _shortened(attribute: str) -> str:
    """Coordinates to a hundredth of a point, without line breaks."""
    rounded = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), attribute)
    return re.sub(r"\s*\n\s*", " ", rounded)


def checked_picture(svg: str, whose: str) -> str:
    """A picture that may go into the page as it is; one that could run or fetch anything is refused."""
    if not svg:
        return ""
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise InputError(f"the picture of {whose} must be one whole <svg> element: {error}") from None
    if _local(root.tag) != "svg" or "<!" in svg or "<?" in svg:
        raise InputError(f"the picture of {whose} must be one <svg> element and nothing else, got {svg[:40]!r}")
    for element in root.iter():
        if _local(element.tag) in _BAD_ELEMENTS:
            raise InputError(f"the picture of {whose} holds <{_local(element.tag)}>; draw it with shapes and text only")
        for name, value in element.attrib.items():
            points_out = _local(name) in ("href", "src") and not value.startswith("#")
            if _local(name).lower().startswith("on") or points_out or _BAD_ATTRIBUTE.search(value):
                raise InputError(f"the picture of {whose} has {_local(name)}={value[:40]!r}; leave that attribute out")
    return svg


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
