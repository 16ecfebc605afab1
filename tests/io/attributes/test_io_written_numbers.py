"""Cells that people read at once: decimal commas, dates, lists, 1 and blanks, labels, links, repeated rows."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io import from_pandas, read_attributes, read_graph
from gelato.io.formats import read_graph_and_notes
from gelato.io.tables.cells import list_items


@pytest.fixture
def table(tmp_path):
    """Reads the table with this content."""

    def read(content, name="nodes.csv", **options):
        (tmp_path / name).write_text(content)
        return read_attributes(tmp_path / name, **({"scale": "none"} | options))

    return read


def values(attributes, name):
    """The column of an attribute, by its name."""
    matrix = attributes.matrix.toarray() if isinstance(attributes.matrix, csr_array) else attributes.matrix
    return matrix[:, attributes.columns.tolist().index(name)].tolist()


def german(cents):
    """A number of cents as 1.234,56."""
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))


@given(cents=st.lists(st.integers(-(10**10), 10**10), min_size=2, max_size=8), blank=st.booleans())
def test_decimal_commas_and_dots_between_thousands(tmp_path_factory, cents, blank):
    path = tmp_path_factory.mktemp("german") / "nodes.csv"
    rows = [f"n{i};{german(number)};{i}" for i, number in enumerate(cents)] + [f"m;{'' if blank else '0,00'};1"]
    path.write_text("node;price;x\n" + "\n".join(rows) + "\n")
    got = read_attributes(path, scale="none", kinds={"x": "drop"}, missing="zero")
    assert values(got, "price") == [number / 100 for number in cents] + [0]
    assert "decimal commas: price (--kind price=category keeps the text)" in str(got.notes)


def test_a_column_of_dots_is_one_of_thousands_only_beside_decimal_commas(table):
    rows = "node;price;sold\na;6,53;1.234\nb;7;12.500\nc;1.000,5;999\n"
    got = table(rows)
    assert values(got, "price") == [6.53, 7, 1000.5]
    assert values(got, "sold") == [1234, 12500, 999]
    assert values(table(rows.replace("6,53", "6").replace("1.000,5", "9")), "sold") == [1.234, 12.5, 999]
    assert "price=6,53" in table(rows, kinds={"price": "category"}).columns.tolist()


def test_commas_between_thousands_in_files_of_other_delimiters(table):
    got = table('node,people\na,"1,234"\nb,"12,500,000"\nc,7\n')
    assert values(got, "people") == [1234, 12_500_000, 7]
    assert "commas between thousands: people" in str(got.notes)
    assert values(table("node\tprice\na\t6,5\nb\t1,25\n", "nodes.tsv"), "price") == [6.5, 1.25]
    assert values(table("node;size\na;1,234\nb;2,500\n"), "size") == [1.234, 2.5]


def test_what_is_not_written_in_one_way_is_no_number(table):
    got = table("node;x\na;6,5\nb;0.5\nc;6,5\n")
    assert got.columns.tolist() == ["x=0.5", "x=6,5"]
    assert table('node,x\na,"1,2,3"\nb,"4,5"\n').columns.tolist() == ["x=1,2,3", "x=4,5"]


@given(days=st.lists(st.integers(-20_000, 20_000), min_size=1, max_size=6))
def test_dates_count_days(tmp_path_factory, days):
    path = tmp_path_factory.mktemp("dates") / "nodes.csv"
    dates = [date(1970, 1, 1) + timedelta(days=day) for day in days]
    rows = "".join(f"n{i},{d.day}.{d.month:02}.{d.year},{d.isoformat()}\n" for i, d in enumerate(dates))
    path.write_text("node,born,since\n" + rows)
    got = read_attributes(path, scale="none")
    if len(set(days)) == 1 and "born" not in got.columns.tolist():
        return
    assert values(got, "born") == values(got, "since") == days
    assert "dates as days: born, since (--kind born=category keeps the text)" in str(got.notes)


def test_a_day_that_does_not_exist_is_no_date(table):
    assert table("node,born\na,31.02.2020\nb,1.2.2020\n").columns.tolist() == ["born=1.2.2020", "born=31.02.2020"]


def test_weights_and_times_of_links_are_read_so_too(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("von;nach;weight;time\na;b;6,53;31.12.2019\nb;c;1.200,5;1.2.2020 12:30\n")
    graph, lines = read_graph_and_notes(path)
    assert sorted(graph.adjacency.data.tolist()) == [6.53, 6.53, 1200.5, 1200.5]
    moments = [datetime(2019, 12, 31, tzinfo=UTC), datetime(2020, 2, 1, 12, 30, tzinfo=UTC)]
    assert graph.times.tolist() == [moment.timestamp() for moment in moments]
    assert "weights with decimal commas" in lines[0]
    assert "times written as day.month.year" in lines[0]
    path.write_text("a;b;6,53\nb;c;7,5\n")  # no header, and commas in every row
    assert sorted(set(read_graph(path, weight=2).adjacency.data.tolist())) == [6.53, 7.5]
    path.write_text("source;target;weight\na;b;6,53\nb;c;much\n")
    with pytest.raises(InputError, match="line 2: weight '6,53' is not a number"):
        read_graph(path)


def test_lists_have_an_attribute_for_each_item(table):
    rows = "node\tneeds\na\t['six', 'attrs']\nb\t[]\nc\t['attrs']\nd\t['six', 'two words']\n"
    got = table(rows, "nodes.tsv")
    assert got.columns.tolist() == ["needs=attrs", "needs=six", "needs=two words"]
    assert values(got, "needs=six") == [1, 0, 0, 1]
    assert "lists in needs (--kind needs=category keeps the text)" in str(got.notes)
    assert "needs=[]" in table(rows, "nodes.tsv", kinds={"needs": "category"}).columns.tolist()
    like = table("node\tneeds\na\t['six']\nb\t['new', 'attrs']\n", "n.tsv", like=got.columns.tolist())
    assert like.columns.tolist() == ["needs=attrs", "needs=new", "needs=six"]


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("['a', 'b c']", ["a", "b c"]),
        ('["it\'s", "x"]', ["it's", "x"]),
        ("[1, 2, 1]", ["1", "2"]),
        ("[a,b]", ["a", "b"]),
        ("[]", []),
        ("plain, text", ["plain, text"]),
        ("[" * 5000 + "]", ["[" * 4999]),
    ],
)
def test_items_of_lists(cell, items):
    assert list_items(cell) == items


def test_one_and_blanks_are_one_and_zero(table):
    rows = "node,vip,x\na,1,1.5\nb,,2\nc,1,3\n"
    got = table(rows)
    assert values(got, "vip") == [1, 0, 1]
    assert "1 cell of vip (0, as all others are 1; --missing category marks them)" in str(got.notes)
    assert values(table(rows, missing="mean"), "vip") == [1, 1, 1]
    assert values(table(rows.replace("c,1", "c,2")), "vip") == [1, 1.5, 2]


def test_a_label_equal_to_the_name_is_left_out(table):
    rows = "Id,Label,x\nAnn Lee,ann lee,1\nBob Ray,Bob Ray,2.5\n"
    got = table(rows)
    assert got.columns.tolist() == ["x"]
    assert got.notes.left_out == (("Label", "the names of the nodes; --kind Label=text keeps them"),)
    assert "Label:lee" in table(rows, kinds={"Label": "text"}).columns.tolist()
    assert "Label:lee" in table(rows.replace("Bob Ray,Bob Ray", "Bob Ray,Bob")).columns.tolist()


def test_links_that_repeat_are_left_out_if_there_are_many(table):
    def rows(count):
        return "node,home,x\n" + "".join(f"n{i},https://x.org/{i % count},{i}.5\n" for i in range(120))

    got = table(rows(60))
    assert got.columns.tolist() == ["x"]
    assert got.notes.left_out == (("home", "60 different links; --kind home=category keeps them"),)
    assert len(table(rows(60), kinds={"home": "category"}).columns) == 61
    assert len(table(rows(10)).columns) == 11


def test_rows_that_repeat_exactly_are_dropped_and_counted(table):
    got = table("node,x,c\na,1.5,u\nb,2,v\na,1.5,u\na,1.5,u\n")
    assert got.names.tolist() == ["a", "b"]
    assert values(got, "x") == [1.5, 2]
    assert str(got.notes).endswith("dropped 2 repeated rows")
    with pytest.raises(InputError, match="line 4: node 'a' is already in line 2; keep one of the rows"):
        table("node,x,c\na,1.5,u\nb,2,v\na,1.5,w\na,1.5,u\n")
    with pytest.raises(InputError, match="line 5: node 'b' is already in line 4"):
        table("node,x,c\na,1.5,u\na,1.5,u\nb,2,v\nb,3,v\n")


def test_frames_are_read_so_too():
    pandas = pytest.importorskip("pandas")
    links = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pandas.DataFrame(
        {"node": ["a", "b", "c", "c"], "x": ["6,5", "7,25", "1", "1"], "tags": ["['u']", "[]", "['v']", "['v']"]}
    )
    graph = from_pandas(links, nodes, scale="none")
    lists = nodes.drop(index=3).assign(tags=[["u"], [], ["v"]])
    assert from_pandas(links, lists, scale="none").attribute_names.tolist() == ["x", "tags=u", "tags=v"]
    assert graph.attribute_names.tolist() == ["x", "tags=u", "tags=v"]
    np.testing.assert_array_equal(
        np.asarray(graph.attributes.todense() if isinstance(graph.attributes, csr_array) else graph.attributes)[:, 0],
        [6.5, 7.25, 1],
    )
