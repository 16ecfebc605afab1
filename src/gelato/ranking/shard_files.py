"""Shard files: partial results of a scan, and what was run, as plain data that is checked when it is read."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato import PROGRAM
from gelato.errors import InputError
from gelato.io.files import DAMAGED, written_aside
from gelato.io.stored_files import parse_json
from gelato.io.untrusted import checked_array, read_uncompressed
from gelato.ranking.job import Arrays

FORMAT, FORMAT_BEFORE = "gelato shard 1", "gelato part 1"

STEPS = ("evaluate", "predict")
"""What can be run in shards."""

MOST_SHARDS = 1_000_000
LONGEST_ABOUT = 1 << 20
"""Characters that say what was run, at most."""

Plain = str | int | float | bool | None | list[str | int | float]
"""Values of options: they name files, methods and numbers, and are no code."""


@dataclass(frozen=True)
class ShardedCall:
    """What is run in shards: a step, and its options by the names of its parameters."""

    step: str
    options: Mapping[str, Plain]

    def __str__(self) -> str:
        """The step and its graph, as on the command line."""
        return f"'{PROGRAM} {self.step} {self.options.get('graph', '')}'"

    def difference(self, other: "ShardedCall") -> str | None:
        """An option in which two calls of the same step differ, in words."""
        for name in sorted({*self.options, *other.options}):
            one, two = self.options.get(name), other.options.get(name)
            if (type(one), one) != (type(two), two):
                return f"{name} {one!r} and {two!r}"
        return None


@dataclass(frozen=True, eq=False)
class PartialResult:
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
class ShardFile:
    """The content of a shard file.

    Attributes:
        number, count: which shard of how many, from 1.
        call: what was run, without what may differ between shards.
        results: by the identity of the job, which is a hash of scores, pairs and plan.
    """

    number: int
    count: int
    call: ShardedCall
    results: Mapping[str, PartialResult]


def write_shard(path: Path, shard: ShardFile) -> None:
    """Write a shard aside, and rename it."""
    call = {"step": shard.call.step, "options": dict(shard.call.options)}
    about = {"number": shard.number, "count": shard.count, **call}
    arrays: Arrays = {"format": np.array(FORMAT), "about": np.array(json.dumps(about))}
    for i, (key, result) in enumerate(shard.results.items()):
        arrays |= {f"{i}.key": np.array(key), f"{i}.blocks": np.array(result.blocks), f"{i}.places": result.places}
        arrays |= {f"{i}.result.{name}": array for name, array in result.arrays.items()}
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_shard(path: Path) -> ShardFile:
    """The shard in a file, which may come from anywhere: nothing in it is trusted.

    The arrays of the partial results are only known to be arrays of numbers; ``Job.load`` checks the rest.
    """
    try:
        arrays = read_uncompressed(path)
        told = _text(arrays, "format", 100)
        if told == FORMAT_BEFORE:
            raise InputError("it was written by an older release of gelato, which stored a command line in it")
        if told != FORMAT:
            raise ValueError("format")
        about = parse_json(_text(arrays, "about", LONGEST_ABOUT))
        if not isinstance(about, dict) or set(about) != {"number", "count", "step", "options"}:
            raise ValueError("about")
        number, count = about["number"], about["count"]
        if not (type(number) is type(count) is int and 1 <= number <= count <= MOST_SHARDS):
            raise InputError(f"it is shard {number!r} of {count!r}")
        return ShardFile(number, count, _call(about["step"], about["options"]), _results(arrays))
    except InputError as error:
        reason = str(error).removeprefix(f"{path}: ").partition(";")[0]
    except DAMAGED as error:
        reason = "it is not a shard of a run"
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
    raise InputError(f"{path} cannot be merged: {reason}; give the files that --shard wrote")


def _text(arrays: Arrays, name: str, longest: int) -> str:
    array = arrays.pop(name)
    if array.shape != () or array.dtype.kind != "U" or array.dtype.itemsize > 4 * longest:
        raise ValueError(name)
    return str(array)


def _call(step: Any, options: Any) -> ShardedCall:
    """What was run; its options are checked one by one where the step is known."""
    if not (isinstance(step, str) and step in STEPS):
        raise InputError(f"it asks for {str(step)[:40]!r}, but only {' and '.join(STEPS)} run in shards")
    if not isinstance(options, dict) or not all(_is_plain(value) for value in options.values()):
        raise InputError("its options are not plain values")
    return ShardedCall(step, options)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(each is not None and not isinstance(each, list) and _is_plain(each) for each in value)
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _results(arrays: Arrays) -> dict[str, PartialResult]:
    """The partial results in an archive, without what was taken out of it before."""
    results: dict[str, PartialResult] = {}
    i = 0
    while f"{i}.key" in arrays:
        key, prefix = _text(arrays, f"{i}.key", 64), f"{i}.result."
        blocks = checked_array(arrays, f"{i}.blocks", np.int64, ())
        places = checked_array(arrays, f"{i}.places", np.int64, (None,))
        del arrays[f"{i}.blocks"], arrays[f"{i}.places"]
        names = [name for name in arrays if name.startswith(prefix)]
        own = {name.removeprefix(prefix): arrays.pop(name) for name in names}
        if key in results or any(array.dtype.kind not in "if" for array in own.values()):
            raise ValueError("results")
        results[key] = PartialResult(int(blocks), places, own)
        i += 1
    if arrays:
        raise ValueError("unknown arrays")
    return results
