"""Options: unknown, misspelt, of the wrong kind, out of range, or in each other's way."""

from faults.case import Case

CSV = ("graph.csv",)
LONG = "9" * 5000


def graph(name, args, fragment, **more):
    """A case on the graph of the stock."""
    return Case(f"options: {name}", args, fragment, stock=CSV, **more)


NUMBERS = {
    "predict --method cn": ("--top", "--per-node", "--repeats", "--threads", "--seed", "--hide", "--min-score"),
    "evaluate --method cn": ("--threads", "--seed", "--parts", "--ratio", "--steps"),
    "estimate --method cn": ("--top", "--repeats", "--threads", "--seed", "--parts", "--ratio", "--steps"),
    "explain": ("--walks", "--threads"),
    "fit --out r --method cn": ("--seed", "--threads"),
    "tune --out r --method ac": ("--seed", "--threads"),
    "report": ("--top", "--parts", "--repeats", "--hide", "--seed", "--threads"),
    "reproduce paper/cora": ("--seeds", "--threads"),
}
WRONG = {"text": "many", "5,000 digits": LONG, "20 digits": "9" * 20, "nan": "nan", "nothing": "", "hex": "0x10"}
FINE = {("--min-score", "20 digits"), ("--hide", "")}


def numbers():
    """Every option that takes a number, with what is none or too large."""
    for command, options in NUMBERS.items():
        for option in options:
            for kind, value in WRONG.items():
                if (option, kind) in FINE or (option == "--min-score" and kind == "5,000 digits"):
                    continue
                word = command.split()[0]
                places = {"report": ("run",), "reproduce": (), "explain": ("graph.csv", "n0", "n1")}
                args = (*command.split(), *places.get(word, ("graph.csv",)), option, value)
                yield Case(f"numbers: {word} {option} {kind}", args, f"'{option}'", stock=CSV)


