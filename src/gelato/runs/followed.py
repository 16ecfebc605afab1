"""The folder of a run that several processes share: the first one writes it, and tells the others what it holds."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gelato.errors import GelatoError
from gelato.ranking.rank import Progress
from gelato.runs.files import TRIALS, Tensors
from gelato.runs.folder import Identity, RunFolder, opened
from gelato.runs.processes import world
from gelato.runs.trials import Trials, read_trials
from gelato.splits import Split


class Kept(NamedTuple):
    """What a folder holds when a run is taken up: whether it is finished, chosen settings, checkpoint and trials."""

    finished: bool
    chosen: dict[str, Any] | None
    checkpoint: tuple[Tensors, dict[str, Any]] | None
    trials: dict[str, float]


class FollowedFolder(RunFolder):
    """A folder as processes other than the first know it; they write nothing."""

    writes = False

    def __init__(self, path: Path, kept: Kept) -> None:
        super().__init__(path)
        self._kept = kept

    @property
    def finished(self) -> bool:
        """Whether the model was written before."""
        return self._kept.finished

    def chosen(self) -> dict[str, Any] | None:
        """The settings that were chosen before."""
        return self._kept.chosen

    def checkpoint(self) -> tuple[Tensors, dict[str, Any]] | None:
        """Where the run stood."""
        return self._kept.checkpoint

    def trials(self, progress: Progress | None = None) -> Trials:
        """The trials that were made before."""
        return Trials(progress=progress, figures=self._kept.trials)

    def describe(self, split: Split) -> None:
        """Nothing: the first process writes."""

    def keep_chosen(self, chosen: Mapping[str, Any]) -> None:
        """Nothing: the first process writes."""

    def keep(self, tensors: Mapping[str, NDArray[Any]], state: Mapping[str, Any], line: Mapping[str, Any]) -> None:
        """Nothing: the first process writes."""

    def write_metrics(self, lines: list[dict[str, Any]]) -> None:
        """Nothing: the first process writes."""

    def keep_timings(self, timings: Mapping[str, float]) -> None:
        """Nothing: the first process writes."""


@contextmanager
def shared(path: str | PathLike[str], identity: Identity, older: Mapping[str, Any]) -> Iterator[RunFolder]:
    """The folder of a run, ``opened`` by the first process and followed by the others; refused by one, by all."""
    together = world()
    if not together.first:
        kept = together.told(None)
        if isinstance(kept, GelatoError):
            raise kept
        assert kept is not None
        yield FollowedFolder(Path(path), kept)
        return
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(opened(path, identity, older))
            kept = Kept(folder.finished, folder.chosen(), folder.checkpoint(), read_trials(folder.path / TRIALS))
        except GelatoError as error:
            together.told(error)
            raise
        together.told(kept)
        yield folder
