"""Method: one entry of METHODS, everything that is known of a method before any of it is loaded."""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gelato.costs.memory import MethodMemory, no_memory
from gelato.errors import InputError, MissingDependency
from gelato.lazy import LazyFunction
from gelato.prediction.options import Settings, implied_field

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.prediction.predictor import LinkPredictor
    from gelato.scores import Scores

HEURISTICS = "gelato.methods.heuristic"
"""Where heuristics have their classes."""

HEURISTIC = f"{HEURISTICS}:Heuristic"
"""The predictor of a function from a graph to scores that has no class of its own."""

KINDS = ("heuristic", "spectral", "trained", "automatic")
"""Kinds of methods, in the order of a listing."""

COSTS = ("seconds", "minutes", "hours")
"""What methods cost, in a word."""

COST_SCALE = (
    "cost: to train with the default settings and score all pairs of a graph of a few thousand nodes on two cores;"
    " seconds are less than one minute, minutes less than one hour, hours more"
)
"""What these words mean."""

Blindness = Callable[["Graph", Mapping[str, Any]], str | None]
"""From a graph and the options of a method to why it cannot tell the pairs of the graph apart; ``None`` if it can."""


def no_objection(*_: Any) -> str | None:
    """The rule of methods that fit every graph, and of those that tell its pairs apart."""
    return None


def indistinguishable_remarks(reasons: Sequence[tuple[str, str | None]]) -> list[str]:
    """One remark for each reason, from the names of methods and why they cannot tell pairs apart.

    >>> indistinguishable_remarks([("cn", "sees nothing"), ("ac", None), ("aa", "sees nothing")])
    ['each of cn, aa sees nothing']
    """
    methods: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            methods.setdefault(reason, []).append(name)
    return [f"{'each of ' if len(names) > 1 else ''}{', '.join(names)} {reason}" for reason, names in methods.items()]


@dataclass(frozen=True)
class Method:
    """What a user can name with ``--method``.

    Attributes:
        make: import path of the predictor, ``module:class``; nothing is loaded before it is used.
        known: its settings, or the function whose keyword-only arguments they are.
        title: its name in full.
        about: one sentence.
        cites: where it was published.
        trains: whether ``fit`` learns from links, for longer than a ranking takes.
        extra: what must be installed for it, as in ``pip install 'gelato-links[extra]'``, and the package to look for.
        unfit: why it does not fit a graph, known without building or training it; ``None`` if it does.
        blind: why, with some options, it cannot tell the pairs of a graph apart; ``None`` if it can. If named, it runs
            all the same, with a remark.
        grid: what ``tune`` searches, in this order.
        work: about how many steps it takes to score all pairs, where that is known in advance.
        space: bytes that it needs for so many nodes, attributes, and entries of sparse attributes (``None``: they are
            dense), besides the graph and what walks along links take.
        compared: whether reports compare other methods with it.
        compares: whether ``fit`` runs other methods to take the best of them; ``--method all`` leaves it out.
        quick: settings for training on the spot, unless others are given.
        score: of a heuristic, the function from a graph and options to scores.
        unit: what a training that was stopped keeps one by one.
        takes: its cost, one of ``COSTS``, where that is not the usual one of its kind.
    """

    make: str
    known: type[Settings] | LazyFunction
    title: str
    about: str
    cites: str = ""
    trains: bool = False
    extra: tuple[str, str] | None = None
    unfit: Callable[["Graph"], str | None] = no_objection
    blind: Blindness = no_objection
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    work: Callable[["Graph"], float] | None = None
    space: MethodMemory = no_memory
    compared: bool = False
    compares: bool = False
    quick: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    score: Callable[..., "Scores"] | None = None
    unit: str = "epoch"
    takes: str | None = None

    @property
    def kind(self) -> str:
        """One of ``KINDS``; untrained and without ``score``, it is ``spectral``, whatever it computes."""
        if self.compares or self.trains:
            return "automatic" if self.compares else "trained"
        return "spectral" if self.score is None else "heuristic"

    @property
    def cost(self) -> str:
        """What it costs: one of ``COSTS``, on the scale of ``COST_SCALE``."""
        return self.takes or COSTS[self.trains or self.compares]

    @cached_property
    def settings(self) -> type[Settings]:
        """Frozen and checked; its fields are keywords, ``--option NAME=VALUE`` and keys of ``[model]``."""
        return settings_of(self.known.function) if isinstance(self.known, LazyFunction) else self.known

    def predictor(self) -> "type[LinkPredictor]":
        """The class of the predictor; its extra must be installed."""
        if (missing := self.missing()) is not None:
            raise missing
        module, _, name = self.make.partition(":")
        kind: type[LinkPredictor] = getattr(import_module(module), name)
        return kind

    def missing(self) -> MissingDependency | None:
        """The error that says what to install for it; ``None`` if all of it is."""
        if self.extra is None or find_spec(self.extra[1]) is not None:
            return None
        return MissingDependency(self.title, self.extra[1], self.extra[0])

    def options(self) -> list[str]:
        """The names of its settings, without those that only say how to run."""
        names = self.known.options if isinstance(self.known, LazyFunction) else self.known.names()
        return [name for name in names if name not in Settings.runtime]

    def check(self, name: str, options: Mapping[str, Any]) -> Settings:
        """Its settings; an option that it does not know, or of another kind, is refused."""
        for option in options:
            if option not in self.settings.names():
                takes = f"it takes {', '.join(self.options()) or 'none'}"
                raise InputError(f"method {name!r} has no option {option!r}; {takes}")
        try:
            return self.settings(**options)
        except InputError as error:
            raise InputError(f"method {name!r}: {error}") from None


def heuristic(score: "Callable[..., Scores] | str", title: str, *, name: str | None = None, **more: Any) -> Method:
    """A function ``graph, *, options -> Scores`` as a method; its keyword-only arguments are its settings.

    Args:
        score: the function, or its import path ``module:function``, which is loaded when it is first used.
        title: the method's name in full.
        name: of a class of its own, a public name of the package; one that you register needs none.
        more: other fields of ``Method``.
    """
    function = LazyFunction(score) if isinstance(score, str) else score
    known: type[Settings] | LazyFunction = function if isinstance(function, LazyFunction) else settings_of(function)
    doc = function.doc if isinstance(function, LazyFunction) else inspect.getdoc(function)
    about = (doc or "").partition("\n")[0].replace("``", "")
    predictor = HEURISTIC if name is None else f"{HEURISTICS}:{name}"
    return Method(predictor, known, title, about, score=function, **more)


def settings_of(score: "Callable[..., Scores]") -> type[Settings]:
    """The keyword-only arguments of a function as settings, with rules by their types and defaults."""
    hints = typing.get_type_hints(score)
    fields: list[tuple[str, Any, Any]] = [
        (name, hints.get(name, Any), implied_field(name, hints.get(name), parameter.default))
        for name, parameter in inspect.signature(score).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    name = "".join(word.capitalize() for word in score.__name__.split("_")) + "Settings"
    made = make_dataclass(name, fields, bases=(Settings,), frozen=True, kw_only=True)
    made.__doc__ = f"Options of ``{score.__name__}``."
    return made
