"""Tables of published figures in README.md and docs/guide.md, made from the outcomes that are kept in docs/results."""

from collections.abc import Sequence
from pathlib import Path

from gelato.experiments.experiment import Experiment, read_experiment
from gelato.experiments.seed_results import Agreement, compare_outcomes, kept_outcomes
from gelato.methods.config_files import bundled_configs

TITLES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "photo": "Photo", "computers": "Computers"}
SHOWN = {"ap": "AP", "hits@1000": "hits@1000"}
PUBLISHED = ("<!-- published figures: gelato reproduce -->", "<!-- end of published figures -->")
"""Marks of the table of ``published_table`` in a document."""

COMPARED = ("<!-- compared methods: gelato reproduce -->", "<!-- end of compared methods -->")
"""Marks of the table of ``methods_table``."""


def published_table(folder: Path, names: Sequence[str]) -> str:
    """A Markdown table of experiments: for each metric what was reported, and mean and deviation of the seeds kept."""
    experiments = [read_experiment(name) for name in names]
    cells = [{each.metric: each for each in compare_outcomes(one, kept_outcomes(one, folder))} for one in experiments]
    heads = [TITLES.get(one.dataset, one.dataset) for one in experiments]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for metric, title in SHOWN.items():
        lines.append(f"| {title}, paper | {' | '.join(_reported(one, metric) for one in experiments)} |")
        lines.append(f"| {title}, here | {' | '.join(_ours(each.get(metric)) for each in cells)} |")
    return "\n".join(lines)


def methods_table(folder: Path, methods: Sequence[str], datasets: Sequence[str]) -> str:
    """A Markdown table of methods: mean and deviation of the seeds kept, and in brackets what was reported."""
    heads = [f"{TITLES[name]}, {title}" for name in datasets for title in SHOWN.values()]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for method in methods:
        cells = []
        for name in (f"{method}/{dataset}" for dataset in datasets):
            experiment = read_experiment(name) if name in bundled_configs() else None
            found = [] if experiment is None else compare_outcomes(experiment, kept_outcomes(experiment, folder))
            by_metric = {each.metric: each for each in found}
            for metric in SHOWN:
                reported = "–" if experiment is None else _reported(experiment, metric)
                cells.append(_ours(by_metric.get(metric)) + ("" if reported == "–" else f" ({reported})"))
        lines.append(f"| `{method}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def replace_table(text: str, table: str, marks: tuple[str, str]) -> str:
    """A document with the table between two marks."""
    begin, end = marks
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


def _reported(experiment: Experiment, metric: str) -> str:
    figure = experiment.reported.get(metric)
    if figure is None:
        return "–"
    return f"{figure.mean:.2f}" + ("" if figure.std is None else f" ± {figure.std:.2f}")


def _ours(comparison: Agreement | None) -> str:
    if comparison is None:
        return "–"
    return f"{comparison.mean:.2f}" + ("" if comparison.seeds == 1 else f" ± {comparison.std:.2f}")
