"""What became of each member of the portfolio: kept as it happens, so that a resumed run decides as it did before."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gelato.io.files import written_aside

COMPARED, SKIPPED, LEFT_OUT = "compared", "skipped", "left out"
"""A member ran; it would not have fitted into the budget; or it does not fit the graph or is not installed."""


@dataclass(frozen=True)
class Entry:
    """One member.

    Attributes:
        name, method: what it is called, and its name in ``METHODS``.
        status: ``compared``, ``skipped`` or ``left out``.
        ap: its average precision on the validation links.
        seconds: what it took.
        predicted_seconds: what it would have taken, of one that was skipped.
        budget: minutes that would have let it run.
        at_least: whether these two are known to be too low, since its forecast alone would have taken too long.
        why: why it was left out.
    """

    name: str
    method: str
    status: str
    ap: float | None = None
    seconds: float | None = None
    predicted_seconds: float | None = None
    budget: int | None = None
    at_least: bool = False
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


class Record:
    """Entries and decisions by the name of the member, one per line of a file; without a file only in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lines = [] if path is None else _read(path)
        if path is not None and path.exists():
            with written_aside(path) as part:  # without the half of a line
                part.write_text("".join(map(_line, self._lines)), encoding="utf-8")

    def entry(self, name: str) -> Entry | None:
        """What became of a member, if that is known."""
        return next((Entry(**line) for line in self._lines if line.get("name") == name), None)

    def started(self, name: str) -> bool:
        """Whether it was decided to run a member."""
        return any(line.get("started") == name for line in self._lines)

    def start(self, name: str) -> None:
        """Keep the decision to run a member."""
        if not self.started(name):
            self._add({"started": name})

    def add(self, entry: Entry) -> Entry:
        """Keep what became of a member."""
        self._add(entry.as_json())
        return entry

    @property
    def seconds(self) -> float:
        """What the members took so far."""
        return sum(float(line.get("seconds") or 0.0) for line in self._lines)

    def _add(self, line: dict[str, Any]) -> None:
        self._lines.append(line)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(line))


def _read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file up to the first that is damaged."""
    lines = []
    try:
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if "started" not in line:
                Entry(**line)
            lines.append(line)
    except (OSError, ValueError, TypeError):
        pass
    return lines


def _line(line: dict[str, Any]) -> str:
    return json.dumps(line) + "\n"
