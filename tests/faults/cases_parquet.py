"""Parquet files that cannot be read or hold what is no edge list."""

from datetime import datetime

from faults.case import Case


def table(**columns):
    """Writes a parquet file."""

    def write(path):
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    return write


def half(path):
    table(source=list("abcd"), target=list("bcda"))(path)
    path.write_bytes(path.read_bytes()[:-40])


def bad(name, content, fragment, options=""):
    return Case(
        f"parquet: {name}", f"predict g.parquet --method cn --quiet {options}", fragment, {"g.parquet": content}
    )


CASES = [
    bad("no bytes", b"", "g.parquet"),
    bad("text", "a,b\n", "parquet"),
    bad("half", half, "g.parquet"),
    bad("only its mark", b"PAR1PAR1", "g.parquet"),
    bad("no rows", table(source=[], target=[]), "g.parquet"),
    bad("one column", table(source=["a", "b"]), "column"),
    bad("nodes that are missing", table(source=["a", None], target=["b", "c"]), "g.parquet"),
    bad("nodes that are lists", table(source=[[1], [2]], target=[[2], [3]]), "g.parquet"),
    bad("weights that are missing", table(source=["a", "b"], target=["b", "c"], weight=[1.0, None]), "weight"),
    bad("weights of text", table(source=["a", "b"], target=["b", "c"], weight=["x", "y"]), "g.parquet"),
    bad("negative weights", table(source=["a", "b"], target=["b", "c"], weight=[1.0, -1.0]), "weight"),
    bad(
        "times that are missing", table(source=["a", "b"], target=["b", "c"], time=[datetime(2020, 1, 1), None]), "time"
    ),
    bad("an unknown column", table(source=["a", "b"], target=["b", "c"]), "nope", "--weight nope"),
    bad("only loops", table(source=["a", "b"], target=["a", "b"]), "self-loops"),
]
