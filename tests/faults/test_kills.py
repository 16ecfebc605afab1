"""Ten kills at random moments; `make faults` does 200."""

import kills


def test_ten_kills_change_no_result():
    tallies = kills.campaign(10, 3, ("fit", "evaluate"), times=(5, 5))
    assert sum(each.kills for each in tallies.values()) >= 10
    assert [words for each in tallies.values() for words in each.wrong] == [], kills.table(tallies)
