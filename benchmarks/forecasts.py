"""What is said beforehand against what it takes: ``python benchmarks/forecasts.py``. Ratios near 1 are good."""

import subprocess
import sys
import time
from collections.abc import Callable

from gelato import Gelato, evaluate, split, unbiased
from gelato.datasets import block_model
from gelato.evaluation.forecast import forecast
from gelato.methods import HEURISTICS
from gelato.ranking.estimate import scan_cost
from gelato.ranking.rank import compile_kernels_for


def taken(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    """Print all of them."""
    graph = block_model([120] * 10, 0.06, 0.002, attributes=200, words=12, seed=0)
    said = forecast(graph, Gelato(epochs=10), "predict", top_k=50, repeats=3).seconds
    took = taken(lambda: Gelato(epochs=10).fit(graph).suggest(50, repeats=3))
    print(f"predict: said {said:.2f} s, took {took:.2f} s, ratio {said / took:.2f}")
    hidden = split(block_model([6000] * 5, 0.004, 0.0001, seed=2))
    scores = HEURISTICS["ac"](hidden.train)
    compile_kernels_for(scores)
    cost = taken(lambda: scan_cost(scores, unbiased(hidden), threads=1))
    whole = evaluate(hidden, "ac", threads=1).seconds
    print(f"estimate: takes {cost:.2f} s for an evaluation of {whole:.2f} s, a share of {cost / whole:.2f}")
    start = min(
        taken(lambda: subprocess.run([sys.executable, "-m", "gelato", "--help"], check=False)) for _ in range(3)
    )
    print(f"gelato --help: {start:.2f} s")


if __name__ == "__main__":
    main()
