"""The folder of a search: its trials, one per line, locked against other searches, and what came out best."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gelato.errors import GelatoError, InputError
from gelato.formatting import counted, percent
from gelato.io.stored_files import parse_json, read_text
from gelato.io.write.outputs import SCRATCH, remove_leftovers
from gelato.runs.files import add_json_line, check_entries, write_json_lines
from gelato.runs.folder import LOCK, lock_folder
from gelato.runs.records import read_record

TRIALS, CHOICE, BEST = "trials.jsonl", "choice.jsonl", "best.toml"
OWN = (TRIALS, CHOICE, BEST)
"""Files of a search: its trials, those of the choice it starts from, and what came out best."""


@dataclass(frozen=True)
class SearchTrial:
    """One trial of the search.

    Attributes:
        values: the settings that are searched, as tried.
        precision, ap: validation precision@100%, which decides, and validation AP, which decides between equals.
        seconds: what it took.
        reference: whether it is what the search must not be worse than.
    """

    values: dict[str, Any]
    precision: float
    ap: float
    seconds: float
    reference: bool = False

    @property
    def figures(self) -> str:
        """What it reached, as it is shown."""
        return f"precision {percent(self.precision)}%, AP {percent(self.ap)}%"

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def resume_sentence(folder: Path) -> str | None:
    """What a stopped search has kept, in a sentence; ``None`` if that is nothing."""
    counts = {TRIALS: -1, CHOICE: 0}  # the first line says whose trials they are
    for name in counts:
        if (folder / name).exists():
            counts[name] += (folder / name).read_bytes().count(b"\n")
    count = max(0, counts[TRIALS]) + counts[CHOICE]
    if not count:
        return None
    kept = f"{counted(count, 'trial')} {'is' if count == 1 else 'are'}"
    return f"{kept} saved in {folder}; resume by running the same command again"


def check_folder(folder: Path) -> None:
    """Refuse what cannot be the folder of a search."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a new folder for the trials")
    check_entries(folder)
    others = [each.name for each in folder.iterdir() if each.name != LOCK and not each.name.startswith(SCRATCH)]
    if others and TRIALS not in others:
        raise InputError(f"{folder} is not empty and holds no trials; give a new folder")


@contextmanager
def open_search(folder: Path, key: dict[str, Any]) -> "Iterator[TrialNotes]":
    """The notes of a folder, locked against other searches while the block lasts; a refusal leaves nothing behind."""
    fresh = not folder.exists()
    lock = lock_folder(folder, "tuning here", "a search")
    try:
        remove_leftovers(folder, alone=True)
        yield TrialNotes(folder, key)
    except GelatoError:
        if fresh and resume_sentence(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        lock.release()


class TrialNotes:
    """The trials that are done, one per line."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self._path = folder / TRIALS
        check_folder(folder)
        about = {"format": "gelato trials 2", **key}
        lines = read_text(self._path, own=True).splitlines() if self._path.exists() else []
        if lines and lines[0] != json.dumps(about):
            raise InputError(f"{folder} holds the trials of another search; give a new folder")
        self._trials = []
        for line in lines[1:]:
            try:
                self._trials.append(read_record(SearchTrial, parse_json(line)))
            except (ValueError, TypeError):  # the end of a line was never written: the trial is made again
                break
        write_json_lines(self._path, [about, *(trial.as_json() for trial in self._trials)])

    def find(self, values: dict[str, Any]) -> SearchTrial | None:
        """The trial of these values, if it is done."""
        return next((trial for trial in self._trials if trial.values == values), None)

    def add(self, trial: SearchTrial) -> SearchTrial:
        """Note a trial, on disk too."""
        self._trials.append(trial)
        add_json_line(self._path, trial.as_json())
        return trial
