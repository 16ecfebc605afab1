"""Where the metrics of a training can go besides its folder: TensorBoard, Weights & Biases, MLflow.

Each is called with every ``Epoch``, needs its package only when it is made, writes nothing before the first epoch,
and is closed when the training ends.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from gelato import PROGRAM
from gelato.errors import optional
from gelato.registry import Registry
from gelato.training.loop import Epoch

SHOWN = ("loss", "precision", "skipped", "seconds")


class Callback(Protocol):
    """Takes note of epochs."""

    def __call__(self, epoch: Epoch) -> None:
        """Note one epoch."""

    def close(self) -> None:
        """Write out what is left."""


class TensorBoard:
    """Event files for ``tensorboard --logdir FOLDER``."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._board = optional("torch.utils.tensorboard", purpose="logging to TensorBoard", extra="tensorboard")
        self._folder, self._settings = folder, settings
        self._writer: Any = None

    def __call__(self, epoch: Epoch) -> None:
        """Note one epoch; the first one opens the files."""
        if self._writer is None:
            self._writer = self._board.SummaryWriter(str(self._folder))
            lines = (f"    {name} = {value!r}" for name, value in self._settings.items())
            self._writer.add_text("settings", "\n".join(lines))
        for name in SHOWN:
            self._writer.add_scalar(name, getattr(epoch, name), epoch.epoch)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class WeightsAndBiases:
    """A run of the project ``gelato`` on Weights & Biases."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._wandb = optional("wandb", purpose="logging to Weights & Biases", extra="wandb")
        self._folder, self._settings = folder, settings
        self._run: Any = None

    def __call__(self, epoch: Epoch) -> None:
        """Note one epoch; the first one opens the run."""
        if self._run is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            about = {"name": self._folder.parent.name, "dir": str(self._folder), "config": self._settings}
            self._run = self._wandb.init(project=PROGRAM, **about)
        self._run.log({name: getattr(epoch, name) for name in SHOWN}, step=epoch.epoch)

    def close(self) -> None:
        if self._run is not None:
            self._run.finish()


class MLflow:
    """A run of the current MLflow experiment."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._mlflow = optional("mlflow", purpose="logging to MLflow", extra="mlflow")
        self._folder, self._settings, self._open = folder, settings, False

    def __call__(self, epoch: Epoch) -> None:
        """Note one epoch; the first one opens the run."""
        if not self._open:
            self._mlflow.start_run(run_name=self._folder.parent.name)
            self._mlflow.log_params(self._settings)
            self._open = True
        self._mlflow.log_metrics({name: float(getattr(epoch, name)) for name in SHOWN}, step=epoch.epoch)

    def close(self) -> None:
        if self._open:
            self._mlflow.end_run()


CALLBACKS: Registry[Callable[[Path, dict[str, Any]], Callback]] = Registry(
    "log", {"tensorboard": TensorBoard, "wandb": WeightsAndBiases, "mlflow": MLflow}
)
"""From a folder of its own, inside that of a run, and the run's settings to a callback."""
