"""Settings files and experiments that cannot be read or say what no method knows."""

from pathlib import Path

from faults.case import Case

CSV = ("graph.csv",)


def config(name, text, fragment, command="predict graph.csv --quiet --config c.toml"):
    return Case(f"configurations: {name}", command, fragment, {"c.toml": text}, CSV)


def experiment(name, text, fragment):
    return Case(f"experiments: {name}", "reproduce c.toml --out r --quiet", fragment, {"c.toml": text})


RUN = '[run]\ndataset = "cora"\nsplit = "paper"\nseeds = 1\n'
MODEL = '[model]\nmethod = "cn"\n'

CASES = [
    config("empty", "", "[model]"),
    config("no table", "epochs = 5\n", "[model]"),
    config("a model that is a number", "model = 5\n", "[model]"),
    config("not TOML", "[model\n", "TOML"),
    config("JSON", '{"model": {}}', "TOML"),
    config("not UTF-8", b"\xff\xfe", "c.toml"),
    config("a key twice", "[model]\nepochs = 1\nepochs = 2\n", "TOML"),
    config("an unknown key", "[model]\ncolour = 1\n", "colour"),
    config("an unknown method", '[model]\nmethod = "magic"\n', "magic"),
    config("a method that is a number", "[model]\nmethod = 5\n", "method"),
    config("a method that is a list", '[model]\nmethod = ["cn"]\n', "method"),
    config("a word for a number", '[model]\nepochs = "many"\n', "epochs"),
    config("a negative number", "[model]\nepochs = -1\n", "epochs"),
    config("a float for a whole number", "[model]\nepochs = 1.5\n", "epochs"),
    config("nan", "[model]\nlearning_rate = nan\n", "learning_rate"),
    config("infinity", "[model]\nlearning_rate = inf\n", "learning_rate"),
    config("a date", "[model]\nepochs = 2020-01-01\n", "epochs"),
    config("a list", "[model]\nepochs = [1]\n", "epochs"),
    config("a table", "[model]\nepochs = {a = 1}\n", "epochs"),
    config("20 digits", f"[model]\nepochs = {'9' * 20}\n", "epochs"),
    config("5,000 digits", f"[model]\nepochs = {'9' * 5000}\n", "c.toml"),
    config("nested deeply", f"[model]\nepochs = {'[' * 100_000}\n", "nested too deeply"),
    config("nested tables", f"[model]\nepochs = {'{a=' * 5000}1{'}' * 5000}\n", "c.toml"),
    config("unset that is a number", "[model]\nunset = 5\n", "unset"),
    config("unset of numbers", "[model]\nunset = [5]\n", "unset"),
    config("unset of nothing known", '[model]\nunset = ["colour"]\n', "colour"),
    config("of another method", MODEL, "--config", "predict graph.csv --method aa --config c.toml"),
    config("fit: an unknown key", "[model]\ncolour = 1\n", "colour", "fit graph.csv --config c.toml --out r"),
    config("tune: an unknown key", "[model]\ncolour = 1\n", "colour", "tune graph.csv --config c.toml --out r"),
    config("evaluate: an unknown key", "[model]\ncolour = 1\n", "colour", "evaluate graph.csv --config c.toml"),
    config(
        "estimate: an unknown key",
        "[model]\ncolour = 1\n",
        "colour",
        "estimate graph.csv --step predict --config c.toml",
    ),
    Case("configurations: no file", "fit graph.csv --config no.toml --out r", "no.toml", {}, CSV),
    Case("configurations: a folder", "fit graph.csv --config d --out r", "d", {"d": Path.mkdir}, CSV),
    Case("configurations: none that ships", "fit graph.csv --config paper/atlantis --out r", "paper/cora", {}, CSV),
    experiment("no run", MODEL, "[run]"),
    experiment("no model", RUN, "[model]"),
    experiment("an unknown table", f"{RUN}{MODEL}[colour]\n", "colour"),
    experiment("a run that is a number", f"run = 5\n{MODEL}", "[run]"),
    experiment("an about that is a number", f"about = 5\n{RUN}{MODEL}", "[about]"),
    experiment("figures that are a number", f"reported = 5\n{RUN}{MODEL}", "[reported]"),
    experiment("seeds of text", f"{RUN.replace('1', chr(34) + 'x' + chr(34))}{MODEL}", "seeds"),
    experiment("no dataset", f'[run]\nsplit = "paper"\nseeds = 1\n{MODEL}', "dataset"),
    experiment("an unknown key", f"{RUN}colour = 1\n{MODEL}", "colour"),
    experiment("an unknown metric", f"{RUN}{MODEL}[reported]\nbeauty = {{ mean = 1 }}\n", "beauty"),
    experiment("a figure without a mean", f"{RUN}{MODEL}[reported]\nap = {{ std = 1 }}\n", "ap"),
    experiment("a figure that is text", f'{RUN}{MODEL}[reported]\nap = "good"\n', "ap"),
    experiment("a mean that is text", f'{RUN}{MODEL}[reported]\nap = {{ mean = "x" }}\n', "ap"),
    experiment("an unknown dataset", f"{RUN.replace('cora', 'atlantis')}{MODEL}", "atlantis"),
    experiment("0 seeds", f"{RUN.replace('1', '0')}{MODEL}", "seeds"),
    Case("experiments: none that ships", "reproduce paper/atlantis --out r", "paper/cora"),
]
