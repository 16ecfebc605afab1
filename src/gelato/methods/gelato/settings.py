"""Settings of a model: every hyperparameter, checked once, from Python or from a TOML file."""

import math
import tomllib
from collections.abc import Container
from dataclasses import dataclass, fields
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from gelato.errors import InputError

CHOICES = {
    "self_loops": ("isolated", "all"),
    "encoder": ("mlp", "gin", "gcn"),
    "heuristic": ("autocovariance", "none"),
    "regime": ("unbiased", "partitioned", "biased"),
}


@dataclass(eq=False)
class Settings:
    """Hyperparameters of Gelato, with the paper's symbols in brackets.

    ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on validation links where they are ``None``.
    """

    eta: float | None = None  # added pairs, as a share of the links [eta]
    alpha: float | None = None  # weight of the observed links [alpha]
    beta: float | None = None  # weight of the learned over the attribute similarity [beta]
    steps: int = 3  # length of the walk [t]
    self_loops: str | None = None  # 'isolated' or 'all' nodes get one
    similarity: str = "cosine"  # of attributes
    encoder: str = "mlp"  # what learns weights: 'mlp', or a GNN: 'gin', 'gcn'
    hidden: int = 128  # width of its layers
    dropout: float = 0.5
    learn_mixing: bool = False  # learn alpha and beta too, from the given values on
    heuristic: str = "autocovariance"  # or 'none': learned weights rank the pairs themselves
    loss: str = "n-pair"  # a name in LOSSES
    regime: str = "unbiased"  # which non-links are ranked in training
    parts: int = 10  # number of METIS parts, for 'partitioned'
    ratio: int = 1  # non-links drawn for each link, for 'biased'
    epochs: int = 100
    batches: int = 10  # in an epoch
    learning_rate: float = 1e-3
    patience: int | None = None  # epochs without a better validation before training stops; None: never
    random_state: int = 0
    device: str = "auto"  # 'auto', 'cpu', 'cuda' or 'cuda:1'
    precision: str = "auto"  # of the walks in training: 'float64' or 'float32'; auto: 64 on a CPU, 32 on a GPU
    threads: int | None = None  # None: all cores

    def check(self) -> None:
        """Refuse what no model can be made of."""
        from gelato.methods.gelato.enhance.similarity import SIMILARITIES

        rules: list[tuple[str, bool, str]] = [
            *((name, _share(getattr(self, name)), "lie between 0 and 1, or be None") for name in ("alpha", "beta")),
            ("eta", self.eta is None or (_number(self.eta) and self.eta >= 0), "be a number of at least 0, or None"),
            ("dropout", _number(self.dropout) and 0 <= self.dropout < 1, "be at least 0 and less than 1"),
            ("learning_rate", _number(self.learning_rate) and self.learning_rate > 0, "be a positive number"),
            ("epochs", _whole(self.epochs, 0), "be a whole number of at least 0"),
            ("random_state", _whole(self.random_state, 0, 2**63), "be a whole number from 0 to 2^63 - 1"),
            *(
                (name, _whole(getattr(self, name), 1), "be a whole number of at least 1")
                for name in ("steps", "hidden", "parts", "ratio", "batches")
            ),
            *(
                (name, getattr(self, name) is None or _whole(getattr(self, name), 1), "be at least 1, or None")
                for name in ("patience", "threads")
            ),
            ("precision", _one_of(self.precision, ("auto", "float32", "float64")), "be auto, float32 or float64"),
            ("similarity", _one_of(self.similarity, SIMILARITIES), f"be one of {', '.join(SIMILARITIES)}"),
            ("loss", _one_of(self.loss, LOSS_NAMES), f"be one of {', '.join(LOSS_NAMES)}"),
            ("learn_mixing", isinstance(self.learn_mixing, bool), "be true or false"),
            ("device", isinstance(self.device, str), "be the name of a device"),
        ]
        for name, known in CHOICES.items():
            value, optional = getattr(self, name), name == "self_loops"
            rule = f"be one of {', '.join(known)}" + (", or None" if optional else "")
            rules.append((name, _one_of(value, known) or (optional and value is None), rule))
        for name, holds, rule in rules:
            if not holds:
                raise InputError(f"{name} must {rule}, got {getattr(self, name)!r}")

    def as_dict(self) -> dict[str, Any]:
        """All settings by name."""
        values = {field.name: getattr(self, field.name) for field in fields(Settings)}
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


LOSS_NAMES = (
    "n-pair",
    "cross-entropy",
    "precision",
    "pairwise-hinge",
    "pairwise-exponential",
    "pairwise-logistic",
)
"""Names in LOSSES, known without loading torch; a test keeps them equal."""


def read_settings(source: str | Path) -> dict[str, Any]:
    """The ``[model]`` table of a TOML file, or of one that ships with the package, such as ``paper/cora``.

    Returns only what the file says. Unknown keys are refused with the known ones.
    """
    path = Path(source)
    ships, place = shipped(str(source)), str(path)
    try:
        if ships is not None and not path.is_file():
            text, place = ships, f"{source}.toml"
        else:
            text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        names = ", ".join(shipped_names())
        raise InputError(f"{path}: cannot be read: {error}; settings that ship: {names}") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{place}: not a TOML file: {error}") from None
    model = table.get("model")
    if not isinstance(model, dict):
        raise InputError(f"{place}: has no [model] table; put the settings under [model]")
    known = [field.name for field in fields(Settings)]
    for key in model:
        if key not in known:
            raise InputError(f"{place} [model]: unknown key {key!r}; known: {', '.join(known)}")
    return dict(model)


def shipped_names() -> list[str]:
    """Names of the settings that ship with the package, such as ``paper/cora``."""
    root = resources.files("gelato.experiments")
    folders = [folder for folder in root.iterdir() if folder.is_dir() and not folder.name.startswith("_")]
    return sorted(
        f"{folder.name}/{file.name.removesuffix('.toml')}"
        for folder in folders
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    )


def shipped(name: str) -> str | None:
    """The text of settings that ship with the package, or ``None``."""
    if name not in shipped_names():
        return None
    return resources.files("gelato.experiments").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def _one_of(value: Any, known: Container[str]) -> bool:
    return isinstance(value, str) and value in known


def _number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def _share(value: Any) -> bool:
    return value is None or (_number(value) and 0 <= value <= 1)


def _whole(value: Any, least: int, bound: int = 2**63) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < bound
