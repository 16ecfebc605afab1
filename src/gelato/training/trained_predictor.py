"""Predictors with a network that is trained: the loop, checkpoints and the kept epoch, written once."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from gelato.costs.estimates import FitCost
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.untrusted import DamagedData
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import check_facts
from gelato.ranking.rank import Progress
from gelato.runs.files import Tensors, parsing, refuse_damaged
from gelato.runs.folder import RunFolder, choose_once
from gelato.runs.records import read_fact, read_record
from gelato.runs.search_log import SearchLog
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.loop import Epoch, Loop, tensors_below, torch_threads
from gelato.training.settings import TrainingSettings, needs_values
from gelato.training.task import Task

SMALLEST, LARGEST = 1e-18, 1e18
"""Magnitudes whose squares single precision can hold."""

FACTS: dict[str, type] = {"best_epoch_": int, "precision_": float, "skipped_": int}
"""What is kept besides the parameters and the epochs."""

TYPICAL = 4
"""The epoch that is kept, often, when training stops early; it continues for the patience then."""


class TrainedPredictor(LinkPredictor):
    """A network, a task to train it by, and scores of all pairs from it.

    A method writes ``network``, ``task`` and ``scores_of``; where settings may be left open also ``choose``.

    Attributes:
        history_: every ``Epoch`` of the training.
        best_epoch_, precision_: the epoch that was kept, and what it was kept by, usually validation precision@100%.
        skipped_: steps left out since their gradient was not finite.
        state_: the parameters and statistics that were kept, by name.
    """

    Settings: ClassVar[type[TrainingSettings]] = TrainingSettings
    one_thread: ClassVar[bool] = False
    """Whether torch gets one thread on a CPU, as kernels of our own take the cores."""

    settings: TrainingSettings
    precision_: float
    skipped_: int = 0
    state_: dict[str, Tensor]

    @property
    def selected_by(self) -> str:
        """The name of the figure that ``precision_`` is, on validation links."""
        return "precision@100%"

    @abstractmethod
    def network(self, graph: Graph, settings: Any, device: torch.device) -> nn.Module:
        """A fresh network for ``graph``, its parameters drawn by ``settings.random_state``."""

    @abstractmethod
    def task(self, network: Any, split: Split, settings: Any) -> Task:
        """What trains ``network`` on a split."""

    @abstractmethod
    def scores_of(self, network: Any, graph: Graph) -> Scores:
        """Scores of all pairs of ``graph``."""

    def choose(self, split: Split, device: torch.device, trials: SearchLog) -> dict[str, Any]:
        """Values for the settings that are left open, chosen on validation links; ``trials`` keeps what is tried."""
        return {}

    @property
    def trained(self) -> bool:
        """Whether anything was learned that hiding further links would change."""
        return True

    @property
    def used(self) -> Any:
        """The settings with those that were chosen."""
        return self.settings.replaced(**self.chosen_)

    def check_graph(self, graph: Graph) -> None:
        """Refuse attributes that a network cannot learn from."""
        super().check_graph(graph)
        self.check_attributes(graph)

    def check_attributes(self, graph: Graph) -> None:
        """Refuse attributes without any value, and those that are too large or too small for single precision."""
        if (problem := needs_values(graph)) is not None:
            raise InputError(problem)
        if graph.attributes is None or graph.f == 0:
            return
        magnitude: Any = abs(graph.attributes)
        largest = float(magnitude.max())
        if not SMALLEST < largest < LARGEST:
            raise InputError(
                f"the largest attribute is {largest:.3g}, which the single precision of a network cannot square; scale"
                " the attributes to about 1 (tables are scaled by default: --scale standard, scale=)"
            )

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Choose open settings, train, and keep the best epoch."""
        begin = time.perf_counter()
        device = device_of(self.settings.device)
        self.chosen_ = choose_once(folder, partial(self.choose, split, device), progress)
        with nullcontext() if folder is None else refuse_damaged(folder.path):
            check_facts(self)  # refused if the kept choice was edited
        used = self.used
        network = self.network(split.train, used, device)
        task = self.task(network, split, used)
        loop = Loop(task, used, device)
        if folder is not None:
            if (kept := folder.checkpoint()) is not None:
                with refuse_damaged(folder.path):
                    loop.restore(*kept)
            folder.write_metrics([epoch.line() for epoch in loop.state.history])
        prepared = time.perf_counter()

        def after(loop: Loop, epoch: Epoch) -> None:
            if folder is not None:
                folder.keep(loop.tensors(), loop.facts(), epoch.line())
            report(epoch)

        with torch_threads(1 if self.one_thread and device.type == "cpu" else None):
            if self.trainable(network):
                loop.run(after)
        state = loop.state
        if state.best:
            network.load_state_dict(state.best)
        self.history_, self.best_epoch_, self.skipped_ = state.history, state.best_epoch, state.skipped
        self.precision_ = state.precision if state.history else task.validate()
        self.adopt(network, split.train)
        self.selected(task, split)
        self._timings = {"prepare": prepared - begin, "train": time.perf_counter() - prepared}

    def trainable(self, network: Any) -> bool:
        """Whether there is anything to learn."""
        return True

    def selected(self, task: Any, split: Split) -> None:
        """Look at the model once more after its training, such as to fall back to a simpler one."""

    def cost(self, split: Split) -> FitCost:
        """Time one epoch with typical settings."""
        probe = type(self)(**{**self.settings.as_dict(), **self.typical(), "epochs": min(1, self.settings.epochs)})
        begin = time.perf_counter()
        probe.fit(split)
        epoch = sum(each.seconds for each in probe.history_)
        prepare = max(0.0, time.perf_counter() - begin - epoch)
        last, patience = self.settings.epochs, self.settings.patience
        epochs = last if patience is None else min(last, patience + TYPICAL)
        kept = last if patience is None else min(last, TYPICAL)
        again = (prepare + kept * epoch, (last - kept) * epoch)
        return FitCost({"train": prepare + epochs * epoch}, probe, (last - epochs) * epoch, again)

    def typical(self) -> dict[str, Any]:
        """Values of open settings for the epoch that is timed."""
        return {}

    def adopt(self, network: Any, graph: Graph) -> None:
        """Take over a network with what it has learned, for ``graph``."""
        network.eval()
        self._network, self._graph = network, graph
        self.state_ = {name: value.detach().cpu() for name, value in network.state_dict().items()}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; a fitted network moves to another ``device``, refused if it is not available."""
        device = device_of(params["device"]) if "device" in params and self.fitted else None
        super().set_params(**params)
        if device is not None and self.fitted:
            self.move(device)
        return self

    def move(self, device: torch.device) -> None:
        """Compute scores on a device: the network is made anew there, as parts of it depend on the graph."""
        now = next(self._network.parameters()).device
        if (now.type, now.index or 0) == (device.type, device.index or 0):
            return
        network = self.network(self._graph, self.used, device)
        load_state(network, self.state_)
        self._network = network.eval()

    def adapt(self, graph: Graph) -> None:
        network = self.network(graph, self.used, device_of(self.settings.device))
        load_state(network, self.state_)
        self.adopt(network, graph)

    def compute_scores(self) -> Scores:
        return self.scores_of(self._network, self._graph)

    def twin_settings(self) -> dict[str, Any]:
        """The same settings, for as many epochs as were kept."""
        return {**super().twin_settings(), "epochs": max(1, self.best_epoch_), "patience": None}

    def learned(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in FACTS},
            "history_": [asdict(epoch) for epoch in self.history_],
        }

    def tensors(self) -> Tensors:
        return {f"net.{name}": value.numpy() for name, value in self.state_.items()}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Bring a trained network back to life, on the CPU: its device may not be available here."""
        with parsing():
            self.restore_facts(learned, tensors)
        check_shapes(lambda: self.network(graph, self.used, torch.device("meta")), self.state_)
        network = self.network(graph, self.used, torch.device("cpu"))
        load_state(network, self.state_)
        self.adopt(network, graph)

    def restore_facts(self, learned: Mapping[str, Any], tensors: Tensors) -> None:
        """The parameters, and how they came about."""
        self.best_epoch_, self.precision_, self.skipped_ = (
            read_fact(learned, name, kind, finite=False) for name, kind in FACTS.items()
        )
        self.history_ = [read_record(Epoch, epoch, finite=False) for epoch in read_fact(learned, "history_", list[Any])]
        self.state_ = tensors_below("net.", tensors)


def check_shapes(make: Callable[[], nn.Module], state: Mapping[str, Tensor]) -> None:
    """Refuse stored parameters that are not those of a network, before any memory is taken for it."""
    with torch.device("meta"):
        network = make()
    wanted, stored = (
        {name: tuple(value.shape) or (1,) for name, value in each.items()} for each in (network.state_dict(), state)
    )
    for name in sorted({*wanted, *stored}):
        if wanted.get(name) != stored.get(name):
            difference = f"should have shape {wanted.get(name)}, not {stored.get(name)}"
            if name not in stored:
                difference = "is missing"
            elif name not in wanted:
                difference = "does not belong to it"
            raise DamagedData(f"the stored parameters do not fit the network of this model: {name:.100} {difference}")


def load_state(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Give a network the parameters that were stored; refused if they are not those of such a network."""
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise DamagedData(f"the stored parameters do not fit the network of this model: {reason}") from error


def device_of(name: str) -> torch.device:
    """A device by name; ``auto`` is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise InputError(f"device {name!r} is not supported; give cpu, cuda or auto")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device {name!r} is not available ({reason}); give cpu, cuda or auto") from None
    return device
