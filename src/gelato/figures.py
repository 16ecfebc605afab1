"""Figures as people read them, rounded in one way in sentences, tables and pages."""

import math


def plain(value: float, digits: int = 2) -> str:
    """A number with so many significant digits, never in powers of ten: ``0.78``, ``0.00013``."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    places = max(0, digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))))
    return f"{value:,.{places}f}"


def percent(value: float | None) -> str:
    """A fraction as a percentage, to two decimals or two significant digits; a dash where it is not defined."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{100 * value:.2f}" if value >= 0.01 or value == 0 else plain(100 * value)


def share(value: float) -> str:
    """A fraction as a percentage in a sentence: ``9.5%``, ``43%``."""
    return f"{100 * value:.0f}%" if value >= 0.1 else f"{plain(100 * value)}%"
