"""Places that cannot be written: refused before any work, with nothing changed."""

from pathlib import Path

from faults.case import Case

CSV = ("graph.csv",)
FAST = "--method cn --repeats 0 --no-reasons --quiet"


SETS = {"a.csv": "n0\n", "b.csv": "n1\n"}


def out(name, args, fragment, files=None, shared=CSV):
    return Case(f"outputs: {name}", args, fragment, files or {}, shared)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


CASES = [
    out("an unknown suffix", f"predict graph.csv {FAST} --out x.docx", "docx"),
    out("no suffix", f"predict graph.csv {FAST} --out x", "x"),
    out("a file in a file", f"predict graph.csv {FAST} --out graph.csv/x.csv", "graph.csv"),
    out("a name that is too long", f"predict graph.csv {FAST} --out {'x' * 300}.csv", "too long"),
    out("a place in /proc", f"predict graph.csv {FAST} --out /proc/x.csv", "/proc"),
    out("a run in a file", f"predict graph.csv {FAST} --run graph.csv", "graph.csv"),
    out("a run in a folder of others", f"predict graph.csv {FAST} --run d", "not a run", {"d/mine.txt": "x"}),
    out("fit into a file", "fit graph.csv --method cn --out graph.csv --quiet", "graph.csv"),
    out("fit into a folder of others", "fit graph.csv --method cn --out d --quiet", "not a run", {"d/mine.txt": "x"}),
    out("fit into a file in a file", "fit graph.csv --method cn --out graph.csv/r --quiet", "graph.csv"),
    out("fit into a loop", "fit graph.csv --method cn --out l --quiet", "l", {"l": loop}),
    out("fit into /proc", "fit graph.csv --method cn --out /proc/r --quiet", "/proc"),
    out("onto the graph", f"predict graph.csv {FAST} --out graph.csv", "graph.csv"),
    out("onto the graph by another path", f"predict graph.csv {FAST} --out ./graph.csv", "graph.csv"),
    out("onto the exclusions", f"predict graph.csv {FAST} --exclude e.csv --out e.csv", "e.csv", {"e.csv": "n0,n1\n"}),
    out("onto a set of nodes", f"predict graph.csv {FAST} --between a.csv b.csv --out b.csv", "b.csv", SETS),
    out("onto a folder", f"predict graph.csv {FAST} --out d.csv", "d.csv", {"d.csv": Path.mkdir}),
    out("onto a device", f"predict graph.csv {FAST} --out /dev/null", "/dev/null"),
    out("a page onto a folder", "report run --out d.html --quiet", "d.html", {"d.html": Path.mkdir}, ("run",)),
    out("a picture onto the graph", "explain g.svg n0 n1 --picture g.svg --quiet", "g.svg", {"g.svg": "a,b\nb,c\n"}),
    out("a picture onto a folder", "explain graph.csv n0 n1 --picture d.svg --quiet", "d.svg", {"d.svg": Path.mkdir}),
    out("a picture through a loop", "explain graph.csv n0 n1 --picture l.svg --quiet", "l.svg", {"l.svg": loop}),
    Case(
        "outputs: a report into a file",
        "report run --out graph.csv/x.html --quiet",
        "graph.csv",
        {},
        ("run", "graph.csv"),
    ),
]
