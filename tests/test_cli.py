"""The command ``gelato`` as a user meets it: output and exit codes, in a process of its own where that matters."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gelato.datasets import block_model
from gelato.evaluation.method_options import described_methods
from gelato.graph import Graph
from gelato.io import read_graph, write_graph
from gelato.methods import METHODS
from gelato.methods.method import COST_SCALE, KINDS
from gelato.splits import split
from gelato.tables import method_table


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory):
    """The environment of all commands: no folder of the user, no network."""
    shaping = ("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS", "NO_COLOR", "FORCE_COLOR")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GELATO_", *shaping))}
    closed = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return kept | closed | {"GELATO_CACHE": str(tmp_path_factory.mktemp("cache")), "no_proxy": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small graphs in files."""
    folder = tmp_path_factory.mktemp("graphs")
    graph = block_model([30, 30], 0.3, 0.02, seed=1)
    names = np.array([f"n{i}" for i in range(graph.n)], dtype=object)
    write_graph(Graph.from_edges(graph.edges, graph.n, names=names), folder / "plain.csv")
    weights, times = 1 + np.arange(graph.m) % 4, np.random.default_rng(0).permutation(graph.m)
    rows = [f"{u},{v},{w},{t}" for (u, v), w, t in zip(graph.edges.tolist(), weights, times, strict=True)]
    (folder / "rich.csv").write_text("\n".join(["from,to,strength,seen", *rows]) + "\n")
    words = np.random.default_rng(1).integers(0, 2, size=(graph.n, 3))
    rows = [f"n{i},{','.join(map(str, row))}" for i, row in enumerate(words.tolist())]
    (folder / "words.csv").write_text("\n".join(["node,a,b,c", *rows]) + "\n")
    lines = (folder / "plain.csv").read_text().splitlines(keepends=True)
    (folder / "loops.csv").write_text("".join([*lines, "n1,n1\n", "n2,n2\n", *3 * lines[1:2]]))
    (folder / "[red]odd.csv").write_text("".join(lines))
    write_graph(graph, folder / "graph.npz")
    return folder


