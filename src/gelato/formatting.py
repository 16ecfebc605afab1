"""Numbers, durations, sizes and lists as text: one wording for tables, sentences and pages, so that they agree."""

import math
from collections.abc import Sequence


def plain_number(value: float, digits: int = 2) -> str:
    """A number with a given number of significant digits, never in scientific notation.

    >>> plain_number(0.7812), plain_number(0.000132)
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
    return f"{100 * value:.2f}" if value >= 0.01 or value == 0 else plain_number(100 * value)


def percentage(value: float) -> str:
    """A fraction as a percentage in a sentence.

    >>> percentage(0.0951), percentage(0.4321)
    ('9.5%', '43%')
    """
    return f"{100 * value:.0f}%" if value >= 0.1 else f"{plain_number(100 * value)}%"


def chance(value: float) -> str:
    """A probability as a percentage; one that is almost 1 is not shown as a certainty.

    >>> chance(0.43), chance(0.9994)
    ('43%', 'over 99%')
    """
    return "over 99%" if 0.995 <= value < 1 else percentage(value)


def against(ours: float, theirs: float, metric: str = "AP") -> str:
    """Compare two fractions of one metric in words, by the digits that are shown.

    >>> against(0.004512, 0.004508), against(0.03, 0.02)
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


def counted(count: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "node"), counted(2_000, "link")
    ('1 node', '2,000 links')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A duration in one or two units.

    >>> duration(0.012), duration(3.4), duration(125), duration(12_000)
    ('12 ms', '3.4 s', '2 min 5 s', '3 h 20 min')
    """
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 99.5:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def predicted_duration(seconds: float) -> str:
    """A duration to the precision of a prediction, in seconds or minutes.

    >>> predicted_duration(3.42), predicted_duration(75), predicted_duration(125)
    ('3.4 s', '75 s', '2.1 min')
    """
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def decimal_size(count: float) -> str:
    """A number of bytes in units of 1000.

    >>> decimal_size(412e6), decimal_size(1.314e9)
    ('412 MB', '1.31 GB')
    """
    return f"{count / 1e6:,.0f} MB" if count < 0.9995e9 else f"{count / 1e9:.3g} GB"


def binary_size(count: float) -> str:
    """A number of bytes in units of 1024.

    >>> binary_size(5_600), binary_size(6 * 2**30), binary_size(8 * 2**40)
    ('5.5 KiB', '6.0 GiB', '8.0 TiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"


def mebibytes(count: float) -> str:
    """A number of bytes in MiB, so that those of a column compare.

    >>> mebibytes(6 * 2**30)
    '6,144 MiB'
    """
    return f"{count / 2**20:,.0f} MiB"
