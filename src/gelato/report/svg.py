"""SVG for the page: charts are made compact, and pictures are checked before they go in."""

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

    Ids get a prefix, and unused ones are dropped; colours follow the page through ``palette``; the page decides the
    size; metadata is dropped.
    """
    body = _DROPPED.sub("", svg).strip()
    used = {match[2] for match in _USE.finditer(body)}
    body = _IDENTIFIER.sub(lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", body)
    body = _USE.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", body).replace("xlink:href", "href")
    for colour, meaning in palette.items():
        body = body.replace(colour, meaning)
    body = _PLACES.sub(lambda match: _shortened(match[0]), _STILL.sub("", body))
    head, _, rest = body.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    words = escape(alternative, quote=True)
    head = f'<svg {box[0]} role="img" aria-label="{words}" stroke-linejoin="round" stroke-linecap="butt"'
    rest = re.sub(r"<defs>\s*</defs>", "", rest)
    return re.sub(r">\s+<", "><", f"{head}>{rest}")


def _shortened(attribute: str) -> str:
    """Coordinates to a hundredth of a point, without line breaks."""
    rounded = re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), attribute)
    return re.sub(r"\s*\n\s*", " ", rounded)


def checked_picture(svg: str, whose: str) -> str:
    """A picture that may go into the page unchanged; one that could run or fetch anything is refused."""
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