@pytest.fixture(scope="module")
def gelato(environment, folder):
    """Runs one command in a process of its own, in the folder, and returns the finished process."""

    def run(*args, **changes):
        return subprocess.run(
            [sys.executable, "-m", "gelato", *map(str, args)],
            env=environment | changes,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture(scope="module")
def answer(command):
    """Runs ``gelato evaluate ... --json``, which must succeed without a remark; the rows it prints, or the only one."""

    def run(*args):
        code, output, errors = command("evaluate", *args, "--json", "--quiet")
        assert (code, errors) == (0, "")
        assert output.count("\n") == 1
        rows = json.loads(output)
        assert isinstance(rows, list)
        return rows[0] if len(rows) == 1 else rows

    return run


def settled(result):
    """The result without what differs from run to run."""
    return {key: value for key, value in result.items() if key not in ("seconds", "peak_memory_bytes")}


# Results


@pytest.fixture(scope="module")
def sample(gelato):
    done = gelato("evaluate", "debian-sample", "--method", "ac", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    (result,) = json.loads(done.stdout)  # an array, also of one method
    return result


def test_a_result_has_every_key_that_scripts_rely_on(sample):
    assert set(sample) >= {"dataset", "method", "regime", "n", "m", "positives", "negatives", "metrics", "hits"}
    assert set(sample) >= {"seconds", "peak_memory_bytes", "options", "split", "random"}
    metrics = {"hits@25", "hits@1000", "ap", "mrr", "mrr_optimistic", "mrr_pessimistic", "auc", "precision@100%"}
    assert set(sample["metrics"]) >= metrics
    assert set(sample["random"]) == set(sample["metrics"])
    assert "1000" in sample["hits"]


def test_a_result_tells_what_was_tested(sample):
    about = {key: sample[key] for key in ("dataset", "method", "regime", "split", "options")}
    assert about == {
        "dataset": "debian-sample",
        "method": "ac",
        "regime": "unbiased",
        "split": "paper",
        "options": {},
    }
    n, m = sample["n"], sample["m"]
    assert (n, m, sample["positives"]) == (3727, 7283, 728)
    assert sample["negatives"] == n * (n - 1) // 2 - m


def test_metrics_are_fractions(sample):
    assert sample["metrics"]["hits@1000"] == sample["hits"]["1000"] / sample["positives"]
    assert all(0 <= value <= 1 for value in sample["metrics"].values())
    assert 0.5 < sample["metrics"]["auc"] < 1
    order = [sample["metrics"][name] for name in ("mrr_pessimistic", "mrr", "mrr_optimistic")]
    assert order == sorted(order)


def test_time_and_memory_are_in_seconds_and_bytes(sample):
    assert 0 < sample["seconds"] < 30
    assert 30e6 < sample["peak_memory_bytes"] < 3e9


def test_several_methods_give_an_array_in_the_order_asked(answer):
    results = answer("plain.csv", "--method", "pa,cn,aa")
    assert [result["method"] for result in results] == ["pa", "cn", "aa"]
    assert len({result["metrics"]["auc"] for result in results}) == 3


def test_all_stands_for_every_method_that_fits_the_graph(answer):
    bare = [result["method"] for result in answer("plain.csv", "--method", "all")]
    attributed = [result["method"] for result in answer("plain.csv", "--attributes", "words.csv", "--method", "all")]
    assert "cosine" not in bare
    assert set(attributed) == {*bare, "cosine"}


def test_a_table_has_a_row_for_each_method_and_one_for_chance(command):
    code, output, errors = command("evaluate", "[red]odd.csv", "--method", "cn,ac", "--steps", "2", "--quiet")
    assert (code, errors) == (0, "")
    rows = re.findall(r"^  (\S+(?: \S+=\S+)*) +[\d.]+ ", output, re.MULTILINE)
    assert rows == ["cn", "ac steps=2", "random"]
    assert re.match(r"\[red\]odd: \d+ hidden links ranked against all [\d,]+ non-links", output)  # a name is no markup
    assert re.search(r"precision *\n.* @100% ", output)
    assert re.search(r"^  random .* 50\.00 *$", output, re.MULTILINE)  # the auc, in percent


def test_a_table_says_what_the_json_says(command, answer):
    value = answer("plain.csv", "--method", "cn")["metrics"]["auc"]
    assert f"{100 * value:.2f}" in command("evaluate", "plain.csv", "--method", "cn")[1]


def test_a_table_can_be_printed_in_ascii(gelato):
    done = gelato("evaluate", "plain.csv", "--method", "cn", "--quiet", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "random" in done.stdout


def test_methods_are_listed_by_kind_with_their_costs_and_options(command):
    code, output, errors = command("methods")
    assert (code, errors) == (0, "")
    assert re.search(r"│ ac +│ seconds │ .*steps", output)
    assert re.search(r"│ cn +│ seconds │ +│", output)
    assert re.search(r"│ gelato +│ minutes │ epochs", output)
    places = [re.search(rf"│ {kind} +│ +│ +│ +│", output).start() for kind in KINDS]
    assert places == sorted(places)
    assert re.sub(r"\s+", " ", output).strip().endswith(COST_SCALE)


@pytest.mark.parametrize("columns", [80, 160])
def test_the_table_of_methods_fits_the_terminal_and_names_every_method(columns):
    console = Console(width=columns)
    with console.capture() as printed:
        console.print(method_table(described_methods()))
    lines = printed.get().splitlines()
    assert max(map(len, lines)) <= columns
    for name, method in METHODS.items():
        assert any(re.match(rf"│ {name} +│ {method.cost} +│", line) for line in lines)


def test_methods_are_described_in_json_by_kind(command):
    rows = json.loads(command("methods", "--json")[1])
    assert {row["name"] for row in rows} == set(METHODS)
    assert [row["kind"] for row in rows] == sorted((row["kind"] for row in rows), key=KINDS.index)
    described = {row["name"]: (row["kind"], row["cost"], row["trained"]) for row in rows}
    assert described["cn"] == ("heuristic", "seconds", False)
    assert described["spectral"] == ("spectral", "seconds", False)
    assert described["gelato"] == ("trained", "minutes", True)
    assert described["auto"] == ("automatic", "minutes", False)


def test_datasets_are_listed_with_their_sizes_and_places(command):
    rows = {row["name"]: row for row in json.loads(command("datasets", "--json")[1])}
    assert rows["cora"]["where"] == "not downloaded"
    assert (rows["cora"]["nodes"], rows["cora"]["links"]) == (2708, 5278)
    assert rows["debian-sample"]["where"] == "embedded"
    table = command("datasets")[1]
    assert re.search(r"cora +│ +2,708 │ +5,278 │ +1,433 │ not downloaded", table)


def test_the_data_root_is_looked_through(command, folder, answer):
    rows = {row["name"]: row for row in json.loads(command("datasets", "--json", "--data-root", folder)[1])}
    assert rows["graph"]["where"] == f"folder: {folder / 'graph.npz'}"
    assert answer("graph", "--method", "cn", "--data-root", folder)["dataset"] == "graph"
    code, output, _ = command("evaluate", "graph", "--method", "cn", "--json", GELATO_DATA=str(folder))
    assert code == 0 and json.loads(output)[0]["n"] == 60


def test_an_estimate_is_a_prediction_for_each_method(command):
    code, output, errors = command("estimate", "[red]odd.csv", "--method", "cn,ac", "--json", "--threads", "1")
    assert (code, errors) == (0, "")
    results = json.loads(output)
    assert [(result["dataset"], result["method"], result["threads"]) for result in results] == [
        ("[red]odd", "cn", 1),
        ("[red]odd", "ac", 1),
    ]
    assert all(result["pairs"] == 60 * 59 // 2 for result in results)
    assert all(0 < result["seconds"] < 10 for result in results)
    assert all(result["peak_memory_bytes"] > 30e6 for result in results)
    table = command("estimate", "[red]odd.csv", "--method", "cn,ac")[1]
    assert table.startswith("[red]odd: estimated cost of 'gelato evaluate'")
    assert re.findall(r"^│ (\w+) ", table, re.MULTILINE) == ["cn", "ac"]


def test_the_demo_tests_every_heuristic_and_names_missing_links(command):
    code, output, errors = command("demo", "--budget", "0.1", "--threads", "2", "--quiet")
    assert (code, errors) == (0, "")
    for method in ("cn", "ac", "simrank", "cosine", "auto"):
        assert re.search(rf"^ ?{method} +[\d.]+ ", output, re.MULTILINE)
    assert "3,727 Debian packages" in output
    assert re.search(r"^auto: Compared \d+ methods on 364 hidden links: cn 0\.22%", output, re.MULTILINE)
    assert re.search(r"^ +10 +\d+% \(\d+% to \d+%\) +\S+ +\S+ +\S+ +\w+", output, re.MULTILINE)
    assert re.search(r"^Expect about \d+ of the first 10 suggestions to be right", output, re.MULTILINE)
    assert "This was tested once" in output
    table = output.split("in percent")[1].split("auto:")[0]
    assert max(len(line.rstrip()) for line in table.splitlines()) <= 80


# Reading


def test_attributes_of_an_edge_list_are_read_and_used(answer, command):
    assert answer("plain.csv", "--attributes", "words.csv", "--method", "cosine")["positives"] > 0
    code, _, errors = command("evaluate", "plain.csv", "--method", "cosine")
    assert code == 2
    assert "attributes" in errors


def test_nodes_of_the_attribute_table_without_a_link_are_kept_by_every_command(answer, command, folder):
    (folder / "more.csv").write_text((folder / "words.csv").read_text() + "lonely,1,0,1\n")
    read = ("plain.csv", "--attributes", "more.csv", "--method", "cn")
    assert answer(*read)["n"] == answer(*read, "--isolated", "keep")["n"] == 61
    assert answer(*read, "--isolated", "drop")["n"] == 60
    code, _, errors = command("evaluate", *read, "--isolated", "refuse")
    assert code == 2
    assert "'lonely'" in errors
    assert "--isolated keep" in errors
    for step in (("evaluate",), ("estimate",), ("predict", "--repeats", "0")):
        code, _, errors = command(step[0], *read, *step[1:])
        assert code == 0
        assert "1 node without links is kept (--isolated drop leaves them out)" in errors


def test_the_weight_column_is_used(answer):
    plain, weighted = answer("rich.csv", "--method", "ac"), answer("rich.csv", "--method", "ac", "--weight", "strength")
    assert plain["negatives"] == weighted["negatives"]
    assert plain["metrics"] != weighted["metrics"]


def test_a_split_by_time_hides_the_latest_links(answer, command):
    by_time = answer("rich.csv", "--method", "cn", "--time", "seen", "--split", "time")
    by_seed = answer("rich.csv", "--method", "cn", "--time", "seen")
    assert by_time["split"] == "time"
    assert (by_time["positives"], by_time["negatives"]) == (by_seed["positives"], by_seed["negatives"])
    assert by_time["metrics"] != by_seed["metrics"]
    code, _, errors = command("evaluate", "rich.csv", "--method", "cn", "--split", "time")
    assert code == 2
    assert "needs the time of every link" in errors


def test_directed_links_are_tested_in_their_direction(answer):
    result, usual = answer("plain.csv", "--directed", "--method", "ppr"), answer("plain.csv", "--method", "ppr")
    assert result["m"] == usual["m"]
    assert result["negatives"] == 60 * 59 - result["m"]


# Splits


def test_another_seed_hides_other_links(answer):
    paper, zero, one = (answer("plain.csv", "--method", "ac", "--split", seed) for seed in ("paper", "0", "1"))
    assert paper["metrics"] == zero["metrics"] != one["metrics"]
    assert [result["split"] for result in (paper, zero, one)] == ["paper", "0", "1"]


def test_a_saved_split_is_used(answer, folder):
    graph = read_graph(folder / "plain.csv")
    split(graph, 7).save(folder / "seven.npz")
    saved, seeded = (answer("plain.csv", "--method", "ac", "--split", name) for name in ("seven.npz", "7"))
    assert settled(saved) == settled(seeded)


# Regimes


def test_the_partitioned_regime_counts_pairs_inside_parts(answer):
    pytest.importorskip("pymetis")
    result, every = (
        answer("plain.csv", "--method", "cn", *options) for options in (["--regime", "partitioned", "--parts", 4], [])
    )
    assert (result["regime"], result["drawn"]) == ("partitioned", {"parts": 4, "seed": 0})
    assert 0.15 < result["negatives"] / every["negatives"] < 0.35
    assert 0 < result["positives"] <= every["positives"]


def test_the_biased_regime_draws_as_many_negatives_as_asked_for(answer):
    options = ("plain.csv", "--method", "ac", "--regime", "biased", "--ratio", 3)
    zero, one = answer(*options), answer(*options, "--seed", 1)
    assert zero["regime"] == "biased"
    assert zero["negatives"] == one["negatives"] == 3 * zero["positives"]
    assert zero["metrics"] != one["metrics"]


def test_the_number_of_threads_does_not_change_the_result(answer):
    one, two = (answer("debian-sample", "--method", "ac", "--threads", threads) for threads in (1, 2))
    assert settled(one) == settled(two)


def test_options_reach_the_methods_that_take_them(answer):
    cn, ac = answer("plain.csv", "--method", "cn,ac", "--steps", 1, "--dtype", "float32", "--self-loops", "all")
    assert cn["options"] == {}
    assert ac["options"] == {"steps": 1, "dtype": "float32", "self_loops": "all"}


# Stderr, and what it is for


def test_what_was_read_is_remarked_upon_unless_quiet_or_json(command):
    code, _, errors = command("evaluate", "loops.csv", "--method", "cn")
    assert code == 0
    assert re.fullmatch(r"loops\.csv: .* dropped 2 self-loops and 3 repeated links; one kind of node .*\n", errors)
    for silent in ("--json", "--quiet"):
        code, _, errors = command("evaluate", "loops.csv", "--method", "cn", silent)
        assert (code, errors) == (0, "")


def on_a_terminal(args, environment, folder):
    """Run a command whose stderr is a terminal; its exit code, stdout, and what the terminal was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gelato", *args],
        env=environment | {"TERM": "xterm", "COLUMNS": "100"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    output = process.stdout.read().decode()
    process.stdout.close()
    return process.wait(timeout=10), output, shown.decode()


def test_a_terminal_is_shown_a_bar_and_stdout_stays_clean(environment, folder):
    code, output, shown = on_a_terminal(["evaluate", "debian-sample", "--method", "ac", "--json"], environment, folder)
    assert code == 0
    assert [row["method"] for row in json.loads(output)] == ["ac"]
    assert "ac on debian-sample, 6,943,401 pairs" in shown
    assert "━" in shown
    assert "100%" in shown


def test_no_bar_is_drawn_when_quiet(environment, folder):
    args = ["evaluate", "debian-sample", "--method", "ac", "--json", "--quiet"]
    code, output, shown = on_a_terminal(args, environment, folder)
    assert code == 0
    assert [row["method"] for row in json.loads(output)] == ["ac"]
    assert shown == ""


# Errors


FILES = {
    "weight.csv": "source,target,weight\na,b,1\nb,c,much\n",
    "empty.csv": "",
    "gaps.csv": "node,x\na,1\nb,inf\nc,3\n",
    "abc.csv": "source,target\na,b\nb,c\nc,a\n",
    "notes.pdf": "%PDF",
    "bad.npz": "PK\x03\x04 no archive",
}


REFUSALS = [
    ("plain.csv --method cm", r"unknown method 'cm'; known: aa, ac, .*cn, .*"),
    ("plain.csv --method cn,", r"unknown method ''; known: .*"),
    ("coral --method cn", r"unknown dataset 'coral'; known: citeseer, .*"),
    ("none.csv --method cn", r"none\.csv: there is no such file; check its name and folder"),
    ("here --method cn", r"here is a folder; name a file in it"),
    (". --method cn", r"\. is a folder; name a file in it"),
    ("notes.pdf --method cn", r"notes\.pdf looks like a PDF file, not like a text table; supported files: .*"),
    ("bad.npz --method cn", r"bad\.npz is not a complete \.npz file; .*"),
    ("weight.csv --method cn", r"weight\.csv, line 3: weight 'much' is not a number; .*"),
    ("rich.csv --method cn --weight strong", r"rich\.csv: there is no column 'strong'; .*'strength'.*"),
    ("empty.csv --method cn", r"empty\.csv: the file is empty; it needs at least one row"),
    ("abc.csv --attributes gaps.csv --method cn", r"gaps\.csv: .*'x' \(1 cell, the first 'inf' in line 3\); .*"),
    ("plain.csv --attributes none.csv --method cn", r"none\.csv: there is no such file; .*"),
    ("abc.csv --method cn", r"10% of 3 links is less than one test link; hide a larger share"),
    ("plain.csv --method cn --steps 2", r"steps is an option of .*ac.*, not of cn"),
    ("plain.csv --method ac --steps 0", r"steps must be at least 1, got 0"),
    ("plain.csv --method cn --split papers", r"unknown split 'papers'; give a seed .* or one of: paper"),
    ("plain.csv --method cn --split ²", r"unknown split '²'; .*"),
    ("plain.csv --method cn --split -1", r"unknown split '-1'; .*"),
    ("plain.csv --method cn --split 4294967296", r"the seed of a split must lie in 0\.\.4294967295, got .*"),
    ("plain.csv --method cn --split none.npz", r"none\.npz is not a split written by Split\.save: .*"),
    ("plain.csv --method cn --split bad.npz", r"bad\.npz is not a split written by Split\.save: .*"),
    ("plain.csv --method cn --split graph.npz", r"graph\.npz is not a split written by Split\.save: .*"),
    ("plain.csv --method cn --regime partitioned --parts 61", r"the number of parts must lie in 1\.\.60 .*, got 61"),
    ("plain.csv --method cn --regime biased --ratio 0", r"the ratio of .* must be at least 1, got 0"),
    ("plain.csv --method cn --regime biased --ratio 999", r"[\d,]+ negatives are more than the .* lower the ratio"),
    ("cora --method cn --data-root none", r"data_root must be a folder of npz files, but none is not a folder"),
    ("cora --method cn --data-root here", r"here does not contain cora\.npz; .*"),
    (
        "debian-sample --method cn --directed",
        r"'debian-sample' is a dataset, not a file: leave out directed \(--directed\)",
    ),
    ("debian-sample --method cn --no-header --kind a=text", r".*: leave out header \(--header\) and kinds \(--kind\)"),
    ("rich.csv --method cn --weight 9", r"rich\.csv: --weight 9 is not one of its columns 1 to \d"),
    ("plain.csv --method cn --bipartite --directed", r".* leave out directed \(--directed\) or bipartite .*"),
    ("graph.npz --method cn --weight w", r"graph\.npz: an \.npz file has no columns; .*"),
]


@pytest.fixture(scope="module")
def bad_files(folder):
    (folder / "here").mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content)


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize(("args", "expected"), REFUSALS)
def test_what_the_user_can_repair_is_told_in_one_line(command, args, expected):
    code, output, errors = command("evaluate", *args.split())
    assert (code, output) == (2, "")
    assert re.fullmatch(rf"gelato: {expected}\n", errors)


@pytest.mark.usefixtures("bad_files")
def test_a_refusal_is_the_same_in_a_process_of_its_own(command, gelato):
    done = gelato("evaluate", "weight.csv", "--method", "cn")
    assert (done.returncode, done.stdout, done.stderr) == command("evaluate", "weight.csv", "--method", "cn")
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("evaluate plain.csv --method cn --threads 0", "'--threads': 0 is not in the range x>=1"),
        ("evaluate plain.csv --method cn --threads two", "'--threads'"),
        ("evaluate plain.csv --method cn --seed -1", "'--seed': -1 is not in the range"),
        ("evaluate plain.csv --method cn --regime fair", "'--regime': 'fair' is not one of"),
        ("evaluate plain.csv --method ac --self-loops some", "'--self-loops'"),
        ("evaluate plain.csv", "give --method, such as --method ac, or --model"),
        ("evaluate --method cn", "Missing argument 'GRAPH'"),
        ("evaluate plain.csv --method cn --jsno", "No such option"),
        ("evaluated plain.csv", "No such command 'evaluated'"),
    ],
)
def test_what_was_mistyped_is_told_in_one_line(command, args, expected):
    code, output, errors = command(*args.split())
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("gelato: ")
    assert errors.endswith(" --help'\n")
    assert expected in errors


def test_partitioning_without_pymetis_tells_how_to_install_it(environment, folder):
    code = "import sys; sys.modules['pymetis'] = None; from gelato.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "plain.csv", "--method", "cn", "--regime", "partitioned"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert (
        done.stderr.splitlines(keepends=True)[-1]
        == "gelato: partitioning a graph needs pymetis: pip install 'gelato-links[metis]'\n"
    )


def test_a_download_without_a_network_fails_soon_and_in_one_line(command):
    begin = time.monotonic()
    code, _, errors = command("evaluate", "cora", "--method", "cn")
    assert time.monotonic() - begin < 15
    assert code == 2
    assert re.fullmatch(r"gelato: cannot download https://\S+: .*GELATO_DATA.*\n", errors)


def test_a_full_disk_is_told_in_one_line(environment, folder):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    for args in (["methods"], ["evaluate", "plain.csv", "--method", "cn", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "gelato", *args],
                env=environment,
                cwd=folder,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert done.returncode == 2
        assert re.fullmatch(r"gelato: .*No space left on device\n", done.stderr)


@pytest.mark.parametrize("args", [["methods"], ["evaluate", "plain.csv", "--method", "cn", "--json"]])
def test_a_reader_that_leaves_early_is_no_reason_to_complain(environment, folder, args):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "gelato", *args],
        env=environment,
        cwd=folder,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_a_request_to_end_leave_no_traceback(environment, folder, number, code):
    pipe = folder / "pipe.csv"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "gelato", "evaluate", "pipe.csv", "--method", "cn"],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("w"):  # opens when the command reads
        process.send_signal(number)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == code
    assert output == ""
    assert errors.strip() == "gelato: stopped"
