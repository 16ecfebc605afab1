"""The files that shares of a run keep: pieces of results, and what they are pieces of."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gelato import PROGRAM
from gelato.errors import InputError
from gelato.io.files import DAMAGED, written_aside
from gelato.ranking.job import Arrays

FORMAT = "gelato part 1"


@dataclass(frozen=True, eq=False)
class Piece:
    """What some blocks of a job gave.

    Attributes:
        blocks: how many blocks the job has.
        places: ``(b,)`` which of them were run.
        arrays: the partial result.
    """

    blocks: int
    places: NDArray[np.int64]
    arrays: Arrays


@dataclass(frozen=True, eq=False)
class Part:
    """One share of a run.

    Attributes:
        number, count: which share of how many, from 1.
        command: what was run, without what may differ between shares.
        pieces: by the identity of the job, which holds scores, pairs and plan.
    """

    number: int
    count: int
    command: tuple[str, ...]
    pieces: Mapping[str, Piece]

    @property
    def words(self) -> str:
        """The command in quotes, with the number of shares."""
        return f"'{shlex.join([PROGRAM, *self.command])}' in {self.count} shares"


def write_part(path: Path, part: Part) -> None:
    """Write a part aside, and rename it."""
    about = {"number": part.number, "count": part.count, "command": part.command}
    arrays: Arrays = {"format": np.array(FORMAT), "about": np.array(json.dumps(about))}
    for i, (key, piece) in enumerate(part.pieces.items()):
        arrays |= {f"{i}.key": np.array(key), f"{i}.blocks": np.array(piece.blocks), f"{i}.places": piece.places}
        arrays |= {f"{i}.part.{name}": array for name, array in piece.arrays.items()}
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_part(path: Path) -> Part:
    """The part in a file."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if str(arrays["format"]) != FORMAT:
            raise ValueError("format")
        about = json.loads(str(arrays["about"]))
        pieces = {}
        for name in arrays:
            i, _, what = name.partition(".")
            if what == "key":
                own = {
                    each.removeprefix(f"{i}.part."): arrays[each] for each in arrays if each.startswith(f"{i}.part.")
                }
                pieces[str(arrays[name])] = Piece(int(arrays[f"{i}.blocks"]), arrays[f"{i}.places"], own)
        return Part(int(about["number"]), int(about["count"]), tuple(map(str, about["command"])), pieces)
    except DAMAGED as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else "it is not part of a shared run"
        raise InputError(f"{path} cannot be merged: {what}; give the files that --shard wrote") from None
