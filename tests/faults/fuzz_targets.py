"""What is fuzzed: a file of a sound folder, and the commands that read it."""

from dataclasses import dataclass
from pathlib import Path

QUIET = "--quiet"
FIT = {
    "ac": ("--method", "ac"),
    "gelato": (
        *("--attributes", "nodes.csv", "--method", "gelato", "--option", "epochs=1"),
        *("--option", "alpha=0.5", "--option", "beta=0.5", "--option", "eta=0.1"),
    ),
    "spectral": ("--method", "spectral"),
    "mlp": ("--attributes", "nodes.csv", "--method", "mlp", "--option", "epochs=1"),
    "auto": ("--attributes", "nodes.csv", "--method", "auto", "--option", "budget=0"),
    "boosted": (
        *("--attributes", "nodes.csv", "--method", "boosted", "--option", "folds=2", "--option", "trees=5"),
        *("--option", "rank=4", "--option", "networks=2"),
    ),
}
"""Runs, and how each is fitted."""

QUICK = ("gelato", "spectral")
"""Those that are quick to make."""

SHARDED = {
    "count": ("evaluate", "graph.csv", "--method", "ac"),
    "top": ("predict", "graph.csv", "--method", "ac", "--repeats", "0", "--top", "10"),
    "rows": ("predict", "graph.csv", "--method", "ac", "--repeats", "0", "--per-node", "3"),
}
"""What is run in two shards."""

SETTINGS = '[model]\nmethod = "ac"\nsteps = 3\nself_loops = "all"\nunset = []\n\n[about]\ntitle = "x"\n'


@dataclass(frozen=True)
class Target:
    """A file to damage, by its path in the folder, a command that reads it, and files to leave out."""

    file: str
    command: tuple[str, ...]
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file} by {' '.join(self.command[:2])}"


def fit(run):
    """The command that fits a run, or resumes it."""
    return ("fit", "graph.csv", *FIT[run], "--out", run, QUIET)


def stock_commands(runs):
    """The commands that make the sound folder, besides its graphs."""
    yield from map(fit, runs)
    for name, command in SHARDED.items():
        yield from ((*command, "--shard", f"{i}/2", "--out", f"{name}{i}.npz", QUIET) for i in (1, 2))
    yield ("tune", "graph.csv", "--method", "katz", "--out", "search", QUIET)


def targets(folder: Path, runs):
    """All targets of a folder that ``stock_commands`` made."""
    for run in runs:
        with_attributes = ("--attributes", "nodes.csv") if "--attributes" in FIT[run] else ()
        readers = [
            ("explain", run, "n0", "n1", "--threads", "1", QUIET),
            ("predict", "graph.csv", *with_attributes, "--model", run, "--repeats", "0", "--threads", "1", QUIET),
        ]
        for path in sorted((folder / run).iterdir()):
            if path.suffix in (".json", ".npz", ".safetensors", ".jsonl") and path.name not in ("environment.json",):
                file = f"{run}/{path.name}"
                read = path.name not in ("timings.json", "metrics.jsonl", "trials.jsonl", "chosen.json")
                if read and not path.name.startswith("checkpoint"):
                    yield from (Target(file, reader) for reader in readers)
                    if path.name.startswith("model"):
                        predict = ("predict", "graph.csv", *with_attributes, "--model", run, "--repeats", "1", QUIET)
                        yield Target(file, (*predict, "--threads", "1"))
                        yield Target(file, ("evaluate", "graph.csv", *with_attributes, "--model", run, QUIET))
                if path.name not in ("timings.json", "model.safetensors", "seen.npz"):
                    yield Target(file, (*fit(run), "--threads", "1"), (f"{run}/model.safetensors",))
    for name in SHARDED:
        yield from (Target(f"{name}1.npz", ("merge", f"{name}1.npz", f"{name}2.npz", QUIET)) for _ in range(3))
    yield Target("settings.toml", ("fit", "graph.csv", "--config", "settings.toml", "--out", "new", QUIET))
    for file in ("trials.jsonl", "choice.jsonl"):
        if (folder / "search" / file).exists():
            tune = ("tune", "graph.csv", "--method", "katz", "--out", "search", QUIET)
            yield Target(f"search/{file}", tune)
    for file in ("graph.npz", "full.npz"):
        yield Target(file, ("predict", file, "--method", "cn", "--repeats", "0", "--threads", "1", QUIET))
        yield Target(file, ("evaluate", file, "--method", "cosine", "--memory", "2G", "--threads", "1", QUIET))
    yield Target("split.npz", ("evaluate", "graph.npz", "--method", "cn", "--split", "split.npz", QUIET))
    for file in ("graph.csv", "graph.parquet"):
        yield Target(file, ("predict", file, "--method", "cn", "--repeats", "0", "--threads", "1", QUIET))
    nodes = ("--attributes", "nodes.csv", "--method", "cosine", "--repeats", "0", "--threads", "1", QUIET)
    yield Target("nodes.csv", ("predict", "graph.csv", *nodes))