CASES = [
    *numbers(),
    graph("unknown", "predict graph.csv --colour red", "No such option '--colour'"),
    graph("misspelt", "predict graph.csv --metod cn", "--method"),
    graph("misspelt in evaluate", "evaluate graph.csv --metod cn", "--method"),
    graph("without its value", "predict graph.csv --top", "--top"),
    graph("two graphs", "predict graph.csv other.csv", "other.csv"),
    Case("options: no graph", "predict", "Missing argument 'GRAPH'"),
    Case("options: no graph to evaluate", "evaluate --method cn", "Missing argument 'GRAPH'"),
    Case("options: no run to report", "report", "Missing argument"),
    Case("options: no experiment", "reproduce", "Missing argument"),
    Case("options: no shell", "completion", "Missing argument"),
    Case("options: an unknown shell", "completion powershell", "powershell"),
    Case("options: an argument to methods", "methods cn", "cn"),
    Case("options: an argument to datasets", "datasets cora", "cora"),
    Case("options: an unknown option of datasets", "datasets --jsno", "--json"),
    Case("options: an unknown option of methods", "methods --jsno", "--json"),
    Case("options: an unknown command", "frobnicate", "No such command 'frobnicate'"),
    Case("options: a misspelt command", "predit g.csv", "'predict'"),
    Case("options: an unknown option before the command", "--verbose predict", "--verbose"),
    Case("options: a command of 5,000 letters", "x" * 5000, "No such command"),
    graph("hide 0", "predict graph.csv --method cn --hide 0", "'--hide'"),
    graph("hide 1", "predict graph.csv --method cn --hide 1", "'--hide'"),
    graph("hide too little", "predict graph.csv --method cn --hide 0.0001", "share"),
    graph("hide inf", "predict graph.csv --method cn --hide inf", "'--hide'"),
    graph("top 0", "predict graph.csv --method cn --top 0", "'--top'"),
    graph("top 1e12", "predict graph.csv --method cn --top 1000000000000", "'--top'"),
    graph("top 2.5", "predict graph.csv --method cn --top 2.5", "'--top'"),
    graph("negative top", "predict graph.csv --method cn --top -3", "'--top'"),
    graph("threads 0", "predict graph.csv --method cn --threads 0", "'--threads'"),
    graph("min-score inf", "predict graph.csv --method cn --min-score inf", "'--min-score'"),
    graph("ratios of nan", "evaluate graph.csv --method cn --ratios nan 0.1", "'--ratios'"),
    graph("one ratio", "evaluate graph.csv --method cn --ratios 0.1", "--ratios"),
    graph("negative ratios", "evaluate graph.csv --method cn --ratios -0.1 0.1", "ratios"),
    graph("ratios of more than all", "evaluate graph.csv --method cn --ratios 0.6 0.6", "ratios"),
    graph("ratios of nothing", "evaluate graph.csv --method cn --ratios 0 0", "hide"),
    graph("an unknown regime", "evaluate graph.csv --method cn --regime fair", "unbiased"),
    graph("parts 0", "evaluate graph.csv --method cn --regime partitioned --parts 0", "parts"),
    graph("parts more than nodes", "evaluate graph.csv --method cn --regime partitioned --parts 1000000", "parts"),
    graph("ratio 0", "evaluate graph.csv --method cn --regime biased --ratio 0", "ratio"),
    graph("ratio of too many", "evaluate graph.csv --method cn --regime biased --ratio 2000000000", "ratio"),
    graph("steps 0", "evaluate graph.csv --method ac --steps 0", "steps"),
    graph("an unknown dtype", "evaluate graph.csv --method ac --dtype float16", "float32"),
    graph("no method", "evaluate graph.csv", "--method"),
    graph("an unknown method", "evaluate graph.csv --method magic", "unknown method 'magic'"),
    graph("an empty method", "evaluate graph.csv --method ''", "unknown method"),
    graph("two methods to predict with", "predict graph.csv --method cn,aa", "one method"),
    graph("a method of 5,000 letters", f"predict graph.csv --method {'x' * 5000}", "unknown method"),
    graph("a dataset of 5,000 digits", f"predict {LONG}", "too long"),
    graph("for nobody", "predict graph.csv --method cn --for", "--for"),
    graph("for an unknown node", "predict graph.csv --method cn --for nobody", "nobody"),
    graph("for a node of 5,000 digits", f"predict graph.csv --method cn --for {LONG}", "unknown node"),
    graph("for and between", "predict graph.csv --method cn --between a b --for n0", "--between"),
    graph("between unknown sets", "predict graph.csv --method cn --between a=b c=d", "a"),
    graph("between one set", "predict graph.csv --method cn --between a", "--between"),
    graph("exclude nothing there", "predict graph.csv --method cn --exclude no.csv", "no.csv"),
    graph("exclude one column", "predict graph.csv --method cn --exclude x.csv", "x.csv", files={"x.csv": "a\nb\n"}),
    graph("exclude unknown nodes", "predict graph.csv --method cn --exclude x.csv", "zz", files={"x.csv": "zz,n0\n"}),
    graph("exclude an empty file", "predict graph.csv --method cn --exclude x.csv", "empty", files={"x.csv": ""}),
    graph("model and run", "predict graph.csv --model m --run r", "--run"),
    graph("model and method", "predict graph.csv --model m --method cn", "--model"),
    graph("model is not there", "predict graph.csv --model m", "m"),
    graph("model is a file", "predict graph.csv --model graph.csv", "graph.csv"),
    graph("config is not there", "predict graph.csv --config no.toml", "no.toml"),
    graph("an unknown device", "predict graph.csv --method gae --device abacus", "abacus"),
    graph("a device that is not there", "fit graph.csv --method gae --device cuda:99 --out r", "cuda"),
    graph("an option without =", "predict graph.csv --method ac --option steps", "NAME=VALUE"),
    graph("an option that does not exist", "predict graph.csv --method ac --option colour=red", "colour"),
    graph("an option of text", "predict graph.csv --method ac --option steps=many", "steps"),
    graph("an option of 20 digits", f"predict graph.csv --method ac --option steps={'9' * 20}", "steps"),
    graph("an option of 5,000 digits", f"predict graph.csv --method ac --option steps={LONG}", "steps"),
    graph("an option of a list", "predict graph.csv --method ac --option steps=[1]", "steps"),
    graph("an option of null", "predict graph.csv --method ac --option steps=null", "steps"),
    graph("an option that is true", "predict graph.csv --method ac --option steps=true", "steps"),
    graph(
        "an option nested deeply",
        ("predict", "graph.csv", "--method", "ac", "--option", "steps=" + "[" * 100_000),
        "nested too deeply",
    ),
    graph("an option of nan", "evaluate graph.csv --method katz --option beta=NaN", "beta"),
    graph("an option of infinity", "evaluate graph.csv --method katz --option beta=Infinity", "beta"),
    graph("a negative option", "evaluate graph.csv --method katz --option beta=-1", "beta"),
    graph("an option of another method", "evaluate graph.csv --method cn --option beta=1", "beta"),
    graph("an option of a method not asked", "evaluate graph.csv --method cn --option ac.steps=2", "ac"),
    graph("damping above 1", "evaluate graph.csv --method ppr --option damping=2", "damping"),
    graph("epochs negative", "fit graph.csv --method gae --option epochs=-1 --out r", "epochs"),
    graph("a learning rate of 0", "fit graph.csv --method gae --option learning_rate=0 --out r", "learning_rate"),
    graph("a log of heuristics", "fit graph.csv --method cn --log tensorboard --out r", "--log"),
    graph("an unknown log", "fit graph.csv --method gae --log paper --out r", "--log"),
    graph("fit without a folder", "fit graph.csv --method cn", "--out"),
    graph("tune without a folder", "tune graph.csv", "--out"),
    graph("estimate without a method", "estimate graph.csv", "--method"),
    graph("estimate of two methods", "estimate graph.csv --step predict --method cn,aa", "one method"),
    graph("estimate of an unknown step", "estimate graph.csv --step dance", "--step"),
    graph("estimate with settings of predict", "estimate graph.csv --method cn --config paper/cora", "--config"),
    graph("explain without a node", "explain graph.csv n0", "Missing argument 'V'"),
    graph("explain an unknown node", "explain graph.csv n0 nobody --quiet", "nobody"),
    graph("explain a node with itself", "explain graph.csv n0 n0 --quiet", "n0"),
    graph("explain 0 walks", "explain graph.csv n0 n1 --walks 0", "'--walks'"),
    graph("explain a picture of another kind", "explain graph.csv n0 n1 --picture x.png", ".svg"),
    graph("explain with two sources", "explain graph.csv n0 n1 --model m --method ac", "--model"),
]
