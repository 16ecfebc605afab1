"""Pictures: well-formed, without anything from outside, names escaped, links drawn by what they are."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.explain import explain_all
from gelato.explain.drawing import PICTURE_WIDTH
from gelato.graph import Graph
from gelato.methods.heuristics.neighborhood import katz
from gelato.scores.autocovariance import autocovariance
from graphs import path, random_graph

SVG = "{http://www.w3.org/2000/svg}"


def drawn(scores, graph, u, v, **options):
    return ElementTree.fromstring(explain_all(scores, graph, [(u, v)], **options)[0].svg())


def texts(root):
    return [text.text for text in root.iter(f"{SVG}text")]


def boxes(root):
    """Where each text is, about: 7.2 pixels a letter at 13 pixels, bold a little more."""
    found = []
    for text in root.iter(f"{SVG}text"):
        width = (8.2 if "bold" in text.get("style") else 7.2) * len(text.text)
        x, y = float(text.get("x")), float(text.get("y"))
        x -= {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
        found.append((x, x + width, y - 11, y + 3))
    return found


def overlaps(root):
    every = boxes(root)
    return [
        (a, b)
        for i, a in enumerate(every)
        for b in every[i + 1 :]
        if a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
    ]


@given(seed=st.integers(0, 10_000), directed=st.booleans(), loops=st.sampled_from(["isolated", "all"]))
@settings(max_examples=60)
def test_every_explanation_can_be_drawn_inside_its_frame(seed, directed, loops):
    graph = random_graph(seed, directed=directed)
    root = drawn(autocovariance(graph, self_loops=loops), graph, 0, graph.n - 1)
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width == PICTURE_WIDTH
    for circle in root.iter(f"{SVG}circle"):
        assert 0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height
    assert all(
        left >= 0 and right <= width and top >= 0 and bottom <= height for left, right, top, bottom in boxes(root)
    )
    styles = [part.get("style", "") for part in root.iter()]
    assert not any("url(" in style for style in styles)
    assert {part.tag.removeprefix(SVG) for part in root.iter()} <= {
        *("svg", "title", "path", "g", "circle", "text", "polygon"),
    }
    assert not any(name.endswith("href") or name.startswith("on") for part in root.iter() for name in part.attrib)


def test_names_cannot_bring_markup_in():
    names = ["<script>alert(1)</script>", '"onload="x', "a & b", "\x00\x1b[31m]]>", "'"]
    graph = Graph.from_edges([(0, 2), (2, 1), (2, 3), (3, 4)], names=names)
    found = explain_all(katz(graph), graph, [(0, 1)])[0].svg()
    assert "<script" not in found and "\x00" not in found and "\x1b" not in found
    root = ElementTree.fromstring(found)
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert names[0] in titles and names[1] in titles and names[2] in titles
    assert "a & b" in texts(root)
    ElementTree.fromstring(explain_all(katz(graph), graph, [(3, 4)])[0].svg())


def test_long_names_are_shortened_and_whole_in_the_title():
    names = [f"a-very-long-name-of-a-node-number-{i}" for i in range(9)]
    edges = [(0, a) for a in range(2, 5)] + [(a, a + 3) for a in range(2, 5)] + [(a, 1) for a in range(5, 8)]
    graph = Graph.from_edges(edges, 9, names=names)
    root = drawn(autocovariance(graph), graph, 0, 1)
    assert not set(names) & set(texts(root))
    assert set(names[:8]) <= {title.text for title in root.iter(f"{SVG}title")}
    short = [text for text in texts(root) if "…" in text]
    assert len(set(short)) == 8 and all(len(text) <= 19 for text in short)  # their ends tell them apart
    assert overlaps(root) == []


@pytest.mark.parametrize("middle", range(1, 6))
def test_labels_of_lanes_do_not_overlap(middle):
    names = [f"node-{i}-with-quite-a-name" for i in range(2 + middle)]
    graph = Graph.from_edges([(a, b) for a in (0, 1) for b in range(2, 2 + middle)] + [(0, 1)], names=names)
    root = drawn(autocovariance(graph, self_loops="all"), graph, 0, 1)
    assert overlaps(root) == []


def test_links_made_by_attributes_are_dashed():
    seen = Graph.from_edges([(0, 2), (3, 4)], 5)
    walked = Graph.from_edges([(0, 2), (2, 1), (3, 4)], 5)
    root = ElementTree.fromstring(explain_all(katz(walked), seen, [(0, 1)])[0].svg())
    lines = {
        path.find(f"{SVG}title").text: path.get("style")
        for path in root.iter(f"{SVG}path")
        if path.find(f"{SVG}title") is not None
    }
    assert set(lines) == {"0 and 2: observed link, weight 1", "1 and 2: similar attributes, weight 1"}
    assert "dasharray" in lines["1 and 2: similar attributes, weight 1"]
    assert "dasharray" not in lines["0 and 2: observed link, weight 1"]
    assert {"observed link", "similar attributes", "100%"} <= set(texts(root))
    plain = drawn(katz(walked), walked, 0, 1)
    assert "similar attributes" not in texts(plain)


def test_heavier_routes_are_thicker_and_shares_are_told():
    graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], weights=[2.0, 2.0, 1.0, 1.0])
    root = drawn(katz(graph), graph, 0, 1)
    width = {
        line.find(f"{SVG}title").text.split(":")[0]: float(line.get("style").split("stroke-width:")[1].split(";")[0])
        for line in root.iter(f"{SVG}path")
        if line.find(f"{SVG}title") is not None
    }
    assert width["0 and 2"] == width["1 and 2"] > width["0 and 3"] == width["1 and 3"]
    assert {"80%", "20%", "2 walks of up to 3 steps join them"} <= set(texts(root))


def test_a_directed_link_ends_in_an_arrow_and_no_walk_draws_two_nodes():
    graph = Graph.from_edges([(0, 2), (2, 1)], directed=True)
    assert len(list(drawn(katz(graph), graph, 0, 1).iter(f"{SVG}polygon"))) == 2
    empty = drawn(autocovariance(path(9)), path(9), 0, 8)
    assert len(list(empty.iter(f"{SVG}circle"))) == 2 and not list(empty.iter(f"{SVG}path"))
    assert "no walk of 3 steps joins them" in texts(empty)


def test_walks_over_other_nodes_are_counted():
    graph = Graph.from_edges([(a, b) for a in (0, 1) for b in range(2, 12)])
    root = drawn(katz(graph, steps=2), graph, 0, 1, limit=4)
    assert "10 walks of up to 2 steps join them; 60% of the walks take other routes" in texts(root)
    assert len(list(root.iter(f"{SVG}circle"))) == 6
    assert np.isclose(float(root.get("viewBox").split()[3]), 34 + 4 * 58 + 62)
