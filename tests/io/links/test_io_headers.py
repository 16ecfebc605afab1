"""Headers of lists of links: names of columns that no other row knows, and comments above the rows."""

import pytest

from gelato.errors import InputError
from gelato.io import read_graph
from gelato.io.formats import read_graph_and_notes


@pytest.fixture
def said(tmp_path):
    """Reads the list of links with this content: the graph, and what is said about it."""

    def read(content, name="e.csv", nodes=None, **options):
        (tmp_path / name).write_text(content)
        if nodes is not None:
            (tmp_path / "nodes.csv").write_text(nodes)
            options["attributes"] = tmp_path / "nodes.csv"
        graph, lines = read_graph_and_notes(tmp_path / name, **options)
        return graph, lines[0]

    return read


BREW = "formula,depends_on\nwget,openssl\ncurl,openssl\ngit,curl\nhttpie,python\npython,openssl\n"


def test_words_of_no_other_row_are_a_header_and_it_is_said(said):
    graph, line = said(BREW)
    assert (graph.n, graph.m) == (7 - 1, 5)
    assert "formula" not in graph.names.tolist()
    assert "source = formula, target = depends_on" in line
    assert "line 1 (formula, depends_on) is taken for column names (--no-header reads it as a link)" in line
    assert said(BREW, header=False)[0].m == 6


def test_a_word_that_occurs_again_is_a_node(said):
    graph, line = said("wget,openssl\n" + BREW.partition("\n")[2].replace("wget", "jq"))
    assert "wget" in graph.names.tolist()
    assert "header" not in line


def test_a_first_row_like_many_others_is_a_link_and_it_is_said(said):
    graph, line = said("ann,bob\ncem,dan\neve,flo\n")
    assert graph.m == 3
    assert "line 1 (ann, bob) is read as a link (--header reads it as column names)" in line


def test_columns_of_the_attribute_table_make_the_header_certain(said):
    edges, nodes = (
        "formula,needs\na,b\nc,d\ne,f\n",
        "formula,size\n" + "".join(f"{name},{ord(name)}\n" for name in "abcdef"),
    )
    graph, line = said(edges, nodes=nodes)
    assert sorted(graph.names) == list("abcdef")
    assert "source = formula, target = needs" in line
    assert "line 1" not in line


def test_a_node_of_the_attribute_table_is_no_header(said):
    edges, names = "ann,bob\ncem,dan\ncem,eve\ncem,flo\ndan,eve\n", ["ann", "bob", "cem", "dan", "eve", "flo"]
    assert "taken for column names" in said(edges)[1]
    graph, line = said(edges, nodes="node,age\n" + "".join(f"{name},{i}.5\n" for i, name in enumerate(names)))
    assert graph.m == 5
    assert "column names" not in line


def test_a_third_column_whose_word_repeats_shows_a_link(said):
    rows = "a,b,likes\na,d,likes\nc,d,likes\nc,e,hates\nd,e,likes\n"
    assert said(rows)[0].m == 5
    assert said("who,whom,how\n" + rows)[0].m == 5
    assert said("x,y,likes\n" + rows)[0].m == 6


@pytest.mark.parametrize(
    ("name", "content", "roles"),
    [
        ("e.csv", "#ingredient,compound\na,b\na,c\nd,c\n", "source = ingredient, target = compound"),
        ("e.tsv", "# FromNodeId\tToNodeId\n1\t2\n2\t3\n", "source = FromNodeId, target = ToNodeId"),
        ("e.txt", "# a graph of friends\n# source target\n1 2\n2 3\n", "source = source, target = target"),
        ("e.txt", "#user item rating\n1 1 5\n2 1 3\n", "source = user, target = item"),
        ("e.csv", "#target,source,weight\n1,2,5\n2,3,6\n", "source = source, target = target, weight = weight"),
    ],
)
def test_a_comment_directly_above_the_rows_with_as_many_fields_is_a_header(said, name, content, roles):
    graph, line = said(content, name)
    assert roles in line
    assert "names the columns (--no-header ignores it)" in line
    assert graph.m == content.count("\n") - content.count("#")
    assert "column 1" in said(content, name, header=False)[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.txt", "# directed graph\n1 2\n2 3\n"),
        ("e.txt", "# node list\n1 2\n2 3\n"),
        ("e.csv", "# made by hand, twice\nsource,target\n1,2\n2,3\n"),
        ("e.csv", "# source,target\n\n1,2\n2,3\n"),
        ("e.csv", "# source,target,weight\n1,2\n2,3\n"),
        ("e.csv", "# 5,6\n1,2\n2,3\n"),
        ("e.csv", '# "open,target\n1,2\n2,3\n'),
    ],
)
def test_other_comments_are_no_headers(said, name, content):
    graph, line = said(content, name)
    assert graph.names.tolist() == ["1", "2", "3"]
    assert "the comment" not in line


def test_the_lines_of_errors_stay_right_below_a_header_that_was_found(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(BREW + "\nonly\n")
    with pytest.raises(InputError, match="line 8: the number of columns is 1"):
        read_graph(path)
    path.write_text("\n" + BREW + ",x\n")
    with pytest.raises(InputError, match="line 8: a node has no name"):
        read_graph(path)
