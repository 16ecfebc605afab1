"""The table of published figures, made from the outcomes that are kept."""

from collections.abc import Sequence
from pathlib import Path

from gelato.experiments.experiment import Experiment, read_experiment
from gelato.experiments.outcomes import Agreement, compared, kept

TITLES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "photo": "Photo", "computers": "Computers"}
SHOWN = {"ap": "AP", "hits@1000": "hits@1000"}
BEGIN, END = "<!-- published figures: gelato reproduce -->", "<!-- end of published figures -->"


def published_table(folder: Path, names: Sequence[str]) -> str:
    """A Markdown table of experiments: for each metric what was reported, and mean and deviation of the seeds kept."""
    experiments = [read_experiment(name) for name in names]
    cells = [{each.metric: each for each in compared(one, kept(one, folder))} for one in experiments]
    heads = [TITLES.get(one.dataset, one.dataset) for one in experiments]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for metric, title in SHOWN.items():
        lines.append(f"| {title}, paper | {' | '.join(_reported(one, metric) for one in experiments)} |")
        lines.append(f"| {title}, here | {' | '.join(_ours(each.get(metric)) for each in cells)} |")
    return "\n".join(lines)


def placed(text: str, table: str) -> str:
    """A document with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _reported(experiment: Experiment, metric: str) -> str:
    figure = experiment.reported.get(metric)
    if figure is None:
        return "–"
    return f"{figure.mean:.2f}" + ("" if figure.std is None else f" ± {figure.std:.2f}")


def _ours(comparison: Agreement | None) -> str:
    return "–" if comparison is None else f"{comparison.mean:.2f} ± {comparison.std:.2f}"
