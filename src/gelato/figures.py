"""Figures and lists as text: one rounding for tables, sentences and pages, so that they agree."""

import math
from collections.abc import Sequence


def plain(value: float, digits: int = 2) -> str:
    """A number with so many significant digits, never in powers of ten.

    >>> plain(0.7812), plain(0.000132)
    ('0.78', '0.00013')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    places = max(0, digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))))
    return f"{value:,.{places}f}"


def percent(value: float | None) -> str:
    """A fraction as percent, without the sign, to two decimals or two digits; a dash where it is not defined.

    >>> percent(0.0451), percent(0.004512), percent(0.00001234), percent(None)
    ('4.51', '0.45', '0.0012', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    return f"{100 * value:.2f}" if value >= 0.01 or value == 0 else plain(100 * value)


def share(value: float) -> str:
    """A fraction as a percentage in a sentence.

    >>> share(0.0951), share(0.4321)
    ('9.5%', '43%')
    """
    return f"{100 * value:.0f}%" if value >= 0.1 else f"{plain(100 * value)}%"


def versus(ours: float, theirs: float, metric: str = "AP") -> str:
    """Two fractions of one metric, as they are shown: both, or one against the other.

    >>> versus(0.004512, 0.004508), versus(0.03, 0.02)
    ('AP 0.45% for both', 'AP 3.00% against 2.00%')
    """
    if percent(ours) == percent(theirs):
        return f"{metric} {percent(ours)}% for both"
    return f"{metric} {percent(ours)}% against {percent(theirs)}%"


def higher(ours: float, theirs: float) -> bool:
    """Whether a fraction is higher than another as they are shown; equals are never called better.

    >>> higher(0.004512, 0.004508), higher(0.0046, 0.0045)
    (False, True)
    """
    return ours > theirs and percent(ours) != percent(theirs)


def enumeration(items: Sequence[str], last: str = "and") -> str:
    """Items as in a sentence.

    >>> enumeration(["a"]), enumeration(["a", "b", "c"]), enumeration(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"
