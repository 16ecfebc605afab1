"""Numbers and findings in words, as they appear on the page and the charts."""

from collections.abc import Mapping

from gelato.figures import higher, percent, plain, share
from gelato.methods import METHODS
from gelato.report.measure import Measured, Outcome

REGIME_WORDS: Mapping[str, str] = {"unbiased": "all pairs", "partitioned": "within parts", "biased": "balanced sample"}


def method_words(method: str) -> str:
    """The full name of a method."""
    return METHODS[method].title if method in METHODS else method


def large(value: float) -> str:
    """A large count, rounded for reading: ``6.9 million``."""
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.{3 if value >= 100 * size else 2}g}\N{NO-BREAK SPACE}{word}"
    return f"{value:,.0f}"


def score(value: float) -> str:
    """A score with three significant digits: ``12.3``, ``0.0123``, ``7.90e-05``."""
    return plain(value, 3) if value == 0 or abs(value) >= 1e-3 else f"{value:.2e}"


def seconds(value: float) -> str:
    """A time: ``12 ms``, ``3.4 s``, ``2 min 5 s``, ``3 h 20 min``."""
    if value < 0.0995:
        return f"{1000 * value:.2g} ms"
    if value < 99.5:
        return f"{value:.2g} s"
    whole = round(value)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def memory(size: float) -> str:
    """An amount of memory: ``412 MB``, ``1.3 GB``."""
    return f"{size / 1e6:,.0f} MB" if size < 0.9995e9 else f"{size / 1e9:.3g} GB"


def headline(measured: Measured) -> list[str]:
    """The findings of a test in sentences; the first is the headline of the page."""
    honest = measured.outcome(measured.name, "unbiased")
    assert honest is not None
    pairs = f"{large(honest.positives + honest.negatives)} pairs{' across the two sides' if measured.bipartite else ''}"
    flattered = measured.outcome(measured.name, "biased")
    ap = _value(honest)
    if flattered is None:
        first = f"Against all {pairs}, {method_words(measured.name)} has an AP of {percent(ap)}%."
    else:
        balanced = percent(_value(flattered))
        first = f"AP is {balanced}% on a balanced sample, but {percent(ap)}% against all {pairs}."
    return [first, _recovered(honest), *_compared(measured, ap)]


def _recovered(honest: Outcome) -> str:
    p = honest.positives
    recovered, expected = ((each["precision@100%"] or 0.0) * p for each in (honest.metrics, honest.random))
    return (
        f"Of the first {p:,} pairs in the ranking, {_count(recovered)} are hidden links ({share(recovered / p)} of all"
        f" {p:,}); a random order would have {_count(expected)}."
    )


def _compared(measured: Measured, ap: float) -> list[str]:
    """How the model compares with the best heuristic, for better or for worse."""
    others = [each for each in measured.outcomes if each.regime == "unbiased" and each.method != measured.name]
    if not others:
        return []
    best = max(others, key=_value)
    name, words = method_words(measured.name), method_words(best.method)
    theirs = _value(best)
    if higher(theirs, ap):
        return [f"The best heuristic, {words}, beats {name} here: AP {percent(theirs)}% against {percent(ap)}%."]
    if higher(ap, theirs):
        return [f"The best heuristic, {words}, has an AP of {percent(theirs)}%; {name} has {percent(ap)}%."]
    return [f"The best heuristic, {words}, does just as well: AP {percent(ap)}% for both."]


def _value(outcome: Outcome) -> float:
    return outcome.metrics["ap"] or 0.0


def _count(value: float) -> str:
    """An expected number of links: whole where it is not small."""
    return f"{value:,.0f}" if value >= 10 or value == round(value) else plain(value)
