"""Names that would command a terminal or break the line."""

from faults.case import Case

GOOD = "a,b\nb,c\nc,d\nd,a\na,c\n"
HOSTILE = {
    "an escape": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "a bell": "ding\x07",
    "a backspace": "x\b\b\b",
    "a carriage return": "x\rgelato: fine",
    "a line": "x\ngelato: fine",
    "a control of the second kind": "x\x9b31m",
    "a right-to-left override": "x\u202egnp",
    "an isolate": "x\u2066y\u2069",
    "a line separator": "x\u2028y",
    "a delete": "x\x7f",
}


def hostile():
    """Every place where a name comes back in a message."""
    for kind, name in HOSTILE.items():
        yield Case(f"names: {kind} as a file", ("predict", f"{name}.csv", "--method", "cn"), "no such file")
        yield Case(
            f"names: {kind} as a node",
            ("explain", "graph.csv", "n0", name, "--quiet"),
            "unknown node",
            {},
            ("graph.csv",),
        )
        yield Case(
            f"names: {kind} as a method",
            ("predict", "graph.csv", "--method", name),
            "unknown method",
            {},
            ("graph.csv",),
        )
        yield Case(
            f"names: {kind} as an option", ("predict", "graph.csv", f"--{name}"), "No such option", {}, ("graph.csv",)
        )
        yield Case(f"names: {kind} as a command", (name,), "No such command")
        yield Case(
            f"names: {kind} as a column",
            ("predict", "g.csv", "--weight", name, "--method", "cn"),
            "g.csv",
            {"g.csv": GOOD},
        )


CASES = [
    *hostile(),
    Case(
        "names: a node of 5,000 digits",
        ("explain", "graph.csv", "n0", "9" * 5000, "--quiet"),
        "unknown node",
        {},
        ("graph.csv",),
    ),
    Case("names: a surrogate", ("predict", "x\udcff.csv", "--method", "cn"), "no such file"),
]
