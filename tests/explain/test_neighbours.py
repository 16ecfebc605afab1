"""Explanations by neighbours: which are named, words, JSON and pictures; and a kind of explanation of one's own."""

import json
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest

from gelato import Graph, Heuristic
from gelato.explain import PairExplanation
from gelato.explain.contract import signed_percent
from gelato.explain.drawing import PICTURE_WIDTH
from gelato.explain.neighbours import NeighbourExplanation, clearest_explanation
from gelato.prediction.suggest import with_reasons

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["ann", "bob", "<b>&cat", "dan", "eve", "fay"]
GRAPH = Graph.from_edges([(1, 2), (1, 3), (1, 4), (0, 5)], names=NAMES)


def explained(values=(0.1, 0.5, 0.3, -0.08), nodes=(1, 2, 3, 4), score=0.84, around=1, limit=3, graph=GRAPH):
    like = np.linspace(0.9, -0.3, len(values))
    sums = {"around": around, "nodes": np.array(nodes), "values": np.array(values), "resemblance": like, "limit": limit}
    return NeighbourExplanation(graph=graph, pair=(0, 1), score=score, linked=False, **sums)


def test_listed_neighbours_others_and_the_remainder_make_the_score():
    explanation = explained()
    assert [part.node for part in explanation.neighbours] == [2, 3, 1]
    assert [part.share for part in explanation.neighbours] == pytest.approx([0.5, 0.3, 0.1])
    assert (explanation.rest, explanation.remainder) == pytest.approx((-0.08, 0.02))
    assert explanation.lines() == [
        "ann and bob: score 0.84",
        "neighbours of bob that resemble ann: <b>&cat (50%), dan (30%)",
        "",
        "the score is a sum over the 3 neighbours of bob and bob itself, each counted by how much it resembles ann:",
        "         0.5   50%  <b>&cat     resemblance 0.50",
        "         0.3   30%  dan         resemblance 0.10",
        "         0.1   10%  bob itself  resemblance 0.90",
        "       -0.08   -8%  1 other",
        "        0.02    2%  remainder, because the method is approximate",
        "",
        "0.9 (the nodes above) - 0.08 (others) + 0.02 (remainder) = 0.84",
    ]


def test_json_holds_every_part_by_name():
    told = json.loads(json.dumps(explained().as_json()))
    assert (told["pair"], told["neighbours_of"], told["resembling"]) == (["ann", "bob"], "bob", "ann")
    assert [part["node"] for part in told["neighbours"]] == ["<b>&cat", "dan", "bob"]
    assert (told["number_of_neighbours"], told["self_loop"], told["supporting"]) == (3, True, 2)
    assert {"score", "rank", "tied", "candidates", "linked", "same_side", "rest", "remainder", "magnitude"} <= set(told)


def test_a_reason_does_not_depend_on_how_many_neighbours_are_listed():
    assert len({explained(limit=limit).reason() for limit in (1, 2, 9)}) == 1
    assert explained((0.1, 0.3, 0.3, 0.3), score=1.0).reason().endswith("<b>&cat (30%), dan (30%) and 1 more")


def test_what_differs_by_rounding_comes_in_the_order_of_nodes():
    assert [part.node for part in explained((0.1, 0.3, 0.3 + 1e-15, 0.2)).neighbours[:2]] == [2, 3]


def test_no_neighbour_need_resemble_the_other_end():
    assert explained((0.1, 0.0, 0.0, -0.2), score=-0.1).reason() == "bob has no neighbour that resembles ann"
    assert explained((), nodes=(), score=0.0).reason() == "bob has no neighbour"


def test_the_clearest_sum_names_the_larger_share_and_a_remainder_counts_against_it():
    few = explained([0.0, 0.5, 0.4, 0.1], score=1.0)
    many = explained([0.25, 0.25, 0.25, 0.25], score=1.0, around=0, nodes=(2, 3, 4, 5))
    assert clearest_explanation([few, many]) is few and clearest_explanation([many, few]) is few
    loose = explained([0.0, 0.5, 0.4, 0.1], score=4.0)
    assert clearest_explanation([loose, many]) is many
    assert (
        clearest_explanation([few, explained([0.0, 0.5, 0.4, 0.1 + 1e-14], score=1.0 + 1e-14)]) is not few
    )  # equals: the second end


@pytest.mark.parametrize(
    ("share", "words"), [(0.34, "34%"), (-0.34, "-34%"), (-0.001, "<1%"), (0.999, ">99%"), (1.0, "100%"), (0.0, "0%")]
)
def test_shares_are_read_with_their_sign(share, words):
    assert signed_percent(share) == words


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("around", [0, 1])
def test_the_picture_shows_each_listed_neighbour_that_adds(directed, around):
    graph = Graph.from_edges(GRAPH.edges, GRAPH.n, names=NAMES, directed=directed)
    root = ElementTree.fromstring(explained(limit=9, graph=graph, around=around).svg())
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width == PICTURE_WIDTH
    places = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in root.iter(f"{SVG}circle")]
    assert len(places) == 4 and all(0 < x < width and 0 < y < height for x, y in places)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"ann", "bob", "<b>&cat", "dan", "50%", "30%", "observed link", "resemblance"} <= set(texts)
    assert "eve" not in texts
    dashed = [path for path in root.iter(f"{SVG}path") if "dasharray" in path.get("style") and len(path)]
    assert [path[0].text for path in dashed] == [
        f"{name} resembles {NAMES[1 - around]}: {like}" for name, like in (("dan", "0.10"), ("<b>&cat", "0.50"))
    ]
    assert len(list(root.iter(f"{SVG}polygon"))) == (2 if directed else 0)


def test_nothing_to_draw_is_drawn_too():
    root = ElementTree.fromstring(explained((), nodes=(), score=0.0).svg())
    assert len(list(root.iter(f"{SVG}circle"))) == 2


@dataclass(frozen=True, eq=False, kw_only=True)
class Degrees(PairExplanation):
    """A made-up kind: contributions of features, followed by another explanation of the pair."""

    degrees: tuple[int, int]
    walks: PairExplanation

    def reason(self):
        return f"{self.degrees[0]} and {self.degrees[1]} links; {self.walks.reason()}"

    def lines(self):
        return [self.reason(), *self.walks.lines()]

    def svg(self):
        return self.walks.svg()


class ByDegrees(Heuristic):
    """A heuristic that explains in its own way."""

    def explainer(self):
        walks, degrees, scores = super().explainer(), np.diff(self.graph_.adjacency.indptr), self.scores()

        def explain(pairs, limit):
            return [
                Degrees(
                    graph=self.graph_,
                    pair=each.pair,
                    score=float(scores.pairs(np.array([each.pair]))[0]),
                    linked=each.linked,
                    degrees=tuple(degrees[list(each.pair)].tolist()),
                    walks=each,
                )
                for each in walks(pairs, limit)
            ]

        return explain


def test_a_predictor_explains_in_its_own_way():
    graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], names=NAMES[:4])
    model = ByDegrees("cn").fit(graph)
    links = with_reasons(model, model.suggest(1, repeats=0, reasons=False))
    assert links.reasons == ["2 and 2 links; both linked to <b>&cat (50% of the walks)"]
    explanation = model.explain("ann", "bob")
    assert (explanation.rank, explanation.tied, explanation.candidates) == (1, 1, 2)
    assert explanation.as_json()["reason"] == links.reasons[0] and explanation.lines()[0] == links.reasons[0]
