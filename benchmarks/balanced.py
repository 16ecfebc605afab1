"""Balanced sanity check of the compared methods, as their own papers test them: sampled non-links, HR@100 and AUC.

    GELATO_DATA=DIR python benchmarks/balanced.py run FILE --graphs cora,citeseer --methods ncn,buddy --seeds 3
    python benchmarks/balanced.py table FILE

Links are split 70/10/20, or with ``--ratios 0.05,0.1`` as 85/5/10; training is biased and the epoch is kept by balanced
validation hits@100. ``--component`` keeps the largest connected component and ``--seen`` adds the validation links at
test time, as the protocol of BUDDY does. It flatters every method, and serves only to hold ours against published
figures. ``run`` appends one line of JSON for each graph, method and seed, and does not run again what the file has.
"""

import argparse
import json
import math
import sys
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from gelato import Graph, load, make, split
from gelato.methods import METHODS
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import biased, unbiased

RATIOS = (0.1, 0.2)
METRICS = ("hits@100", "auc")
SETTINGS = Path(__file__).with_name("balanced.toml")


def largest_component(graph: Graph) -> Graph:
    """The nodes that most others can be reached from."""
    _, label = connected_components(graph.adjacency, directed=False)
    kept = np.flatnonzero(label == np.bincount(label).argmax())
    place = np.full(graph.n, -1)
    place[kept] = np.arange(len(kept))
    inside = (place[graph.edges] >= 0).all(axis=1)
    return Graph.from_edges(place[graph.edges[inside]], len(kept), attributes=graph.attributes[kept])


def settings_of(method: str, graph: str, options: dict[str, Any]) -> dict[str, Any]:
    """Those of ``balanced.toml`` for this method and graph, trained biased and selected balanced."""
    known = tomllib.loads(SETTINGS.read_text()).get(method, {}).get(graph, {})
    regime = {"regime": "biased", "selection": "balanced", "epochs": 100, "patience": 30}
    if "passes" in METHODS[method].settings.names():
        regime["passes"] = 1
    return {**regime, **known, **options}


def one(
    name: str,
    method: str,
    seed: int,
    options: dict[str, Any],
    component: bool,
    seen: bool,
    ratios: tuple[float, float],
) -> dict[str, Any]:
    """A line of the file."""
    graph = largest_component(load(name)) if component else load(name)
    parts = split(graph, seed, ratios)
    begin = time.perf_counter()
    model = make(method, **settings_of(method, name, options), random_state=seed).fit(parts)
    seconds = time.perf_counter() - begin
    if seen:
        known = np.concatenate([parts.train.edges, parts.valid])
        model = model.on(Graph.from_edges(known, graph.n, attributes=graph.attributes))
    line = {"graph": name, "method": method, "seed": seed, "options": options, "component": component, "seen": seen}
    line["ratios"] = list(ratios)
    ranks = rank(model.scores(), biased(parts, 1, seed))
    line |= {each: 100 * metric(each, ranks) for each in METRICS}
    every = rank(model.scores(), unbiased(parts))
    line |= {f"unbiased {each}": 100 * metric(each, every) for each in ("hits@1000", "ap")}
    selected = {"best epoch": model.best_epoch_, "validation hits@100": 100 * model.precision_}
    return {**line, **selected, "seconds": seconds}


def run(args: argparse.Namespace) -> None:
    """Run what the file does not have yet."""
    lines = [json.loads(line) for line in args.file.read_text().splitlines()] if args.file.exists() else []
    names = ("graph", "method", "seed", "options", "component", "seen")
    known = {json.dumps([*(line[name] for name in names), line.get("ratios", RATIOS)]) for line in lines}
    for name in args.graphs.split(","):
        for method in args.methods.split(","):
            for seed in range(args.seeds):
                what = (name, method, seed, args.options, args.component, args.seen, args.ratios)
                if json.dumps(list(what)) not in known:
                    line = json.dumps(one(*what))
                    sys.stderr.write(line + "\n")
                    with args.file.open("a") as out:
                        out.write(line + "\n")


def table(args: argparse.Namespace) -> None:
    """Means over seeds with standard deviations."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for line in map(json.loads, args.file.read_text().splitlines()):
        ratios = tuple(line.get("ratios", RATIOS))
        shares = [] if ratios == RATIOS else ["/".join(f"{100 * share:g}" for share in (1 - sum(ratios), *ratios))]
        protocol = " ".join([*(name for name in ("component", "seen") if line[name]), *shares])
        groups[line["graph"], line["method"], protocol, json.dumps(line["options"])].append(line)
    head = ["graph", "method", "protocol", "seeds", "hits@100", "auc", "unbiased hits@1000", "unbiased ap", "seconds"]
    sys.stdout.write(f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n")
    for (graph, method, protocol, _), lines in sorted(groups.items()):
        cells = [_mean([line[key] for line in lines]) for key in head[4:-1]]
        seconds = f"{max(line['seconds'] for line in lines):.0f}"
        sys.stdout.write(f"| {' | '.join([graph, method, protocol, str(len(lines)), *cells, seconds])} |\n")


def _mean(values: list[float]) -> str:
    deviation = np.std(values, ddof=1) if len(values) > 1 else math.nan
    return f"{np.mean(values):.2f} ± {deviation:.2f}"


def _ratios(text: str) -> tuple[float, float]:
    """Shares of the links for validation and for the test, which leave some to learn from."""
    try:
        valid, test = map(float, text.split(","))
    except ValueError:
        valid = test = math.nan
    if not (valid > 0 and test > 0 and valid + test < 1):
        raise argparse.ArgumentTypeError(
            f"give two positive shares that sum to less than 1, for validation and test, such as 0.05,0.1; got {text}"
        )
    return valid, test


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("file", type=Path)
    running.add_argument("--graphs", default="cora,citeseer")
    running.add_argument("--methods", required=True)
    running.add_argument("--seeds", type=int, default=3)
    running.add_argument("--options", type=json.loads, default={})
    running.add_argument("--ratios", type=_ratios, default=RATIOS)
    running.add_argument("--component", action="store_true")
    running.add_argument("--seen", action="store_true")
    running.set_defaults(call=run)
    printing = commands.add_parser("table")
    printing.add_argument("file", type=Path)
    printing.set_defaults(call=table)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
