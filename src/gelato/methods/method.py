"""Method: one entry of METHODS, everything that is known of a method before any of it is loaded."""

import inspect
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal

from gelato.errors import InputError, MissingDependency
from gelato.graph import Graph
from gelato.prediction.settings import Settings, checked, one_of
from gelato.runs.predictor import StoredPredictor
from gelato.scores import Scores

HEURISTIC = "gelato.methods.heuristic:Heuristic"
"""The predictor of every function from a graph to scores."""


def fits(graph: Graph) -> str | None:
    """The rule of methods that fit every graph."""
    return None


Blindness = Callable[[Graph, Mapping[str, Any]], str | None]
"""From a graph and the options of a method to why it cannot tell the pairs of the graph apart; ``None`` if it can."""


def sighted(graph: Graph, options: Mapping[str, Any]) -> str | None:
    """The rule of methods that tell pairs apart on every graph."""
    return None


def blind_remarks(reasons: Sequence[tuple[str, str | None]]) -> list[str]:
    """One remark for each reason, from the names of methods and why they cannot tell pairs apart.

    >>> blind_remarks([("cn", "sees nothing"), ("ac", None), ("aa", "sees nothing")])
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
        settings: frozen and checked; its fields are keywords, ``--option NAME=VALUE`` and keys of ``[model]``.
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
        space: bytes that it needs in memory for so many nodes and attributes, sparse or not, besides large arrays and
            what walks along links take.
        compared: whether reports compare other methods with it.
        compares: whether ``fit`` runs other methods to take the best of them; ``--method all`` leaves it out.
        quick: settings for training on the spot, unless others are given.
        score: of a heuristic, the function from a graph and options to scores.
    """

    make: str
    settings: type[Settings]
    title: str
    about: str
    cites: str = ""
    trains: bool = False
    extra: tuple[str, str] | None = None
    unfit: Callable[[Graph], str | None] = fits
    blind: Blindness = sighted
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    work: Callable[[Graph], float] | None = None
    space: Callable[[int, int, bool], int] = lambda nodes, attributes, sparse: 0
    compared: bool = False
    compares: bool = False
    quick: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    score: Callable[..., Scores] | None = None

    def predictor(self) -> type[StoredPredictor]:
        """The class of the predictor; its extra must be installed."""
        missing = self.missing()
        if missing is not None:
            raise missing
        module, _, name = self.make.partition(":")
        kind: type[StoredPredictor] = getattr(import_module(module), name)
        return kind

    def missing(self) -> MissingDependency | None:
        """The error that says what to install for it; ``None`` if all of it is."""
        if self.extra is None or find_spec(self.extra[1]) is not None:
            return None
        return MissingDependency(self.title, self.extra[1], self.extra[0])

    def options(self) -> list[str]:
        """The names of its settings, without those that only say how to run."""
        return [name for name in self.settings.names() if name not in self.settings.runtime]

    def check(self, name: str, options: Mapping[str, Any]) -> Settings:
        """Its settings; an option that it does not know, or of another kind, is refused."""
        known = self.options()
        for option in options:
            if option not in self.settings.names():
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise InputError(f"method {name!r} has no option {option!r}; {takes}")
        try:
            return self.settings(**options)
        except InputError as error:
            raise InputError(f"method {name!r}: {error}") from None


def heuristic(score: Callable[..., Scores], title: str, **more: Any) -> Method:
    """A function ``graph, *, options -> Scores`` as a method; its keyword-only arguments are its settings."""
    about = (inspect.getdoc(score) or "").partition("\n")[0].replace("``", "")
    return Method(HEURISTIC, settings_of(score), title, about, score=score, **more)


def settings_of(score: Callable[..., Scores]) -> type[Settings]:
    """The keyword-only arguments of a function as settings, with rules by their types and defaults."""
    hints = typing.get_type_hints(score)
    fields: list[tuple[str, Any, Any]] = [
        (name, hints.get(name, Any), _rule(name, hints.get(name), parameter.default))
        for name, parameter in inspect.signature(score).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    name = "".join(word.capitalize() for word in score.__name__.split("_")) + "Settings"
    made = make_dataclass(name, fields, bases=(Settings,), frozen=True, kw_only=True)
    made.__doc__ = f"Options of ``{score.__name__}``."
    return made


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number that 32 bits hold."""
    return isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) < 2**31


def _rule(name: str, hint: Any, default: Any) -> Any:
    """A field with the rule that a type and a default imply."""
    if typing.get_origin(hint) is Literal:
        return one_of(default, typing.get_args(hint))
    if name == "dtype":
        return checked("float64", lambda value: str(value) in ("float64", "float32"), "be float64 or float32")
    if isinstance(default, bool):
        return checked(default, lambda value: isinstance(value, bool), "be true or false")
    if isinstance(default, str):
        return checked(default, lambda value: isinstance(value, str), "be text")
    if isinstance(default, int):
        return checked(default, is_whole, "be a whole number")

    def is_number(value: Any) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)

    if default is None:
        return checked(None, lambda value: value is None or is_number(value), "be a number, or None")
    return checked(default, is_number, "be a number")
