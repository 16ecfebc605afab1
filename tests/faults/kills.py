"""Kills commands at random moments, runs them again, and compares with what undisturbed ones give.

    python tests/faults/kills.py --kills 200 --seed 0

Every case is a real process. One that is killed is started again, killed again now and then, and in the end left alone;
some have a second process on the same folder at the same time. What comes out must be what an undisturbed run gives:
byte for byte where files depend on nothing but the input, number by number where they hold timings.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
CODES = {
    signal.SIGKILL: {-signal.SIGKILL},
    signal.SIGINT: {130, -signal.SIGINT},
    signal.SIGTERM: {143, -signal.SIGTERM},
}
"""Exit codes after a signal; the negative ones before the command has begun."""

SOONER = 0.8
"""How much earlier to strike after a process has ended before its kill."""

TIMED = {"seconds", "peak_memory_bytes", "timings"}
"""Fields that differ from run to run."""

SMALL = ("--option", "hidden=8", "--option", "epochs=6", "--option", "batches=2", "--threads", "1")

BOOSTED = ("--option", "effort=quick", "--option", "folds=4", "--option", "trees=40", "--option", "candidates=2000")
BOOSTED += ("--option", "networks=1", "--threads", "1")


@dataclass(frozen=True)
class Case:
    """A command, the outputs that are compared, and what lies ready for it.

    Attributes:
        args: the command; every output lies in the working folder.
        results: reads what came out, from the working folder and stdout.
        ready: a command that must have run before, in a folder of its own.
    """

    args: tuple[str, ...]
    results: Callable[[Path, str], dict[str, Any]]
    ready: tuple[str, ...] = ()


@dataclass
class Tally:
    """What happened to the processes of one case."""

    kills: int = 0
    late: int = 0
    again: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def bytes_of(*names: str) -> Callable[[Path, str], dict[str, Any]]:
    """The contents of files."""
    return lambda folder, out: {name: (folder / name).read_bytes() for name in names}


def tensors_of(run: Path) -> dict[str, Any]:
    """The tensors of a model, as bytes."""
    return {name: value.tobytes() for name, value in load_file(run / "model.safetensors").items()}


def model_of(name: str) -> Callable[[Path, str], dict[str, Any]]:
    """The tensors, the choice and the metrics of a run."""

    def read(folder: Path, out: str) -> dict[str, Any]:
        run = folder / name
        lines = [untimed(json.loads(line)) for line in (run / "metrics.jsonl").read_text().splitlines()]
        chosen = json.loads((run / "chosen.json").read_text())
        return {**tensors_of(run), "metrics": lines, "chosen": chosen}

    return read


def json_of(folder: Path, out: str) -> dict[str, Any]:
    """What was printed, without timings."""
    return {"printed": untimed(json.loads(out))}


def trials_of(folder: Path, out: str) -> dict[str, Any]:
    """The trials of a search, without timings, and its best settings."""
    return {**json_of(folder, out), **bytes_of("tuned/best.toml")(folder, out)}


def links_of(folder: Path, out: str) -> dict[str, Any]:
    """Suggestions, and the model behind them."""
    return {**bytes_of("links.csv")(folder, out), **model_of("links.run")(folder, out)}


def suggested(folder: Path, out: str) -> dict[str, Any]:
    """Suggestions by the best of several methods, and what it has learned."""
    return {**bytes_of("links.csv")(folder, out), **tensors_of(folder / "links.run")}


def untimed(value: Any) -> Any:
    """A JSON value without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {key: untimed(each) for key, each in value.items() if key not in TIMED}
    return [untimed(each) for each in value] if isinstance(value, list) else value


