"""The files of a run: which there are (docs/api.md says what each holds), written and read without pickle.

Tensor files carry a SHA-256 of their tensors and of their words: a flipped bit is refused, not computed with.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
from gelato.io.stored_files import MOST_TEXT, check_regular, open_stored, parse_json, read_text
from gelato.io.untrusted import DamagedData

GRAPH, CONFIG = STORED
ENVIRONMENT, SPLIT, TRIALS, CHOSEN = "environment.json", "split.npz", "trials.jsonl", "chosen.json"
EPOCHS, COMPARISON = "metrics.jsonl", "comparison.jsonl"
CHECKPOINT, MODEL, SEEN, TIMINGS = "checkpoint.safetensors", "model.safetensors", "seen.npz", "timings.json"
OWN = (CONFIG, ENVIRONMENT, GRAPH, SPLIT, TRIALS, COMPARISON, CHOSEN, EPOCHS, CHECKPOINT, MODEL, SEEN, TIMINGS)
"""The names of all files of a run."""


def checkpoint_name(part: int | None = None) -> str:
    """The name of the checkpoint of an epoch, or of a part that is kept beside others.

    >>> checkpoint_name(), checkpoint_name(3)
    ('checkpoint.safetensors', 'checkpoint-3.safetensors')
    """
    return CHECKPOINT if part is None else CHECKPOINT.replace(".", f"-{part}.")


FORMAT = 4
"""Version of these files; releases that do not change it resume each other's runs."""

Tensors = dict[str, NDArray[Any]]


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], about: Mapping[str, str]) -> None:
    """Write tensors and words to a safetensors file with their checksum, whole or not at all."""
    refuse_link(path)
    whole = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    words = {**about, "format": str(FORMAT)}
    with written_aside(path) as part:
        part.write_bytes(save(whole, metadata={**words, "sha256": _checksum(whole, words)}))


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """Tensors and words of a safetensors file; refused if a bit of them has changed since they were written."""
    try:
        _check_header(path)
        with safe_open(path, framework="numpy") as file:
            tensors, words = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a finished run") from None
    except InputError:
        raise
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:  # also of types NumPy lacks
        raise InputError(f"{path}: is not a complete safetensors file ({error}); delete it and train again") from None
    check_format(words, path)
    if words.pop("sha256", None) != _checksum(tensors, words):
        raise InputError(f"{path}: is damaged: its checksum does not match; delete it and train again")
    return tensors, words


def _check_header(path: Path) -> None:
    """Refuse what is no regular file, and words that are longer than any model has."""
    with open_stored(path, own=True) as stream:
        longest = int.from_bytes(stream.read(8), "little")
    if longest > MOST_TEXT:
        raise ValueError(f"a header of {longest:,} bytes")


def check_format(about: Mapping[str, Any], path: Path) -> None:
    """Refuse a table or a tensor file that was written in another format."""
    number = str(about.get("format", 3)).removeprefix("gelato run ")  # as format 3 wrote it, where it did
    if number != str(FORMAT):
        wrote = "gelato 0.1, which reads it" if number == "3" else "the release that wrote it"
        raise InputError(
            f"{path}: has format {number!r}, but this release of gelato reads {FORMAT}; train again in a new folder, or"
            f" use {wrote}"
        )


def _checksum(tensors: Mapping[str, NDArray[Any]], words: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def refuse_link(path: Path) -> None:
    """Refuse to write through a link, or to anything but a regular file, inside the folder of a run."""
    with suppress(FileNotFoundError):
        check_regular(path, own=True)


def check_entries(folder: Path) -> None:
    """Refuse the folder of a run that holds links, pipes, sockets or devices."""
    try:
        for path in sorted(folder.iterdir()):
            check_regular(path, own=True)
    except FileNotFoundError:
        return  # of a file that another process has removed since
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror or error}") from None


def write_stored_graph(graph: Graph, path: Path) -> None:
    """Write a graph; without its names where these cannot be stored as plain text or integers."""
    try:
        write_graph(graph, path)
    except InputError:
        write_graph(replace(graph, names=None, labels=None), path)


@contextmanager
def parsing() -> Iterator[None]:
    """Turn what wrong or missing entries of files raise into ``DamagedData``.

    Only parsing belongs into the block: an error there means that the entries are wrong, an error elsewhere that the
    code is.
    """
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        if "memory" in str(error).lower():  # of torch
            raise
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).split("\n")[0]
        raise DamagedData(reason) from error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let refusals of what the files of a run hold name its folder, or the file; other errors pass as they are."""
    try:
        yield
    except DamagedData as error:
        raise InputError(f"{path}: its files were edited or damaged ({error}); delete it and train again") from error
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from None


@contextmanager
def refuse_damaged(path: Path) -> Iterator[None]:
    """Parse entries of a run's files: what is wrong with them is refused, naming the folder or the file."""
    with naming(path), parsing():
        yield


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds a table."""
    try:
        table = parse_json(read_text(path, own=True))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the folder of a run or of a saved model") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: does not hold a table; it was not written by gelato")
    return table


def write_json(path: Path, table: Mapping[str, Any]) -> None:
    """Write a table as JSON, whole or not at all."""
    refuse_link(path)
    with written_aside(path) as part:
        part.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


class JsonLines:
    """JSON objects that are kept in a file as they are added, one per line, so that what was stopped can be resumed.

    Lines from the first damaged one on, on which ``check`` fails with a ``KeyError``, a ``TypeError`` or a
    ``ValueError``, are dropped. Without a file the objects are in memory only.
    """

    def __init__(self, path: Path | None, check: Callable[[dict[str, Any]], object]) -> None:
        self._path = path
        self.lines: list[dict[str, Any]] = []
        if path is None or not path.exists():
            return
        refuse_link(path)
        with suppress(OSError, ValueError, TypeError, KeyError):
            for line in map(parse_json, read_text(path, own=True).splitlines()):
                check(line)
                self.lines.append(line)
        write_json_lines(path, self.lines)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line."""
        self.lines.append(line)
        if self._path is not None:
            add_json_line(self._path, line)


def write_json_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of JSON lines, whole or not at all."""
    refuse_link(path)
    with written_aside(path) as part:
        part.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def add_json_line(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line to the end of a file."""
    refuse_link(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
