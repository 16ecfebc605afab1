"""The command estimate."""

import time
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.display import print_outcome
from gelato.cli.engine_options import engine_options
from gelato.cli.option_types import Count
from gelato.cli.options import COMPARING, READING, RUNNING, TESTING, method_option, options, path_option
from gelato.cli.reading import with_split
from gelato.cli.training import predictor_with

if TYPE_CHECKING:
    from gelato.costs.estimates import Estimate
    from gelato.splits import Split


@click.command(epilog="Example: gelato estimate edges.csv --attributes nodes.csv --step predict")
@options(READING, TESTING, RUNNING)
@click.option(
    "--step",
    type=click.Choice(["evaluate", "predict", "explain", "report"]),
    default="evaluate",
    show_default=True,
    help="The command to estimate; methods that train are timed for one epoch first.",
)
@method_option("One or more methods (see 'gelato methods'), or 'all' for all that need no training.")
@options(COMPARING)
@click.option(
    "--top", type=Count(1), default=100, show_default=True, help="Number of suggestions, for predict and report."
)
@click.option(
    "--repeats", type=Count(0), default=5, show_default=True, help="Number of trials, for predict and report."
)
@path_option("--config", metavar="FILE", help="Settings to train with, for predict.")
@options(engine_options("Where to train, for predict."))
@with_split
def estimate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    step: str,
    method: str | None,
    budget: float | None,
    top: int,
    repeats: int,
    config: str | None,
    device: str | None,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Estimate how much time and memory a command with the same arguments will take.

    GRAPH may also be the folder of a run, for explain and report.
    """
    if step == "evaluate":
        if config or budget is not None:
            raise click.UsageError("--config and --budget are for --step predict; use --option for evaluate")
        results = _estimates(split, method, options, device, test)
        rows = [{"dataset": name, "method": chosen, **result.as_json()} for chosen, result in results]
        print_outcome(as_json, rows, lambda tables: tables.estimate_table(name, results))
        return
    from gelato.evaluation.forecast import forecast

    if method is not None and ("," in method or method == "all"):
        raise click.UsageError(f"--step {step} takes one method, got {method}")
    options |= {} if budget is None else {"budget": budget}
    model = predictor_with(method, config, options, quick=True, device=device, threads=test["threads"])
    expected = forecast(split.graph, model, step, top_k=top, repeats=repeats, started=time.process_time())
    outcome = {"dataset": name, "method": model.method, **expected.as_json()}
    print_outcome(as_json, outcome, lambda tables: tables.forecast_table(name, expected))


def _estimates(
    split: "Split", method: str | None, options: dict[str, Any], device: str | None, test: dict[str, Any]
) -> "list[tuple[str, Estimate]]":
    """Names of methods, and what evaluating each will take."""
    from gelato.evaluation.estimate import estimate_method
    from gelato.evaluation.method_options import methods_of
    from gelato.methods import METHODS

    if method is None:
        raise click.UsageError("--step evaluate needs --method, such as --method ac; see 'gelato methods'")
    results = []
    for chosen, its_options in methods_of(method, options, split.train):
        if device is not None and "device" in METHODS[chosen].settings.names():
            its_options = {**its_options, "device": device}
        results.append((chosen, estimate_method(split, chosen, options=its_options, **test)))
    return results
