"""Reading 2 million links of every kind against pandas: ``python benchmarks/reading.py [SRC ...] [--links N]``.

pandas reads the two node columns (and weight and time) with ``read_csv`` and turns nodes into integers with
``factorize``; that is no graph yet. Gelato is timed twice: up to the same integers, and up to the ``Graph``, which is
sorted, without repeats and checked. Each side runs in a process of its own; times are processor seconds of one thread,
the best of three, and memory is the growth of the resident size. With source trees as arguments, such as an older one,
each of them reads the same files up to the graph.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measure import best_of, in_fresh_process

REPEATS = 3
KINDS = ("integers", "names", "quoted", "spaces", "weights", "times", "dates", "both")
"""What is read: integers as names, words, words in quotes, columns separated by spaces, and further columns."""


def write(kind: str, path: Path, links: int) -> None:
    """A table of random links of one kind between a tenth as many nodes."""
    random = np.random.default_rng(0)
    pairs = random.integers(0, max(2, links // 10), (links, 2)).tolist()
    weights, times = (random.random(links) + 0.001).round(4).tolist(), random.integers(0, 2**31, links)
    dates = times.astype("M8[s]").astype(str).tolist()
    header = {"weights": ",weight", "times": ",time", "dates": ",time", "both": ",weight,time"}.get(kind, "")
    row = {
        "integers": lambda i, u, v: f"{u},{v}\n",
        "names": lambda i, u, v: f"node-{u:x},node-{v:x}\n",
        "quoted": lambda i, u, v: f'"node-{u:x}","node-{v:x}"\n',
        "spaces": lambda i, u, v: f"{u} {v}\n",
        "weights": lambda i, u, v: f"{u},{v},{weights[i]}\n",
        "times": lambda i, u, v: f"{u},{v},{times[i]}\n",
        "dates": lambda i, u, v: f"{u},{v},{dates[i]}\n",
        "both": lambda i, u, v: f"{u},{v},{weights[i]},{times[i]}\n",
    }[kind]
    with path.open("w") as file:
        file.write("source target\n" if kind == "spaces" else f"source,target{header}\n")
        file.writelines(row(i, u, v) for i, (u, v) in enumerate(pairs))


def by_pandas(path: str) -> dict[str, Any]:
    """Node columns as integers and their names, by pandas."""
    import pandas

    def read() -> int:
        frame = pandas.read_csv(path, sep=" " if path.endswith(".txt") else ",")
        codes, names = pandas.factorize(np.concatenate([frame["source"], frame["target"]]))
        if "dates" in path:
            pandas.to_datetime(frame["time"])
        return len(codes) + len(names)

    return best_of(read, REPEATS)


def links_only(path: str) -> dict[str, Any]:
    """The same by Gelato, before the graph is made."""
    from gelato.io.links.reading import read_links
    from gelato.io.links.schema import EdgeSchema
    from gelato.io.tables.files import open_table

    def read() -> int:
        schema = EdgeSchema()
        table = open_table(Path(path), schema.is_header)
        links = read_links(table, schema, schema.layout(table))
        return links.ends.size + len(links.values)

    return best_of(read, REPEATS)


def graph(path: str) -> dict[str, Any]:
    """The graph of a file by Gelato."""
    from gelato import read_graph

    return best_of(lambda: int(read_graph(path).m), REPEATS)


def main() -> None:
    """Print one line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", help="source trees, such as an older one, that read the graphs too")
    parser.add_argument("--links", type=int, default=2_000_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    args = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    print(
        f"{'kind':>9} {'pandas':>16} {'gelato':>16} ratio {'graph':>16}"
        + "".join(f" {tree:>24}" for tree in args.trees)
    )
    for kind in args.kinds:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{kind}{'.txt' if kind == 'spaces' else '.csv'}"
            write(kind, path, args.links)
            sides = [in_fresh_process(case, path, module="reading.py") for case in ("by_pandas", "links_only", "graph")]
            told = [f"{side['processor']:>6.2f}s {side['memory'] / 1e6:>6.0f}MB" for side in sides]
            told.insert(2, f"{sides[1]['processor'] / sides[0]['processor']:>5.2f}")
            for tree in args.trees:
                os.environ["PYTHONPATH"], own = tree, os.environ.get("PYTHONPATH", "")
                try:
                    old = in_fresh_process("graph", path, module="reading.py")
                except subprocess.CalledProcessError as error:
                    sys.exit(error.stderr)
                os.environ["PYTHONPATH"] = own
                times = old["processor"] / sides[2]["processor"]
                told.append(f"{old['processor']:>6.2f}s {old['memory'] / 1e6:>6.0f}MB {times:>5.1f}x")
            print(f"{kind:>9} {' '.join(told)}", flush=True)


if __name__ == "__main__":
    cases = {case.__name__: case for case in (by_pandas, links_only, graph)}
    if len(sys.argv) == 3 and sys.argv[1] in cases:
        import json

        print(json.dumps(cases[sys.argv[1]](sys.argv[2])))
    else:
        main()
