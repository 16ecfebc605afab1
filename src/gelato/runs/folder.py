"""The folder of a run: opened for one writer at a time, compared with what is asked, resumed or begun anew."""

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from gelato import __version__
from gelato.errors import GelatoError, InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.io.stored_files import parse_json
from gelato.io.write.outputs import SCRATCH, remove_leftovers
from gelato.ranking.rank import Progress
from gelato.runs import files
from gelato.runs.search_log import SearchLog
from gelato.splits import Split

LOCK = ".lock"
PACKAGES = ("torch", "numpy", "scipy", "numba", "safetensors", "pymetis")

FIRST_PART = files.checkpoint_name(0)

Identity = Mapping[str, Any]
"""What a run is known by: ``method``, ``settings`` that shape the result, hashes of the graph and of its split."""


class RunFolder:
    """The folder of one training, made by ``open_run_folder``; the same call on it resumes where it stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def finished(self) -> bool:
        """Whether the model is written."""
        return (self.path / files.MODEL).exists()

    @property
    def begun(self) -> bool:
        """Whether anything is kept that took time: a trial of settings, a comparison, an epoch, or the model."""
        kept = (files.MODEL, files.CHECKPOINT, FIRST_PART, files.TRIALS, files.COMPARISON)
        return any((self.path / name).exists() for name in kept)

    def clear(self) -> None:
        """Remove all files of the run."""
        for name in files.OWN:
            (self.path / name).unlink(missing_ok=True)

    def describe(self, split: Split) -> None:
        """Write the graph and what is hidden of it, so that the run can be opened without anything else.

        Those that a resumed run holds already are read again: a model beside damaged ones could not be opened.
        """
        graph, hidden = self.path / files.GRAPH, self.path / files.SPLIT
        if not (graph.exists() and hidden.exists()):
            files.write_stored_graph(split.graph, graph)
            split.save(hidden)
            return
        kept = Split.load(hidden, read_graph(graph))
        same = [np.array_equal(getattr(kept, part), getattr(split, part)) for part in ("valid", "test")]
        same += [getattr(kept.graph, of) == getattr(split.graph, of) for of in ("fingerprint", "attribute_fingerprint")]
        if not all(same):
            raise InputError(
                f"{self.path}: its {files.GRAPH} or {files.SPLIT} was edited, and is not of this run; delete the folder"
                " and train again"
            )

    def checkpoint(self, part: int | None = None) -> tuple[files.Tensors, dict[str, Any]] | None:
        """The tensors and the state of the last epoch, or of a ``part``, that is kept, if there is one."""
        path = self.path / files.checkpoint_name(part)
        if not path.exists():
            return None
        tensors, words = files.read_tensors(path)
        with files.refuse_damaged(self.path):
            return tensors, parse_json(words["state"])

    def keep(
        self,
        tensors: Mapping[str, NDArray[Any]],
        state: Mapping[str, Any],
        line: Mapping[str, Any],
        part: int | None = None,
    ) -> None:
        """Write the checkpoint of an epoch, or of a ``part`` that is kept beside others, and its line of metrics."""
        files.write_tensors(self.path / files.checkpoint_name(part), tensors, {"state": json.dumps(state)})
        files.add_json_line(self.path / files.EPOCHS, line)

    def drop_parts(self) -> None:
        """Remove the checkpoints of parts, of which a finished run has no use."""
        for path in self.path.glob(files.checkpoint_name().replace(".", "-*.")):
            path.unlink(missing_ok=True)

    def write_metrics(self, lines: list[dict[str, Any]]) -> None:
        """Write the metrics of all epochs so far anew."""
        files.write_json_lines(self.path / files.EPOCHS, lines)


def choose_once(
    folder: RunFolder | None, choose: Callable[[SearchLog], dict[str, Any]], progress: Progress | None = None
) -> dict[str, Any]:
    """The settings that a choice makes from its trials, or made in this folder before; trials are kept as they end."""
    if folder is None:
        return choose(SearchLog(progress=progress))
    path = folder.path / files.CHOSEN
    if path.exists():
        return files.read_json(path)
    chosen = choose(SearchLog(folder.path / files.TRIALS, progress))
    files.write_json(path, chosen)
    return chosen


def lock_folder(path: Path, doing: str, kind: str) -> FileLock:
    """Create a folder and lock it against other processes; a refusal says what they are doing there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise InputError(f"{path}: another process is {doing}; wait for it, or give another folder") from None
    except (OSError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be used as the folder of {kind}: {reason}") from None
    return lock


@contextmanager
def open_run_folder(path: str | os.PathLike[str], identity: Identity) -> Iterator[RunFolder]:
    """The folder of a run, locked against other writers while the block lasts.

    A folder that is not empty and not a run is refused, and so is one with another run. A start that is refused leaves
    nothing behind.
    """
    goal = Path(path)
    fresh = check_run_path(goal)
    lock = lock_folder(goal, "writing this run", "a run")
    folder, resumed = RunFolder(goal), False
    try:
        check_run_path(goal)  # again, now that nobody else can write
        remove_leftovers(goal, alone=True)  # of a run that was killed while it wrote
        resumed = _begin(folder, json.loads(json.dumps(dict(identity))))
        yield folder
    except GelatoError:
        if not folder.begun and not resumed:
            folder.clear()  # what would block the repaired command
            if fresh and not any(each.name != LOCK for each in goal.iterdir()):
                shutil.rmtree(goal, ignore_errors=True)
        raise
    finally:
        lock.release()


def resume_sentence(path: Path, unit: str = "epoch") -> str | None:
    """What a folder keeps of a run that was stopped, in a sentence; ``None`` if that is nothing.

    ``unit`` is what its method keeps one by one.
    """
    epochs, trials, decisions = (_lines(path / name) for name in (files.EPOCHS, files.TRIALS, files.COMPARISON))
    if (path / files.MODEL).exists():
        kept = "the model is"
    elif any((path / name).exists() for name in (files.CHECKPOINT, FIRST_PART)) and epochs:
        kept = f"1 {unit} is" if epochs == 1 else f"{epochs:,} {unit}s are"
    elif trials and (path / files.CHOSEN).exists():
        kept = "the chosen settings are"
    elif decisions:
        kept = "the methods compared so far are"
    elif trials:
        kept = "1 trial of settings is" if trials == 1 else f"{trials:,} trials of settings are"
    else:
        return None
    return f"{kept} saved in {path}; resume by running the same command again"


def training_graph(folder: Path, fingerprint: str) -> Graph:
    """The graph stored with a model; the training graph, if it was trained on a split."""
    files.check_entries(folder)
    graph = read_graph(folder / files.GRAPH)
    if graph.fingerprint != fingerprint and (folder / files.SPLIT).exists():
        return Split.load(folder / files.SPLIT, graph).train
    return graph


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0


def _is_run(path: Path) -> bool:
    """Whether the configuration of a run lies there; a user's own file of this name is none."""
    with suppress(InputError):  # of what is not there, or no JSON
        return "settings" in files.read_json(path / files.CONFIG)
    return False


def check_run_path(path: Path) -> bool:
    """Refuse what cannot be the folder of a run; returns whether nothing is there yet."""
    if not path.exists():
        return True
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give a new folder for the run")
    files.check_entries(path)
    others = sorted(each.name for each in path.iterdir() if each.name != LOCK and not each.name.startswith(SCRATCH))
    if others and not _is_run(path):
        raise InputError(
            f"{path}: is not empty and not a run (it contains {others[0]}); give a new folder, such as {path / 'run'}"
        )
    return False


def _begin(folder: RunFolder, identity: dict[str, Any]) -> bool:
    """Take up the run that lies there, if it is the one asked for, or begin; returns whether it was taken up."""
    path = folder.path / files.CONFIG
    if _is_run(folder.path):
        before = files.read_json(path)
        files.check_format(before, path)
        difference = _difference(before, identity)
        if difference is None:
            return True
        if folder.begun:
            raise InputError(f"{folder.path} {difference}")
        folder.clear()  # of a start that came to nothing
    files.write_json(path, {"format": files.FORMAT, "release": __version__, **identity})
    files.write_json(folder.path / files.ENVIRONMENT, environment())
    return False


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """How the run that lies there differs from the one asked for, or ``None``."""
    if before.get("method") != now["method"]:
        return f"holds a run of {before.get('method')}, not of {now['method']}; give a new folder"
    if any(before.get(key) != now[key] for key in ("graph", "attributes", "names", "valid") if key in now):
        return "holds a run on another graph, or another version or split of it; delete it, or give a new folder"
    with files.refuse_damaged(Path(files.CONFIG)):
        old, new = dict(before["settings"]), now["settings"]
    for name in [*new, *old]:
        if old.get(name) != new.get(name):
            values = f"its {name} is {old.get(name)!r}, not {new.get(name)!r}"
            return f"holds another run ({values}); give a new folder, or the same settings"
    return None


def environment() -> dict[str, Any]:
    """Versions and machine, for the record."""
    versions: dict[str, str | None] = dict.fromkeys(PACKAGES)
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    torch = sys.modules.get("torch")
    gpu = torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None
    machine = {"python": sys.version.split()[0], "platform": platform.platform(), "cores": os.cpu_count(), "gpu": gpu}
    return {**machine, "packages": versions}