CASES = {
    "fit": Case(("fit", "graph.npz", *SMALL, "--out", "run"), model_of("run")),
    "fit, spectral": Case(
        ("fit", "graph.npz", "--method", "spectral", "--threads", "1", "--out", "run"),
        lambda folder, out: tensors_of(folder / "run"),
    ),
    "predict": Case(
        ("predict", "graph.npz", "--method", "gelato", *SMALL, "--top", "20", "--repeats", "2", "--out", "links.csv"),
        links_of,
    ),
    "predict, auto": Case(
        ("predict", "graph.npz", "--threads", "1", "--top", "20", "--repeats", "2", "--out", "links.csv"), suggested
    ),
    "predict, boosted": Case(
        (
            "predict",
            "graph.npz",
            "--method",
            "boosted",
            *BOOSTED,
            "--top",
            "20",
            "--repeats",
            "1",
            "--out",
            "links.csv",
        ),
        suggested,
    ),
    "tune": Case(
        (
            "tune",
            "graph.npz",
            "--method",
            "spectral",
            "--option",
            "rank=8",
            "--threads",
            "1",
            "--out",
            "tuned",
            "--json",
        ),
        trials_of,
    ),
    "tune, gelato": Case(("tune", "graph.npz", *SMALL, "--out", "tuned", "--json"), trials_of),
    "report": Case(
        ("report", "ready", "--top", "5", "--repeats", "1", "--threads", "1", "--out", "page.html", "--json"),
        lambda folder, out: {**json_of(folder, out), "page": (folder / "page.html").exists()},
        ready=("fit", "graph.npz", *SMALL, "--whole", "--out", "ready"),
    ),
    "evaluate": Case(("evaluate", "large.npz", "--method", "ac", "--threads", "1", "--json"), json_of),
}


def prepared(root: Path) -> None:
    """Write the graphs: a small one with attributes, and one whose count takes a while."""
    from gelato.datasets import block_model, debian_sample
    from gelato.io import write_graph

    write_graph(block_model([60, 60, 60], 0.12, 0.01, attributes=40, words=8, seed=4), root / "graph.npz")
    write_graph(debian_sample(), root / "large.npz")


