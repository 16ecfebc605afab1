"""Numbers and findings in words."""

from dataclasses import replace

import pytest

from gelato.formatting import decimal_size, duration, percent, percentage, plain_number
from gelato.report.text import comparison_rows, figure_tiles, headline, large, score, training_summary


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (large(728), "728"),
        (large(6_936_118), "6.9 million"),
        (large(194_000_000), "194 million"),
        (large(33e9), "33 billion"),
        (plain_number(0.7786), "0.78"),
        (plain_number(0.0247), "0.025"),
        (plain_number(0.0000131), "0.000013"),
        (plain_number(0.0996), "0.10"),
        (plain_number(0.0), "0"),
        (percent(0.7786), "77.86"),
        (percent(0.00011), "0.011"),
        (percent(None), "–"),
        (percentage(0.0948), "9.5%"),
        (percentage(0.434), "43%"),
        (score(7.9e-5), "7.90e-05"),
        (score(12.3456), "12.3"),
        (score(0.0), "0"),
        (score(-0.0123), "-0.0123"),
        (duration(0.0123), "12 ms"),
        (duration(2.05), "2 s"),
        (duration(99.6), "1 min 40 s"),
        (duration(12_060), "3 h 21 min"),
        (decimal_size(412e6), "412 MB"),
        (decimal_size(1.314e9), "1.31 GB"),
    ],
)
def test_numbers_are_said_as_people_say_them(said, expected):
    assert said.replace("\N{NO-BREAK SPACE}", " ") == expected


def changed(measured, factor):
    """The same with the AP of the model's honest test times a factor."""
    outcomes = [
        replace(each, metrics={**each.metrics, "ap": each.metrics["ap"] * factor})
        if (each.method, each.regime) == ("gelato", "unbiased")
        else each
        for each in measured.outcomes
    ]
    return replace(measured, outcomes=tuple(outcomes))


def test_the_headline_puts_the_balanced_test_beside_the_honest_one(report):
    measured = report.measured
    first = headline(measured)[0].replace("\N{NO-BREAK SPACE}", " ")
    flattered, honest = (measured.outcome("gelato", regime).metrics["ap"] for regime in ("biased", "unbiased"))
    expected = (
        f"AP is {percent(flattered)}% on a balanced sample, but {percent(honest)}% against all 6.9 million pairs."
    )
    assert first == expected
    assert "of the first 728 pairs in the ranking" in headline(measured)[1].lower()


def test_the_headline_says_it_when_a_heuristic_is_better(report):
    best = max(report.measured.outcome(name, "unbiased").metrics["ap"] for name in ("ac", "aa", "cn"))
    honest = report.measured.outcome("gelato", "unbiased").metrics["ap"]
    assert "The best heuristic, autocovariance, beats Gelato here" in headline(changed(report.measured, 0.1))[2]
    assert "The best heuristic, autocovariance, has an AP of" in headline(changed(report.measured, 10))[2]
    assert "does just as well" in headline(changed(report.measured, best / honest))[2]
    barely = headline(changed(report.measured, best / honest * (1 + 1e-6)))[2]
    assert "does just as well" in barely  # equal as shown: not called better


def test_the_headline_does_without_a_balanced_test(report):
    alone = [each for each in report.measured.outcomes if (each.method, each.regime) == ("gelato", "unbiased")]
    said = headline(replace(report.measured, outcomes=tuple(alone)))
    assert said[0].startswith("Against all 6.9") and len(said) == 2


def test_the_best_of_each_column_is_marked_and_nothing_random(report):
    table = comparison_rows(report.measured)
    for i in range(len(table.columns)):
        column = [(float(cells[i].text), cells[i].best) for _, cells, _ in table.rows]
        assert max(column)[1] and any(best for _, best in column)
    assert not any(cell.best for cell in table.random)
    assert len(table.random) == len(table.columns) == sum(size for *_, size in table.groups)


def test_a_regime_that_was_skipped_is_told(report):
    outcomes = tuple(each for each in report.measured.outcomes if each.regime != "partitioned")
    table = comparison_rows(replace(report.measured, outcomes=outcomes, skipped={"partitioned": "needs pymetis"}))
    assert [title for title, *_ in table.groups] == ["All non-links", "Balanced sample"]
    assert table.skipped == ["Within 10 parts: not tested (needs pymetis)."]


def test_the_density_of_links_is_told_as_one_pair_in_so_many(report):
    assert ("1 in 953", "of 6.9\N{NO-BREAK SPACE}million pairs is a link") in figure_tiles(report.facts)
    assert not any("walk" in words for _, words in figure_tiles(replace(report.facts, reached=None)))


def test_a_model_that_fell_back_says_so(report):
    assert "Plain autocovariance did better" in " ".join(
        training_summary(replace(report, remarks=["Plain autocovariance did better"]))
    )
    assert training_summary(replace(report, history=(), remarks=())) == []
