"""Stated against observed precision.

    GELATO_DATA=DIR python benchmarks/calibration.py [--method NAME] [--splits 3] [GRAPH ...]

A tenth of the links of each graph is taken away and never shown to the tool, which then suggests links and states what
to expect of them; the links taken away say what was right. Links are taken away at random, or the latest ones, and the
list is narrowed in the ways the command allows. Prints every case, how many intervals held, and a reliability table of
the chances of single suggestions.
"""

import argparse
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gelato import Graph, load, make, read_graph, split, top
from gelato.graph import Pairs, pair_keys
from gelato.methods import METHODS
from gelato.prediction.precision import ExpectedPrecision, expected_precision
from gelato.prediction.predictor import LinkPredictor

CUTS = (10, 100, 1000)
GRAPHS = ("cora", "citeseer", "pubmed", "photo", "coauthor_cs", "debian-sample")
BINS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
Choice = Callable[[LinkPredictor, Graph], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """What was stated of one list, and which of its suggestions were right."""

    name: str
    stated: ExpectedPrecision
    right: Any


def choices(seed: int = 5) -> dict[str, Choice]:
    """Ways to narrow a list."""
    random = np.random.default_rng(seed)

    def between(model: LinkPredictor, graph: Graph) -> dict[str, Any]:
        nodes = random.permutation(graph.n)
        return {"between": (nodes[: graph.n // 2], nodes[graph.n // 2 :])}

    return {
        "all": lambda model, graph: {},
        "--exclude 100": lambda model, graph: {"exclude": top(model.scores(), graph, 100).pairs},
        "--exclude 1000": lambda model, graph: {"exclude": top(model.scores(), graph, 1000).pairs},
        "--for": lambda model, graph: {"nodes": random.choice(graph.n, graph.n // 10, replace=False)},
        "--between": between,
    }


def tested(name: str, model: LinkPredictor, known: Graph, hidden: Pairs, choice: Choice) -> Case:
    """State what to expect of a graph that lacks some links, and look at those."""
    chosen = choice(model, known)
    links = top(model.scores(), known, max(CUTS), **chosen)
    pairs = links.pairs if known.directed else np.sort(links.pairs, axis=1)
    right = np.isin(pair_keys(pairs, known.n), pair_keys(hidden, known.n))
    return Case(name, expected_precision(model, max(CUTS), chosen=chosen), right)


def fitted(method: str, known: Graph) -> LinkPredictor:
    """A method with quick settings, as ``auto`` compares it."""
    return make(method, **METHODS[method].quick).fit(known)


def at_random(name: str, method: str, seed: int) -> Iterator[Case]:
    """A tenth of the links is taken away at random; lists are narrowed where nothing is learned."""
    hidden = split(load(name), seed).test
    known = load(name).without(hidden)
    model = fitted(method, known)
    for way, choice in choices().items():
        if way == "all" or METHODS[method].score is not None:
            yield tested(f"{name} {seed}, {way}", model, known, hidden, choice)


def in_time(name: str, graph: Graph) -> Iterator[Case]:
    """The next links, as many as a tenth of those before them, after 90%, 80% and 70% of all."""
    assert graph.times is not None
    order = np.argsort(graph.times, kind="stable")
    for share in (0.9, 0.8, 0.7):
        count = int(share * graph.m)
        known = graph.without(graph.edges[order[count:]])
        hidden = graph.edges[order[count : count + count // 9]]
        for way in ("all", "--exclude 100") if share == 0.9 else ("all",):
            yield tested(f"{name}, first {share:.0%}, {way}", fitted("ac", known), known, hidden, choices()[way])


def histories(folder: Path) -> Iterator[tuple[str, Graph]]:
    """Graphs whose links have times."""
    trust = folder / "soc-sign-bitcoinotc.csv"
    for directed in (True, False):
        yield f"trust{'' if directed else ', undirected'}", read_graph(trust, directed=directed, weight=False)
    people = ["director_name", "actor_1_name", "actor_2_name", "actor_3_name"]
    yield (
        "films",
        read_graph(folder / "movie_metadata.csv", source="id", target=people, time="title_year", missing="drop"),
    )
    yield "co-stars", read_graph(folder / "movie_metadata.csv", among=people, time="title_year", missing="drop")


def main() -> None:
    """Print all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="GRAPH")
    parser.add_argument("--method", default="ac")
    parser.add_argument("--splits", type=int, default=1, help="how many times a tenth is taken away")
    args = parser.parse_args()
    names: list[str] = args.names
    seeds = range(args.splits)
    cases = [case for name in names or GRAPHS for seed in seeds for case in at_random(name, args.method, seed)]
    raw = Path(os.environ.get("GELATO_DATA", ".")) / "raw"
    if not names and raw.is_dir():
        cases += [case for name, graph in histories(raw) for case in in_time(name, graph)]
    held, total = 0, 0
    random: list[tuple[float, float]] = []
    rows: list[tuple[float, float]] = []
    for case in cases:
        for k in CUTS:
            stated, observed = case.stated.at(k), float(case.right[:k].mean())
            if stated is None or len(case.right) < k:
                print(f"{case.name:40} first {k:5}: nothing stated, observed {observed:.3f}")
                continue
            inside = stated.low - 1e-9 <= observed <= stated.high + 1e-9
            held, total = held + inside, total + 1
            interval = f"{stated.expected:.3f} ({stated.low:.3f} to {stated.high:.3f})"
            print(
                f"{case.name:40} first {k:5}: stated {interval}, observed {observed:.3f}{'' if inside else '  OUTSIDE'}"
            )
            if not case.stated.by_time:
                random.append((stated.expected, observed))
        chances = [case.stated.chance(j) for j in range(1, len(case.right) + 1)]
        pairs = zip(chances, case.right.tolist(), strict=True)
        rows += [(chance.expected, float(right)) for chance, right in pairs if chance is not None]
    stated_sum, observed_sum = np.sum(random, axis=0)
    print(f"\ninside the interval: {held} of {total}")
    print(f"sum of stated over sum of observed, at random: {stated_sum / observed_sum:.3f}")
    print("\nchance stated | suggestions | mean stated | right")
    chance, right = np.array(rows).T
    for low, high in itertools.pairwise(BINS):
        some = (chance >= low) & ((chance < high) | (high == 1.0))
        if some.any():
            print(f"{low:4.0%} to {high:4.0%} | {some.sum():7,} | {chance[some].mean():.3f} | {right[some].mean():.3f}")


if __name__ == "__main__":
    main()
