"""Trials of a search for settings: each kept as it ends, so that a stopped search does not start over."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gelato.ranking.rank import Progress
from gelato.runs.files import JsonLines
from gelato.runs.records import read_fact


class SearchLog:
    """Figures of trials by their settings, one per line of a file; without a file they are kept in memory only.

    A line whose end was never written is dropped, and its trial made again. ``progress`` is called with the trials
    done and in all, at most.
    """

    def __init__(self, path: Path | None = None, progress: Progress | None = None) -> None:
        self._progress, self._done, self._total = progress, 0, 0
        self._log = JsonLines(path, _figure_of)
        self._figures = dict(map(_figure_of, self._log.lines))

    def __len__(self) -> int:
        return len(self._figures)

    def begin(self, total: int) -> None:
        """Say how many trials there are at most."""
        self._done, self._total = 0, total
        self._report()

    def end(self) -> None:
        """Say that no more trials are needed."""
        self._done = self._total
        self._report()

    def figure(self, settings: Mapping[str, Any], trial: Callable[[], float]) -> float:
        """The figure of some settings: the one that is kept, or that of a trial made now."""
        key = json.dumps(dict(settings), sort_keys=True)
        if key not in self._figures:
            self._figures[key] = trial()
            self._log.add({"settings": json.loads(key), "figure": self._figures[key]})
        self._done += 1
        self._report()
        return self._figures[key]

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


def _figure_of(line: Mapping[str, Any]) -> tuple[str, float]:
    settings, figure = read_fact(line, "settings", dict[str, Any]), read_fact(line, "figure", float, finite=False)
    return json.dumps(settings, sort_keys=True), float(figure)
