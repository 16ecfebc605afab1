"""Methods and their options as users name them, checked before anything is built or trained."""

from collections.abc import Mapping, Sequence
from typing import Any

from gelato.errors import InputError
from gelato.figures import enumeration
from gelato.graph import Graph
from gelato.methods import METHODS
from gelato.methods.method import blind_remarks

EVERY = "all"
"""Stands for every method that trains nothing, runs no others and fits the graph."""


def methods_of(names: str, options: Mapping[str, Any], graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    """The methods of a list such as ``cn,ac``, each with the options it takes.

    An option ``NAME`` goes to every method that takes it, ``METHOD.NAME`` to that method alone. What fits no method,
    and a method that does not fit the graph (cosine without attributes, SimRank of a large graph), is refused before
    any of them has run.
    """
    every = names == EVERY
    wanted = [name for name, each in METHODS.items() if not (each.trains or each.compares)] if every else listed(names)
    chosen = [(name, _options(name, options, wanted)) for name in wanted]
    for option in options:
        _check_taken(option, wanted, names)
    fitting = []
    for name, its_options in chosen:
        METHODS[name].check(name, its_options)
        problem = METHODS[name].unfit(graph)
        if problem is None:
            fitting.append((name, its_options))
        elif not every:
            raise InputError(problem)
    return fitting


def remarks_of(methods: Sequence[tuple[str, Mapping[str, Any]]], graph: Graph) -> list[str]:
    """What is worth knowing of methods on a graph, those that cannot tell its pairs apart above all."""
    return blind_remarks([(name, METHODS[name].blind(graph, options)) for name, options in methods])


def listed(names: str) -> list[str]:
    """The names of a list such as ``cn,ac``, each once and each known."""
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in wanted:
        METHODS[name]
    return wanted


def options_of(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """All options as those of one method, given as ``NAME`` or ``METHOD.NAME``."""
    own = {name.removeprefix(f"{method}."): value for name, value in options.items()}
    for option in own:
        takers = _takers(option)
        if takers and option not in METHODS[method].settings.names():
            whose = f"which is an option of {enumeration(takers)}"
            raise InputError(f"method {method!r} has no option {option!r}, {whose}; choose one with --method")
    METHODS[method].check(method, own)
    return own


def _options(name: str, options: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    known = METHODS[name].settings.names()
    own = {option: value for option, value in options.items() if option in known}
    prefixed = {key.removeprefix(f"{name}."): value for key, value in options.items() if key.startswith(f"{name}.")}
    return own | prefixed


def _check_taken(option: str, wanted: list[str], names: str) -> None:
    """Refuse an option that none of the methods takes."""
    method, dot, _ = option.partition(".")
    if dot:
        if method not in wanted:
            raise InputError(f"option {option} is for {method}, which is not among {names}")
    elif not any(option in METHODS[name].settings.names() for name in wanted):
        takers = _takers(option)
        whose = f"is an option of {', '.join(takers)}" if takers else "is not an option of any method"
        raise InputError(f"{option} {whose}, not of {names}")


def _takers(option: str) -> list[str]:
    """The methods that have an option."""
    return [name for name, each in METHODS.items() if option in each.options()]


def described_methods() -> list[dict[str, Any]]:
    """Name, options, title, description and source of every method."""
    return [
        {
            "name": name,
            "title": each.title,
            "options": each.options(),
            "about": each.about,
            "cites": each.cites,
            "trained": each.trains,
        }
        for name, each in METHODS.items()
    ]
