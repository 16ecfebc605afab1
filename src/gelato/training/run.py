"""A run on disk: what it was, how it went, its best model, and a checkpoint from which it goes on.

``config.json``             settings, and hashes of the graph, its attributes and the validation links
``metrics.jsonl``           one line an epoch
``graph.npz``               the whole graph, its attributes and names
``split.npz``               which of its links were hidden
``chosen.json``             settings that were chosen on validation links
``model.safetensors``       the best model (written by ``Gelato.save``)
``checkpoint.safetensors``  everything needed to go on; replaced whole after every epoch
``environment.json``        versions and machine
``timings.json``            seconds of preparation, training and all, of the last call
"""

import json
import math
import os
import platform
import shutil
import sys
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from gelato import __version__
from gelato.datasets.loading import STORED
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import write_graph
from gelato.io.files import written_aside
from gelato.io.optional import optional
from gelato.splits import Split
from gelato.training.trainer import Epoch, Trainer

CHECKPOINT, METRICS = "checkpoint.safetensors", "metrics.jsonl"
GRAPH, CONFIG = STORED
SPLIT, CHOSEN = "split.npz", "chosen.json"
FORMAT = "gelato run 3"
PACKAGES = ("torch", "numpy", "scipy", "numba", "safetensors", "pymetis")


class Run:
    """A folder for one training; the same call on the same folder goes on where it was stopped."""

    def __init__(self, folder: str | os.PathLike[str], config: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.config = {"format": FORMAT, "gelato": __version__, **config}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made a folder: {error.strerror or error}") from None
        for scrap in self.folder.glob(".gelato-*"):  # of a run that was killed while it wrote
            shutil.rmtree(scrap, ignore_errors=True)
        self._check_same()
        write_json(self.folder / CONFIG, self.config)
        write_json(self.folder / "environment.json", environment())

    def _check_same(self) -> None:
        """Refuse to mix two runs in one folder."""
        path = self.folder / CONFIG
        if not path.exists():
            return
        before, now = read_json(path), json.loads(json.dumps(self.config))
        if any(before.get(key) != now[key] for key in ("graph", "attributes", "names", "valid") if key in now):
            raise InputError(
                f"{self.folder} holds a run on another graph, or another version or split of it;"
                " delete it, or give a new folder"
            )
        for key in now:
            old, new = before.get(key), now[key]
            if old != new and isinstance(old, dict):  # the first setting that differs
                key = next(name for name in new if old.get(name) != new[name])
                old, new = old.get(key), new[key]
            if old != new:
                told = f"its {key} is {old!r}, not {new!r}"
                raise InputError(f"{self.folder} holds another run ({told}); give a new folder, or what it had")

    def describe(self, parts: Split, chosen: dict[str, Any]) -> None:
        """Write the graph, what is hidden of it and what was chosen, so that the folder tells all of itself."""
        if not (self.folder / CHOSEN).exists():
            write_plain(parts.graph, self.folder / GRAPH)
            parts.save(self.folder / SPLIT)
            write_json(self.folder / CHOSEN, chosen)

    def chosen(self) -> dict[str, Any] | None:
        """The settings that were chosen before the run was stopped, if it came so far."""
        path = self.folder / CHOSEN
        return read_json(path) if path.exists() else None

    def resume(self, trainer: Trainer) -> None:
        """Bring a trainer to the state of the checkpoint, if there is one."""
        path = self.folder / CHECKPOINT
        if path.exists():
            tensors, about = load_tensors(path)
            trainer.restore(tensors, json.loads(about["state"]))
        self._write_metrics(trainer.state.history)

    def keep(self, trainer: Trainer, epoch: Epoch) -> None:
        """Write the checkpoint and the metrics of an epoch."""
        state = {name: value for name, value in vars(trainer.state).items() if name not in ("best", "history")}
        state["history"] = [asdict(each) for each in trainer.state.history]
        save_tensors(self.folder / CHECKPOINT, trainer.tensors(), {"state": json.dumps(state)})
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(_line(epoch))

    def finish(self, timings: dict[str, float]) -> None:
        """Write the timings."""
        write_json(self.folder / "timings.json", timings)

    def _write_metrics(self, history: list[Epoch]) -> None:
        with written_aside(self.folder / METRICS) as part:
            part.write_text("".join(map(_line, history)), encoding="utf-8")


def _line(epoch: Epoch) -> str:
    """An epoch as a line of JSON; a loss that is not a number is null."""
    told = asdict(epoch)
    return json.dumps(told | {"loss": told["loss"] if math.isfinite(told["loss"]) else None}) + "\n"


def write_plain(graph: Graph, path: Path) -> None:
    """Write a graph; without its names where these cannot be stored as plain text or integers."""
    try:
        write_graph(graph, path)
    except InputError:
        write_graph(replace(graph, names=None, labels=None), path)


def save_tensors(path: Path, tensors: dict[str, torch.Tensor], about: dict[str, str]) -> None:
    """Write tensors and words to a safetensors file, whole or not at all."""
    safetensors = optional("safetensors.torch", purpose="saving a model", extra="train")
    whole = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with written_aside(path) as part:
        part.write_bytes(safetensors.save(whole, metadata=about))


def load_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Tensors and words of a safetensors file."""
    safetensors = optional("safetensors", purpose="loading a model", extra="train")
    try:
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a finished run") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(f"{path}: is no whole safetensors file: {error}; delete it or train again") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds a table."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a run or of a saved model") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: holds no table; it was not written by gelato")
    return found


def write_json(path: Path, table: dict[str, Any]) -> None:
    """Write a table as JSON, whole or not at all."""
    with written_aside(path) as part:
        part.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


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
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "packages": versions,
    }
