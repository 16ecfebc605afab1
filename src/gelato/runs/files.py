"""The files of a run: which there are, and how tensors and tables are written and read without pickle.

``config.json``             format, release, method, settings, and hashes of the graph, its attributes and names
``environment.json``        versions and machine
``graph.npz``               the whole graph, its attributes and names
``split.npz``               which of its links were hidden
``trials.jsonl``            trials of the choice of settings, one line per trial
``comparison.jsonl``        methods compared on validation links, and which were skipped, one line per decision
``chosen.json``             settings that were chosen on validation links
``metrics.jsonl``           one line per epoch
``checkpoint.safetensors``  everything needed to resume; replaced whole after every epoch
``model.safetensors``       what was learned; its presence says that the run is finished
``seen.npz``                the links learned from and selected on
``timings.json``            seconds of preparation, training and all, of the last call

Tensor files carry a SHA-256 of their tensors and of their words: a flipped bit is refused, not computed with.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from gelato.datasets.loading import STORED
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import write_graph
from gelato.io.files import written_aside

GRAPH, CONFIG = STORED
ENVIRONMENT, SPLIT, TRIALS, CHOSEN = "environment.json", "split.npz", "trials.jsonl", "chosen.json"
EPOCHS, COMPARISON = "metrics.jsonl", "comparison.jsonl"
CHECKPOINT, MODEL, SEEN, TIMINGS = "checkpoint.safetensors", "model.safetensors", "seen.npz", "timings.json"
OWN = (CONFIG, ENVIRONMENT, GRAPH, SPLIT, TRIALS, COMPARISON, CHOSEN, EPOCHS, CHECKPOINT, MODEL, SEEN, TIMINGS)
"""All of them."""

FORMAT = 4
"""Version of these files; releases that do not change it resume each other's runs."""

READABLE = (3, 4)
"""Formats that can be resumed and opened. Format 3 had no checksums and knew one method only."""

Tensors = dict[str, NDArray[Any]]


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], about: Mapping[str, str]) -> None:
    """Write tensors and words to a safetensors file with their checksum, whole or not at all."""
    whole = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    words = {**about, "format": str(FORMAT)}
    with written_aside(path) as part:
        part.write_bytes(save(whole, metadata={**words, "sha256": _checksum(whole, words)}))


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """Tensors and words of a safetensors file; refused if a bit of them has changed since they were written."""
    try:
        with safe_open(path, framework="numpy") as file:
            tensors, words = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a finished run") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: is not a complete safetensors file ({error}); delete it and train again") from None
    recorded = words.pop("sha256", None)
    if (format_of(words, path) > 3 or recorded is not None) and recorded != _checksum(tensors, words):
        raise InputError(f"{path}: is damaged: its checksum does not match; delete it and train again")
    return tensors, words


def format_of(about: Mapping[str, Any], path: Path) -> int:
    """The format that a table or a tensor file was written in; refused if this release cannot read it."""
    told = str(about.get("format", 3)).removeprefix("gelato run ")  # as format 3 wrote it
    number = int(told) if told.isdecimal() else -1
    if number not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise InputError(f"{path}: has format {told!r}, but this release of gelato reads {known}; train again")
    return number


def _checksum(tensors: Mapping[str, NDArray[Any]], words: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def sha256_of(array: NDArray[Any]) -> str:
    """The hash of the contents of an array."""
    return hashlib.sha256(array.tobytes()).hexdigest()


def write_plain(graph: Graph, path: Path) -> None:
    """Write a graph; without its names where these cannot be stored as plain text or integers."""
    try:
        write_graph(graph, path)
    except InputError:
        write_graph(replace(graph, names=None, labels=None), path)


@contextmanager
def unedited(path: Path) -> Iterator[None]:
    """Turn what wrong or missing entries of a run's files raise into a refusal that names the folder or file."""
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        if "memory" in str(error).lower():  # of torch
            raise
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).split("\n")[0]
        raise InputError(f"{path}: its files were edited or damaged ({reason}); delete it and train again") from error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds a table."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a run or of a saved model") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: does not hold a table; it was not written by gelato")
    return table


def write_json(path: Path, table: Mapping[str, Any]) -> None:
    """Write a table as JSON, whole or not at all."""
    with written_aside(path) as part:
        part.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
