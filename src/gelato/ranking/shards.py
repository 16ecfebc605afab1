"""Shards of a scan: each process runs some of the blocks and keeps what they give in a file; all files give the result.

A shard file holds data only. ``read_shard`` checks its structure, ``MergedShards`` that the files belong together,
``Job.load`` every array before it is used, and ``gelato merge`` the options of what was run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gelato.errors import InputError
from gelato.io.untrusted import DamagedData
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.counting import CountJob
from gelato.ranking.engines.local import LocalEngine, Threads
from gelato.ranking.job import PLAIN, FoldOptions, Job, Sum
from gelato.ranking.shard_files import PartialResult, ShardedCall, ShardFile, read_shard, write_shard
from gelato.ranking.top_search import TopJob, TopPerRowJob
from gelato.scores import key_of

SHARDED: tuple[type, ...] = (CountJob, TopJob, TopPerRowJob)
"""Jobs that are run in shards; what follows from their results is quick, or rare, and runs in one process."""

UNFINISHED = ".unfinished"
"""Ends the name of the file that a shard keeps while it runs."""


class ShardDone(Exception):
    """A shard has run its blocks, and what follows needs those of all shards."""


@dataclass
class Shard:
    """One shard of every job of a call, kept in a file; what is finished is not run again.

    Attributes:
        number, count: which shard of how many, from 1.
        call: what is run, so that ``gelato merge`` can put the results together.
        path: the file.
        results: what its blocks gave, by the identity of their jobs; those of an earlier run are taken over.
        used: identities of the jobs of this run.
    """

    number: int
    count: int
    call: ShardedCall
    path: Path
    results: dict[str, PartialResult] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        try:
            earlier = read_shard(self.path)
        except InputError:
            return  # there is none, or something else, which is replaced
        if (earlier.number, earlier.count, earlier.call) == (self.number, self.count, self.call):
            self.results = dict(earlier.results)

    def engine(self, threads: int) -> "ShardEngine":
        """What runs this shard on some threads."""
        return ShardEngine(self, threads)

    @property
    def unfinished(self) -> Path:
        """Where the result of a job is kept while it is run."""
        return self.path.with_name(self.path.name + UNFINISHED)

    def add(self, key: str, result: PartialResult) -> None:
        """Keep the result of a job, in the file too."""
        self.results[key] = result
        self._write(self.results)

    def finish(self) -> None:
        """Drop what an earlier run had computed from other inputs."""
        if self.used < set(self.results):
            self._write({key: result for key, result in self.results.items() if key in self.used})

    def _write(self, results: Mapping[str, PartialResult]) -> None:
        write_shard(self.path, ShardFile(self.number, self.count, self.call, results))


@dataclass(frozen=True)
class ShardEngine(LocalEngine):
    """Runs every ``count``-th block of the jobs that are sharded, and other jobs whole.

    The ``fold`` of a sharded job raises ``ShardDone``; that of a search row by row returns the rows of the shard.
    """

    shard: Shard
    threads: int

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        if type(job) not in SHARDED:
            return Threads(self.threads).fold(job, FoldOptions(how.progress))
        shard, key = self.shard, how.key
        if key is None:
            raise InputError("these scores have no key to identify them, so --shard does not work with them")
        if key not in shard.results:
            every = (shard.number - 1, shard.count)
            kept = Checkpoint(shard.unfinished, key_of(key, shard.number, shard.count))
            whole = Threads(self.threads, every).fold(job, FoldOptions(how.progress, kept, how.identity))
            places = np.arange(every[0], len(job.blocks), every[1])
            shard.add(key, PartialResult(len(job.blocks), places, job.dump(whole)))
            kept.finish()
        shard.used.add(key)
        rows_are_final = isinstance(job, TopPerRowJob)
        if rows_are_final:
            return job.load(shard.results[key].arrays)
        raise ShardDone


@dataclass
class MergedShards:
    """The results in all shard files of a call.

    Attributes:
        call: what they are of; its options are those of the files, not yet checked.
        results: of every shard, by the identity of their jobs.
        used: identities of the jobs whose results were asked for.
    """

    call: ShardedCall
    results: Mapping[str, Sequence[PartialResult]]
    used: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "MergedShards":
        """What some files hold: all shards of one call, each once."""
        shards = {path: read_shard(path) for path in paths}
        if len(shards) < len(paths):
            raise InputError("a file is given twice; give each shard once")
        first, known = next(iter(shards.items()))
        by_number: dict[int, Path] = {}
        for path, shard in shards.items():
            if (why := _difference(known, shard)) is not None:
                raise InputError(
                    f"{first} and {path} are shards of different runs: {why}; merge the shards of one command, made"
                    " from the same files"
                )
            if shard.number in by_number:
                raise InputError(
                    f"{by_number[shard.number]} and {path} both hold shard {shard.number} of {shard.count}; give one"
                )
            by_number[shard.number] = path
        if len(by_number) < known.count:
            number = next(number for number in range(1, known.count + 1) if number not in by_number)
            missing = known.count - len(by_number)
            more = f" and {missing - 1:,} others" if missing > 1 else ""
            raise InputError(
                f"shard {number} of {known.count}{more} is missing; make it with --shard {number}/{known.count}"
            )
        return cls(known.call, {key: [shard.results[key] for shard in shards.values()] for key in known.results})

    def engine(self, threads: int) -> "MergingEngine":
        """What takes results from the shards."""
        return MergingEngine(self, threads)


def _difference(one: ShardFile, other: ShardFile) -> str | None:
    """Why two shards are not of one run, or ``None``."""
    if one.call.step != other.call.step:
        return f"{one.call} and {other.call}"
    if (options := one.call.difference(other.call)) is not None:
        return options
    if one.count != other.count:
        return f"one of {one.count} and one of {other.count}"
    return None if set(one.results) == set(other.results) else "they ranked other scores or pairs"


@dataclass(frozen=True)
class MergingEngine(LocalEngine):
    """Takes the results of sharded jobs from the files, and runs all other jobs."""

    merged: MergedShards
    threads: int

    def fold(self, job: Job[Sum], how: FoldOptions = PLAIN) -> Sum:
        sharded = type(job) in SHARDED and how.identity is not None
        key = how.key if sharded else None
        results = None if key is None else self.merged.results.get(key)
        if key is None or results is None:
            if sharded and not self.merged.used:
                raise InputError(
                    "the shards do not match this run: they were made with another graph, another model or another"
                    " release of gelato; make them again"
                )
            return Threads(self.threads).fold(job, how)
        done = np.sort(np.concatenate([result.places for result in results]))
        if not np.array_equal(done, np.arange(len(job.blocks))):
            raise InputError("the shards do not hold every block exactly once; make them again")
        self.merged.used.add(key)
        whole = job.start()
        for result in results:
            try:
                partial = job.load(result.arrays)
            except DamagedData as error:
                raise InputError(f"the shards cannot be merged: {error}; make them again") from None
            whole = job.merge(whole, partial)
        return whole
