"""Methods and their options as users name them, checked before anything is built or trained; a default choice."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gelato.errors import InputError
from gelato.formatting import enumeration
from gelato.methods import METHODS, REFERENCE
from gelato.methods.method import KINDS, indistinguishable_remarks

if TYPE_CHECKING:
    from gelato.graph import Graph

EVERY = "all"
"""Stands for every method that trains nothing, runs no others and fits the graph."""

MOST_WORK = 5e9
"""Steps that a method may take on all pairs: some seconds."""


def methods_of(names: str, options: Mapping[str, Any], graph: "Graph") -> list[tuple[str, dict[str, Any]]]:
    """The methods of a list such as ``cn,ac``, each with the options it takes.

    An option ``NAME`` goes to every method that takes it, ``METHOD.NAME`` to that method alone. What fits no method,
    and a method that does not fit the graph (cosine without attributes, SimRank of a large graph), is refused before
    any of them has run.
    """
    every = [name for name, each in METHODS.items() if not (each.trains or each.compares)]
    wanted = every if names == EVERY else parse_method_list(names)
    for option in options:
        _check_taken(option, wanted, names)
    fitting = []
    for name in wanted:
        own = {option: value for option, value in options.items() if option in METHODS[name].settings.names()}
        own |= {key.removeprefix(f"{name}."): value for key, value in options.items() if key.startswith(f"{name}.")}
        METHODS[name].check(name, own)
        problem = METHODS[name].unfit(graph)
        if problem is None:
            fitting.append((name, own))
        elif names != EVERY:
            raise InputError(problem)
    return fitting


def compared_methods(graph: "Graph") -> tuple[str, ...]:
    """Methods worth comparing with on this graph: none that is unfit for it or blind on it, none that takes minutes."""
    fitting = [name for name, method in METHODS.items() if method.compared and method.unfit(graph) is None]
    fitting = [name for name in fitting if METHODS[name].blind(graph, {}) is None]
    quick = [name for name in fitting if (work := METHODS[name].work) is None or work(graph) <= MOST_WORK]
    return tuple(sorted(quick, key=lambda name: name != REFERENCE))


def remarks_of(methods: Sequence[tuple[str, Mapping[str, Any]]], graph: "Graph") -> list[str]:
    """What is worth knowing of methods on a graph, those that cannot tell its pairs apart above all."""
    return indistinguishable_remarks([(name, METHODS[name].blind(graph, options)) for name, options in methods])


def parse_method_list(names: str) -> list[str]:
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
    return own


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
    """Name, kind, cost, options, title, description and source of every method, kind by kind."""
    rows = []
    for name, each in sorted(METHODS.items(), key=lambda item: KINDS.index(item[1].kind)):
        told = {"title": each.title, "options": each.options(), "about": each.about, "cites": each.cites}
        rows.append({"name": name, "kind": each.kind, "cost": each.cost, **told, "trained": each.trains})
    return rows