def started(case: Case, folder: Path, args: tuple[str, ...] | None = None) -> "subprocess.Popen[str]":
    """A process of a case in its working folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GELATO_")}
    return subprocess.Popen(
        [sys.executable, "-m", "gelato", *(args or case.args), "--quiet"],
        cwd=folder,
        env=environment | {"GELATO_CACHE": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def undisturbed(case: Case, root: Path, name: str) -> tuple[dict[str, Any], float]:
    """What a case gives, and how long it takes."""
    folder = working_folder(case, root, f"calm {name}")
    begin = time.monotonic()
    process = started(case, folder)
    out, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name}: {errors}")
    return case.results(folder, out), time.monotonic() - begin


def working_folder(case: Case, root: Path, name: str) -> Path:
    """A fresh folder with all that a case needs; what it needs computed is computed once."""
    folder = root / name
    folder.mkdir()
    for graph in ("graph.npz", "large.npz"):
        (folder / graph).symlink_to(root / graph)
    if case.ready:
        if not (root / "ready").exists():
            _, errors = started(case, root, case.ready).communicate()
            if not (root / "ready").exists():
                raise SystemExit(errors)
        shutil.copytree(root / "ready", folder / "ready")
    return folder


def disturbed(
    case: Case, folder: Path, expected: dict[str, Any], spent: float, dice: random.Random, times: tuple[int, int]
) -> Tally:
    """Kill a case so many times, at least and at most, let it end, and compare.

    A process that ends before its kill is followed by another; those after it are struck within the time it took.
    """
    tally, wanted = Tally(), dice.randint(*times)
    while tally.kills < wanted:
        begin = time.monotonic()
        process = started(case, folder)
        second = started(case, folder) if dice.random() < 0.25 else None
        try:
            process.wait(dice.uniform(0.02, 1.0) * spent)
        except subprocess.TimeoutExpired:
            number = dice.choice(SIGNALS)
            process.send_signal(number)
            process.communicate()
            tally.kills += 1
            if process.returncode == 0:  # it ended just before
                tally.late += 1
            elif second is None and process.returncode not in CODES[number]:
                tally.wrong.append(f"exit {process.returncode} after {signal.Signals(number).name}")
        else:
            process.communicate()
            tally.late += 1
            spent = time.monotonic() - begin
        if second is not None:
            _, errors = second.communicate()
            tally.refused += second.returncode == 2
            if second.returncode not in (0, 2) or len(errors.splitlines()) > 1:
                tally.wrong.append(f"second process: exit {second.returncode}: {errors[-300:]}")
    tally.again += 1
    process = started(case, folder)
    out, errors = process.communicate()
    if process.returncode:
        tally.wrong.append(f"exit {process.returncode}: {errors[-300:]}")
        return tally
    outcome = case.results(folder, out)
    tally.wrong += [f"{key} differs" for key in expected if outcome.get(key) != expected[key]]
    tally.wrong += [f"left behind: {path.relative_to(folder)}" for path in leftovers(folder)]
    return tally


def leftovers(folder: Path) -> Iterator[Path]:
    """Scratch folders and files that a later command should have removed."""
    yield from (path for path in folder.rglob(".gelato-*") if path.name != ".gelato-lock")
    yield from folder.glob("cache/resume/*")


def campaign(
    kills: int,
    seed: int,
    names: tuple[str, ...] = tuple(CASES),
    times: tuple[int, int] = (1, 4),
    report: Callable[[str], object] = lambda line: None,
) -> dict[str, Tally]:
    """So many kills over the cases in turn; what became of them."""
    tallies = {name: Tally() for name in names}
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        prepared(root)
        for name in names:
            undisturbed(CASES[name], root, f"first {name}")  # may compile, which takes longer than all the rest
        calm = {name: undisturbed(CASES[name], root, name) for name in names}
        turn = 0
        while sum(tally.kills for tally in tallies.values()) < kills:
            name = names[turn % len(names)]
            dice = random.Random(f"{seed} {turn}")
            folder = working_folder(CASES[name], root, f"{turn} {name}")
            tally = disturbed(CASES[name], folder, *calm[name], dice, times)
            if tally.late:  # the machine is faster now than it was at the beginning
                calm[name] = calm[name][0], SOONER * calm[name][1]
            sums, wrong = tallies[name], [f"turn {turn}: {each}" for each in tally.wrong]
            tallies[name] = Tally(
                sums.kills + tally.kills, sums.late + tally.late, sums.again + tally.again,
                sums.refused + tally.refused, sums.wrong + wrong,
            )  # fmt: skip
            shutil.rmtree(folder)
            report(f"turn {turn}, {name}: {tally.kills} kills, {len(tally.wrong)} wrong")
            turn += 1
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The tallies as text."""
    lines = [f"{'command':<15}{'kills':>7}{'too late':>10}{'resumed':>9}{'refused':>9}{'wrong':>7}"]
    total: Counter[str] = Counter()
    for name, each in tallies.items():
        row = {"kills": each.kills, "late": each.late, "again": each.again, "refused": each.refused}
        row["wrong"] = len(each.wrong)
        total.update(row)
        lines.append(_row(name, row))
    lines.append(_row("in all", total))
    return "\n".join([*lines, *(f"{name}: {words}" for name, each in tallies.items() for words in each.wrong)])


def _row(name: str, counts: Mapping[str, int]) -> str:
    widths = {"kills": 7, "late": 10, "again": 9, "refused": 9, "wrong": 7}
    return f"{name:<15}" + "".join(f"{counts[key]:>{width}}" for key, width in widths.items())


def main() -> int:
    """Run a campaign; 1 if any result differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="how many (200)")
    parser.add_argument("--seed", type=int, default=int(np.random.default_rng().integers(10**6)), help="of all chances")
    parser.add_argument("--only", action="append", choices=list(CASES), help="only this command; may be repeated")
    given = parser.parse_args()
    print(f"{given.kills} kills, seed {given.seed}", flush=True)  # noqa: T201
    begin = time.monotonic()
    say = partial(print, flush=True)
    tallies = campaign(given.kills, given.seed, tuple(given.only or CASES), report=say)
    print(table(tallies))  # noqa: T201
    print(f"{time.monotonic() - begin:.0f} s")  # noqa: T201
    return 1 if any(each.wrong for each in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
