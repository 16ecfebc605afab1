"""What people see: bars only where they can be drawn, and sentences that are not cut where nobody sees them."""

import io
import sys

import pytest

from gelato.cli.display import print_result, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_a_terminal_that_cannot_animate_gets_no_bar(monkeypatch, kind):
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("ranking", quiet=False) as report:
        report(1, 10)
    assert sys.stderr.getvalue() == ""


def test_a_sentence_is_one_line_where_stdout_is_no_terminal(capsys):
    sentence = "Expect about 5 of [these]. " * 20
    print_result(sentence)
    assert capsys.readouterr().out == sentence + "\n"


def test_brackets_in_a_sentence_are_no_markup_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_result("hidden was [red]")
    assert "hidden was [red]" in sys.stdout.getvalue()
