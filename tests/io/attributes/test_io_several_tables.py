"""Several attribute tables, and tables whose names stand on both sides of two kinds of nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato.cli import main
from gelato.errors import InputError
from gelato.io import read_attributes, read_graph
from gelato.io.formats import read_graph_and_notes


@pytest.fixture
def written(tmp_path):
    """Writes tables, each under its name; returns their paths."""

    def write(**tables):
        paths = [tmp_path / f"{name}.csv" for name in tables]
        for path, content in zip(paths, tables.values(), strict=True):
            path.write_text(content)
        return paths

    return write


def rows_of(graph):
    """The attributes of each node that are not 0, by their names."""
    x = graph.attributes.toarray() if isinstance(graph.attributes, csr_array) else graph.attributes
    names = graph.attribute_names.tolist()
    return {
        node: {name: value for name, value in zip(names, row, strict=True) if value}
        for node, row in zip(graph.names.tolist(), x.tolist(), strict=True)
    }


RATINGS = "user,film\n1,1\n1,2\n2,2\n3,1\n"


def test_one_table_for_each_kind(written):
    edges, users, films = written(
        e=RATINGS,
        users="user,age\n1,20.5\n2,30\n3,40\n4,50\n",
        films="film,year,genre\n1,1999.5,noir\n2,2001,epic\n3,7,noir\n",
    )
    for given_tables in ([users, films], [films, users]):
        graph, lines = read_graph_and_notes(edges, attributes=given_tables, scale="none", isolated="keep")
        assert rows_of(graph) == {
            **{"user:1": {"age": 20.5}, "user:2": {"age": 30}, "user:3": {"age": 40}, "user:4": {"age": 50}},
            "film:1": {"year": 1999.5, "genre=noir": 1},
            "film:2": {"year": 2001, "genre=epic": 1},
            "film:3": {"year": 7, "genre=noir": 1},
        }
        sides = dict(zip(graph.names.tolist(), graph.sides.tolist(), strict=True))
        assert (sides["user:4"], sides["film:3"]) == (0, 1)
        assert lines[1].count("nodes named by") == 2


def test_further_columns_for_the_same_nodes(written):
    edges, a, b = written(
        e="source,target\nann,bob\nbob,cem\n", a="id,age\nann,1.5\nbob,2\ncem,4\n", b="id,city\nbob,Oslo\nann,Rome\n"
    )
    graph, lines = read_graph_and_notes(edges, attributes=[a, b], scale="none")
    expected = {"ann": {"age": 1.5, "city=Rome": 1}, "bob": {"age": 2, "city=Oslo": 1}, "cem": {"age": 4}}
    assert rows_of(graph) == expected
    assert "b.csv: nodes named by id; 1 categorical column (city); 1 node not in it" in lines[1]
    assert rows_of(read_graph(edges, attributes=[read_attributes(a, scale="none"), b], scale="none")) == expected


def test_columns_of_one_name_are_told_apart_by_their_files(written):
    edges, users, films = written(e=RATINGS, users="user,size\n1,2.5\n2,3\n3,4\n", films="film,size\n1,9.5\n2,8\n")
    graph, lines = read_graph_and_notes(edges, attributes=[users, films], scale="none")
    assert graph.attribute_names.tolist() == ["users.size", "films.size"]
    assert "; in several tables, named after them: size" in lines[1]


@given(
    values=st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=4, max_size=4),
    scale=st.sampled_from(["none", "standard", "rank"]),
)
def test_two_tables_of_all_nodes_are_one_table_with_all_columns(tmp_path_factory, values, scale):
    folder = tmp_path_factory.mktemp("tables")
    header = {"a": "node,x\n", "b": "node,y\n", "ab": "node,x,y\n"}
    rows = {
        "a": [f"n{i},{x!r}" for i, (x, _) in enumerate(values)],
        "b": [f"n{i},{y!r}" for i, (_, y) in enumerate(values)],
    }
    rows["ab"] = [f"n{i},{x!r},{y!r}" for i, (x, y) in enumerate(values)]
    for name, held in rows.items():
        (folder / f"{name}.csv").write_text(header[name] + "\n".join(held) + "\n")
    (folder / "e.csv").write_text("source,target\nn0,n1\nn1,n2\nn2,n3\n")
    options = {"scale": scale, "kinds": {"x": "number", "y": "number"}}
    try:
        one = read_graph(folder / "e.csv", attributes=folder / "ab.csv", **options)
        two = read_graph(folder / "e.csv", attributes=[folder / "a.csv", folder / "b.csv"], **options)
    except InputError as error:
        assert "no column can be used" in str(error)
        return
    place = [one.attribute_names.tolist().index(name) for name in two.attribute_names.tolist()]
    x, y = (
        np.asarray(g.attributes.todense() if isinstance(g.attributes, csr_array) else g.attributes) for g in (one, two)
    )
    np.testing.assert_array_equal(x[:, place], y)
    assert (one.scaling is None) == (two.scaling is None)
    if one.scaling is not None:
        np.testing.assert_array_equal(one.scaling.undo(x)[:, place], two.scaling.undo(y))


def test_what_is_wrong_with_a_table_is_said_with_its_file(written):
    edges, users, films = written(e=RATINGS, users="user,age\n1,20.5\n2,30\n", films="film,year\n1,1999.5\n2,2001\n")
    with pytest.raises(InputError, match=r"e.csv, line 5: node 'user:3' is not in .*users.csv and .*films.csv"):
        read_graph(edges, attributes=[users, films])
    with pytest.raises(InputError, match=r"users.csv is given twice; name each table once \(--attributes\)"):
        read_graph(edges, attributes=[users, users])
    with pytest.raises(InputError, match="a kind is given for a column 'colour' that is not one of the attributes"):
        read_graph(edges, attributes=[users, films], kinds={"colour": "text"})
    kept = read_graph(edges, attributes=[users, films], missing="mean", scale="none", kinds={"year": "category"})
    assert rows_of(kept)["user:3"] == {"age": 25.25}
    assert "year=1999.5" in kept.attribute_names.tolist()


def test_the_command_joins_tables(written, capsys):
    edges, users, films = written(
        e=RATINGS, users="user,age\n1,20.5\n2,30\n3,40\n", films="film,year\n1,1999.5\n2,2001\n"
    )
    arguments = [
        "predict",
        str(edges),
        "--attributes",
        str(users),
        "--attributes",
        str(films),
        "--method",
        "pa",
        "--repeats",
        "0",
        "--top",
        "1",
    ]
    assert main(arguments) == 0
    assert "users.csv: nodes named by user (user:...)" in (said := capsys.readouterr().err)
    assert "films.csv: nodes named by film (film:...)" in said


@pytest.mark.parametrize("names", [("users", "films"), ("a", "b")])
def test_tables_of_equal_keys_are_told_apart_by_their_files_or_taken_one_for_each_kind(written, names):
    edges, *tables = written(e=RATINGS, **dict.fromkeys(names, "id,age\n1,20.5\n2,30\n3,40\n"))
    for order in (tables, tables[::-1]):
        graph = read_graph(edges, attributes=order, scale="none", isolated="keep")
        held = rows_of(graph)
        assert held["user:1"] == {f"{order[0].stem if names[0] == 'a' else 'users'}.age": 20.5}
        assert held["film:2"] == {f"{order[1].stem if names[0] == 'a' else 'films'}.age": 30}
        assert graph.n == 6


FLAVOURS = (
    "ingredient,compound\n" + "".join(f"food{i},mol{i % 7}\n" for i in range(20)) + "farnesol,mol1\nfood3,farnesol\n"
)


def test_one_name_on_both_sides_does_not_detach_a_table_of_one_kind(written):
    edges, table = written(
        e=FLAVOURS, t="compound,mass\nfarnesol,222.5\n" + "".join(f"mol{i},{i}.5\n" for i in range(7))
    )
    graph = read_graph(edges, attributes=table, scale="none")
    assert graph.n == 21 + 8
    held = rows_of(graph)
    assert held["compound:farnesol"] == {"mass": 222.5}
    assert held["ingredient:farnesol"] == {}
    assert all(held[f"compound:mol{i}"] == {"mass": i + 0.5} for i in range(7))


def test_one_name_on_both_sides_keeps_its_row_in_a_table_of_both_kinds(written):
    names = [f"food{i}" for i in range(20)] + [f"mol{i}" for i in range(7)] + ["farnesol"]
    edges, table = written(e=FLAVOURS, t="name,mass\n" + "".join(f"{name},{i + 1}.5\n" for i, name in enumerate(names)))
    graph = read_graph(edges, attributes=table, scale="none")
    assert graph.n == 21 + 8
    held = rows_of(graph)
    assert all(held.values())
    assert held["compound:farnesol"] == held["ingredient:farnesol"] == {"mass": 28.5}
    assert held["compound:mol2"] == {"mass": 23.5}
