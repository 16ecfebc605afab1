"""The folder of a run: opened for one writer at a time, compared with what is asked, resumed or begun anew."""

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock, Timeout
from numpy.typing import NDArray

from gelato import __version__
from gelato.errors import GelatoError, InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.io.files import written_aside
from gelato.io.outputs import SCRATCH, remove_leftovers
from gelato.ranking.rank import Progress
from gelato.runs.files import (
    CHECKPOINT,
    CHOSEN,
    COMPARISON,
    CONFIG,
    ENVIRONMENT,
    EPOCHS,
    FORMAT,
    GRAPH,
    MODEL,
    OWN,
    SPLIT,
    TIMINGS,
    TRIALS,
    Tensors,
    format_of,
    read_json,
    read_tensors,
    unedited,
    write_json,
    write_plain,
    write_tensors,
)
from gelato.runs.trials import Trials, read_trials
from gelato.splits import Split

LOCK = ".lock"
PACKAGES = ("torch", "numpy", "scipy", "numba", "safetensors", "pymetis")

Identity = Mapping[str, Any]
"""What a run is known by: ``method``, ``settings`` that shape the result, hashes of the graph and of its split."""


class RunFolder:
    """A folder for one training; the same call on the same folder resumes where it stopped. Made by ``opened``.

    Attributes:
        writes: whether this process is the one that writes it.
    """

    writes: ClassVar[bool] = True

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def finished(self) -> bool:
        """Whether the model is written."""
        return (self.path / MODEL).exists()

    @property
    def begun(self) -> bool:
        """Whether anything is kept that took time: a trial of settings, a comparison, an epoch, or the model."""
        return self.finished or any((self.path / name).exists() for name in (CHECKPOINT, TRIALS, COMPARISON))

    @property
    def comparison(self) -> Path:
        """The file of methods that are compared, which keeps each decision as it is made."""
        return self.path / COMPARISON

    def describe(self, split: Split) -> None:
        """Write the graph and what is hidden of it, so that the run can be opened without anything else."""
        if not (self.path / SPLIT).exists():
            write_plain(split.graph, self.path / GRAPH)
            split.save(self.path / SPLIT)

    def trials(self, progress: Progress | None = None) -> Trials:
        """The trials of the choice of settings; each is kept as it ends."""
        return Trials(self.path / TRIALS, progress)

    def chosen(self) -> dict[str, Any] | None:
        """The settings that were chosen before the run was stopped, if it came so far."""
        return read_json(self.path / CHOSEN) if (self.path / CHOSEN).exists() else None

    def keep_chosen(self, chosen: Mapping[str, Any]) -> None:
        """Keep the settings that were chosen."""
        write_json(self.path / CHOSEN, chosen)

    def checkpoint(self) -> tuple[Tensors, dict[str, Any]] | None:
        """The tensors and the state of the last epoch that is kept, if there is one."""
        if not (self.path / CHECKPOINT).exists():
            return None
        tensors, words = read_tensors(self.path / CHECKPOINT)
        with unedited(self.path):
            return tensors, json.loads(words["state"])

    def keep(self, tensors: Mapping[str, NDArray[Any]], state: Mapping[str, Any], line: Mapping[str, Any]) -> None:
        """Write the checkpoint of an epoch, and its line of metrics."""
        write_tensors(self.path / CHECKPOINT, tensors, {"state": json.dumps(state)})
        with (self.path / EPOCHS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def write_metrics(self, lines: list[dict[str, Any]]) -> None:
        """Write the metrics of all epochs so far anew."""
        with written_aside(self.path / EPOCHS) as part:
            part.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def keep_timings(self, timings: Mapping[str, float]) -> None:
        """Write the timings."""
        write_json(self.path / TIMINGS, timings)


@contextmanager
def opened(path: str | os.PathLike[str], identity: Identity, older: Mapping[str, Any]) -> Iterator[RunFolder]:
    """The folder of a run, locked against other writers while the block lasts.

    A folder that is not empty and not a run is refused, and so is one with another run. ``older`` holds what runs of
    older formats leave out of their identity. A start that is refused leaves nothing behind.
    """
    goal = Path(path)
    fresh = check_place(goal)
    try:
        goal.mkdir(parents=True, exist_ok=True)
        lock = FileLock(goal / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise InputError(f"{path}: another process is writing this run; wait for it, or give another folder") from None
    except (OSError, NotImplementedError) as error:
        raise InputError(
            f"{path}: cannot be used as the folder of a run: {getattr(error, 'strerror', None) or error}"
        ) from None
    folder, resumed = RunFolder(goal), False
    try:
        check_place(goal)  # again, now that nobody else can write
        remove_leftovers(goal, alone=True)  # of a run that was killed while it wrote
        resumed = _begin(folder, json.loads(json.dumps(dict(identity))), older)
        yield folder
    except GelatoError:
        if not folder.begun and not resumed:
            _remove(folder, fresh)
        raise
    finally:
        lock.release()


def kept_words(path: Path) -> str | None:
    """What a folder keeps of a run that was stopped, in a sentence; ``None`` if that is nothing."""
    epochs, trials = _lines(path / EPOCHS), len(read_trials(path / TRIALS))
    decisions = _lines(path / COMPARISON)
    if (path / MODEL).exists():
        kept = "the model is"
    elif (path / CHECKPOINT).exists() and epochs:
        unit = "fold" if '"fold"' in (path / EPOCHS).read_text(encoding="utf-8").partition("\n")[0] else "epoch"
        kept = f"1 {unit} is" if epochs == 1 else f"{epochs:,} {unit}s are"
    elif trials and (path / CHOSEN).exists():
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
    graph = read_graph(folder / GRAPH)
    if graph.fingerprint != fingerprint and (folder / SPLIT).exists():
        return Split.load(folder / SPLIT, graph).train
    return graph


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0


def _is_run(path: Path) -> bool:
    """Whether the configuration of a run lies there; a user's own file of this name is none."""
    if not (path / CONFIG).exists():
        return False
    try:
        return "settings" in read_json(path / CONFIG)
    except InputError:
        return False


def check_place(path: Path) -> bool:
    """Refuse what cannot be the folder of a run; returns whether nothing is there yet."""
    if not path.exists():
        return True
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give a new folder for the run")
    others = sorted(each.name for each in path.iterdir() if each.name != LOCK and not each.name.startswith(SCRATCH))
    if others and not _is_run(path):
        raise InputError(
            f"{path}: is not empty and not a run (it contains {others[0]}); give a new folder, such as {path / 'run'}"
        )
    return False


def _begin(folder: RunFolder, identity: dict[str, Any], older: Mapping[str, Any]) -> bool:
    """Take up the run that lies there, if it is the one asked for, or begin; returns whether it was taken up."""
    path = folder.path / CONFIG
    if _is_run(folder.path):
        before = read_json(path)
        number = format_of(before, path)
        difference = _difference({**older, **before}, identity, older)
        if difference is not None and folder.begun:
            raise InputError(f"{folder.path} {difference}")
        if difference is not None:  # a start that came to nothing
            for name in OWN:
                (folder.path / name).unlink(missing_ok=True)
        elif number == FORMAT:
            return True
    write_json(path, {"format": FORMAT, "release": __version__, **identity})
    write_json(folder.path / ENVIRONMENT, environment())
    return False


def _difference(before: Mapping[str, Any], now: Mapping[str, Any], older: Mapping[str, Any]) -> str | None:
    """How the run that lies there differs from the one asked for, or ``None``."""
    if before.get("method") != now["method"]:
        return f"holds a run of {before.get('method')}, not of {now['method']}; give a new folder"
    if any(before.get(key) != now[key] for key in ("graph", "attributes", "names", "valid") if key in now):
        return "holds a run on another graph, or another version or split of it; delete it, or give a new folder"
    with unedited(Path(CONFIG)):
        old, new = {**older.get("settings", {}), **before["settings"]}, now["settings"]
    for name in [*new, *old]:
        if old.get(name) != new.get(name):
            values = f"its {name} is {old.get(name)!r}, not {new.get(name)!r}"
            return f"holds another run ({values}); give a new folder, or the same settings"
    return None


def _remove(folder: RunFolder, fresh: bool) -> None:
    """Leave nothing behind that would block the repaired command."""
    for name in OWN:
        (folder.path / name).unlink(missing_ok=True)
    if fresh and not any(each.name != LOCK for each in folder.path.iterdir()):
        shutil.rmtree(folder.path, ignore_errors=True)


def environment() -> dict[str, Any]:
    """Versions and machine, for the record."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "gpu": _gpu(),
        "packages": versions,
    }


def _gpu() -> str | None:
    """The name of the GPU, where torch is loaded and has one."""
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None
