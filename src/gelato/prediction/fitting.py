"""How every predictor is fitted: links hidden for validation, and a run folder that a stopped run is resumed from."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph
from gelato.prediction.storage import identity_of, write_learned
from gelato.ranking.rank import Progress
from gelato.runs.files import TIMINGS, write_json
from gelato.runs.folder import open_run_folder
from gelato.runs.training_links import TrainingLinks
from gelato.splits import Split, split

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

HIDDEN_SHARE = 0.05
"""Share of the links hidden for validation when a whole graph is given."""

FEWEST_LINKS = 3
"""A graph with fewer has none to hide."""

Report = Callable[[Any], None]
"""A callback: called with every ``Epoch`` of a training."""


def fit_predictor(
    predictor: "LinkPredictor",
    data: Graph | Split,
    run: str | os.PathLike[str] | None,
    callbacks: Iterable[Report],
    progress: Progress | None,
) -> None:
    """What ``LinkPredictor.fit`` does: learn, in a run folder if one is given, or read the model of a finished run."""
    begin = time.perf_counter()
    if not isinstance(data, Graph | Split):
        raise wrong_kind("fit", "Graph or a Split", data)
    links = data if isinstance(data, Split) else with_validation_links(predictor, data)
    predictor.check_graph(links.train)
    if predictor.selects and len(links.valid) == 0 and not predictor.fits_without_validation:
        raise InputError("the split hides no validation links to select the model on; hide a share of the links")

    def each(epoch: Any) -> None:
        for call in callbacks:
            call(epoch)

    with nullcontext() if run is None else open_run_folder(run, _identity(predictor, links)) as folder:
        if folder is not None:
            folder.describe(links)
        if folder is not None and folder.finished:
            ready = predictor.load(folder.path, data if isinstance(data, Graph) else links.train)
            settings = predictor.settings
            vars(predictor).clear()  # of an earlier fit nothing may stay
            vars(predictor).update({**vars(ready), "settings": settings})
            return
        names = links.graph.attribute_names
        predictor.valid_, predictor.remarks_ = links.valid, []
        predictor.columns_ = None if names is None else names.tolist()
        predictor.learn(links, folder, each, progress or (lambda done, total: None))
        known = data.edges if isinstance(data, Graph) else np.concatenate([links.train.edges, links.valid])
        predictor._seen = TrainingLinks(links.graph, known, links.valid)
        if isinstance(data, Graph) and predictor.selects:
            predictor.adapt(data)
        if folder is not None:
            write_json(folder.path / TIMINGS, {**predictor.timings(), "all": time.perf_counter() - begin})
            write_learned(predictor, folder.path)  # last: a run with a model is finished
            folder.drop_parts()


def with_validation_links(predictor: "LinkPredictor", graph: Graph) -> Split:
    """A graph with some links hidden for validation where the predictor needs them, and none for testing."""
    none = np.empty((0, 2), np.int64)
    few = graph.m < FEWEST_LINKS
    if not predictor.selects or (few and predictor.fits_without_validation):
        return Split(graph, graph, none, none, "nothing hidden")
    if few:
        raise InputError(f"a graph of {graph.m} links is too small to train on; use a heuristic, such as ac")
    seed = int(getattr(predictor.settings, "random_state", 0))
    hiding = split(graph, seed % 2**32, (0.0, max(HIDDEN_SHARE, 1.001 / graph.m)))
    return Split(graph, hiding.train, hiding.test, none, f"validation {seed}")


def _identity(predictor: "LinkPredictor", links: Split) -> dict[str, Any]:
    """What a run on a split is known by."""
    return {**identity_of(predictor, links.train), "valid": hashlib.sha256(links.valid.tobytes()).hexdigest()}
