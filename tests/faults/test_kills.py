"""Six kills at random moments; `make faults` does 200."""

import kills


def test_six_kills_change_no_result():
    tallies = kills.campaign(6, 3, ("fit", "evaluate"), times=(3, 3))
    assert sum(each.kills for each in tallies.values()) >= 6
    assert [words for each in tallies.values() for words in each.wrong] == [], kills.table(tallies)
