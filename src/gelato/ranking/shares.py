"""A scan dealt to several processes: each runs its share of the blocks and keeps a part; all parts give the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from gelato.errors import InputError
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.counting import CountJob
from gelato.ranking.engines import Progress
from gelato.ranking.engines.threads import Threads
from gelato.ranking.job import Job
from gelato.ranking.part_files import Part, Piece, read_part, write_part
from gelato.ranking.searching import ByRowJob, OfferJob
from gelato.scores import key_of

Sum = TypeVar("Sum")

DEALT: tuple[type, ...] = (CountJob, OfferJob, ByRowJob)
"""Jobs that are dealt out; what follows from their results is quick, or rare, and runs in one process."""

UNFINISHED = ".unfinished"
"""Ends the name of the file that a share keeps while it runs."""


class ShareDone(Exception):
    """A share has run its blocks, and what follows needs those of all shares."""


@dataclass
class Share:
    """An engine's share of every job, kept in a file; a finished part is not run again.

    Attributes:
        number, count: which share of how many, from 1.
        command: what was run, so that ``gelato merge`` can run it.
        path: the file.
        pieces: parts of the results by the identity of their jobs; those of an earlier run are taken over.
        used: identities of the jobs of this run.
    """

    number: int
    count: int
    command: tuple[str, ...]
    path: Path
    pieces: dict[str, Piece] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        try:
            earlier = read_part(self.path)
        except InputError:
            return  # none, or something else, which is replaced
        if (earlier.number, earlier.count, earlier.command) == (self.number, self.count, self.command):
            self.pieces = dict(earlier.pieces)

    def engine(self, threads: int) -> "Sharing":
        """What runs this share on some threads."""
        return Sharing(self, threads)

    @property
    def unfinished(self) -> Path:
        """Where a piece is kept while it is made."""
        return self.path.with_name(self.path.name + UNFINISHED)

    def add(self, key: str, piece: Piece) -> None:
        """Keep a piece, in the file too."""
        self.pieces[key] = piece
        write_part(self.path, Part(self.number, self.count, self.command, self.pieces))

    def finish(self) -> None:
        """Drop what an earlier run had made of other files."""
        if self.used < set(self.pieces):
            kept = {key: piece for key, piece in self.pieces.items() if key in self.used}
            write_part(self.path, Part(self.number, self.count, self.command, kept))


@dataclass(frozen=True)
class Sharing:
    """Runs every ``count``-th block of dealt jobs, and other jobs whole."""

    share: Share
    threads: int

    def fold(
        self,
        job: Job[Sum],
        *,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
        identity: Callable[[], str | None] | None = None,
    ) -> Sum:
        """The result of a job that is not dealt out; of one that is, ``ShareDone``, or the rows of the share."""
        if type(job) not in DEALT:
            return Threads(self.threads).fold(job, progress=progress)
        share, key = self.share, None if identity is None else identity()
        if key is None:
            raise InputError("these scores have no key to identify them, so --shard does not work with them")
        if key not in share.pieces:
            mine = (share.number - 1, share.count)
            kept = Checkpoint(share.unfinished, key_of(key, share.number, share.count))
            whole = Threads(self.threads, mine).fold(job, progress=progress, checkpoint=kept, identity=lambda: key)
            places = np.arange(mine[0], len(job.blocks), mine[1])
            share.add(key, Piece(len(job.blocks), places, job.dump(whole)))
            kept.finish()
        share.used.add(key)
        if isinstance(job, ByRowJob):
            return job.load(share.pieces[key].arrays)
        raise ShareDone


@dataclass
class Merged:
    """The parts of all shares.

    Attributes:
        command: what they are of.
        pieces: of every share, by the identity of their jobs.
        used: identities of the jobs whose results were asked for.
    """

    command: tuple[str, ...]
    pieces: Mapping[str, Sequence[Piece]]
    used: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "Merged":
        """The parts in some files: all shares of one run, each once."""
        parts = {path: read_part(path) for path in paths}
        if len(parts) < len(paths):
            raise InputError("a file is given twice; give each share once")
        first, known = next(iter(parts.items()))
        by_number: dict[int, Path] = {}
        for path, part in parts.items():
            if (part.command, part.count, set(part.pieces)) != (known.command, known.count, set(known.pieces)):
                raise InputError(
                    f"{path} and {first} are shares of different runs: {part.words} and {known.words}; merge the shares"
                    " of one command, made from the same files"
                )
            if part.number in by_number:
                raise InputError(
                    f"{by_number[part.number]} and {path} both hold share {part.number} of {part.count}; give one"
                )
            by_number[part.number] = path
        missing = [number for number in range(1, known.count + 1) if number not in by_number]
        if missing:
            more = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
            raise InputError(
                f"share {missing[0]} of {known.count}{more} is missing; make it with --shard {missing[0]}/{known.count}"
            )
        return cls(known.command, {key: [part.pieces[key] for part in parts.values()] for key in known.pieces})

    def engine(self, threads: int) -> "Merging":
        """What takes results from the parts."""
        return Merging(self, threads)


@dataclass(frozen=True)
class Merging:
    """Takes the results of dealt jobs from their parts, and runs all other jobs."""

    merged: Merged
    threads: int

    def fold(
        self,
        job: Job[Sum],
        *,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
        identity: Callable[[], str | None] | None = None,
    ) -> Sum:
        """The result of a job."""
        dealt = type(job) in DEALT and identity is not None
        key = identity() if dealt and identity is not None else None
        pieces = None if key is None else self.merged.pieces.get(key)
        if key is None or pieces is None:
            if dealt and not self.merged.used:
                raise InputError(
                    "the shares do not match this run: they were made with another graph, another model or another"
                    " release of gelato; make them again"
                )
            return Threads(self.threads).fold(job, progress=progress, checkpoint=checkpoint, identity=identity)
        done = np.sort(np.concatenate([piece.places for piece in pieces]))
        if not np.array_equal(done, np.arange(len(job.blocks))):
            raise InputError("the shares do not hold every block exactly once; make them again")
        self.merged.used.add(key)
        whole = job.start()
        for piece in pieces:
            whole = job.merge(whole, job.load(piece.arrays))
        return whole
