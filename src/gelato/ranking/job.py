"""Jobs: scans over blocks as values that any engine can run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gelato.ranking.checkpoint import Checkpoint

Sum = TypeVar("Sum")
Item = TypeVar("Item")
Result = TypeVar("Result")

Arrays = dict[str, NDArray[Any]]
"""What a partial result is made of, ready for a file or a wire."""

Progress = Callable[[int, int | None], None]
"""Called with the number of pairs done and the number in all."""


@dataclass(frozen=True)
class FoldOptions:
    """What may go along with a job.

    Attributes:
        progress: called after every block.
        checkpoint: where the result is kept, so that a stopped run can be resumed.
        identity: gives the hash of everything the result depends on; without one nothing is kept.
    """

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    identity: Callable[[], str | None] | None = None

    @cached_property
    def key(self) -> str | None:
        """The hash, if there is one."""
        return None if self.identity is None else self.identity()


PLAIN = FoldOptions()
"""Neither reported nor kept."""


class Job(Protocol[Sum]):
    """Blocks, and an additive result of running them; picklable where the scores have a key.

    A partial result holds what some blocks gave, and working memory, which is no part of the result. Merging the
    partial results of disjoint blocks gives that of all of them, in whatever order.
    """

    @property
    def blocks(self) -> Sequence[Any]:
        """What is to be run, fixed by the plan; a worker takes its share in this order."""

    @property
    def workers(self) -> int | None:
        """How many blocks may run at once; ``None`` for any number."""

    def on_device(self, device: str) -> "Job[Sum] | None":
        """The same job on a device of PyTorch, in other blocks; ``None`` where nothing of it runs there."""

    def aligned_blocks(self, blocks: Sequence[Any]) -> Sequence[Any]:
        """Ascending blocks of the job that this one was moved from, joined and cut where those of this job end."""
        return blocks

    def pairs_of(self, block: Any) -> int:
        """How many pairs a block holds, for progress."""

    def start(self) -> Sum:
        """The empty result, with working memory."""

    def run(self, part: Sum, block: Any) -> None:
        """Add a block to a partial result."""

    def merge(self, whole: Sum, part: Sum) -> Sum:
        """Both results in one; ``part`` is empty afterwards and may go on."""

    def dump(self, part: Sum) -> Arrays:
        """A copy of a partial result as arrays, without its working memory."""

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> Sum:
        """The partial result that ``dump`` wrote.

        The arrays may come from a file of anybody's: ``DamagedData`` refuses what ``dump`` cannot have written.
        """

    def hint(self, part: Sum) -> NDArray[np.float64] | None:
        """What would spare others work, such as the cut of a top-k; the result is right without it."""
        return None

    def take_hint(self, hint: NDArray[np.float64]) -> None:
        """Take the hint of another process."""
        return
