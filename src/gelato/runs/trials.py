"""Trials of a search for settings: each kept as it ends, so that a stopped search does not start over."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gelato.io.files import written_aside
from gelato.ranking.rank import Progress
from gelato.runs.processes import world


class Trials:
    """Figures of trials by their settings, one per line of a file; without a file they are kept in memory only.

    Args:
        path: the file; a line whose end was never written is dropped, and its trial made again.
        progress: called with the trials done and in all, at most.
        figures: those that are known where there is no file.
    """

    def __init__(
        self, path: Path | None = None, progress: Progress | None = None, figures: Mapping[str, float] | None = None
    ) -> None:
        self._path, self._progress, self._done, self._total = path, progress, 0, 0
        self._figures = dict(figures or {}) if path is None else read_trials(path)
        if path is not None and path.exists():
            self._write(path)

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
            self._figures[key] = world().told(trial())
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(_line(key, self._figures[key]))
        self._done += 1
        self._report()
        return self._figures[key]

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    def _write(self, path: Path) -> None:
        """Write the file anew, without the half of a line."""
        with written_aside(path) as part:
            part.write_text("".join(_line(*each) for each in self._figures.items()), encoding="utf-8")


def read_trials(path: Path) -> dict[str, float]:
    """The figures that a file holds, by the settings in JSON; those after a damaged line do not count."""
    figures: dict[str, float] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            trial = json.loads(line)
            figures[json.dumps(trial["settings"], sort_keys=True)] = float(trial["figure"])
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return figures


def _line(key: str, figure: float) -> str:
    return json.dumps({"settings": json.loads(key), "figure": figure}) + "\n"
