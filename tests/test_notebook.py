"""What objects show of themselves, as text and in a notebook: the facts that matter, no arrays, nothing unescaped."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gelato import Autocovariance, Graph, evaluate, split, tune
from gelato.datasets import block_model


@pytest.fixture(scope="module")
def graph():
    plain = block_model([20, 20], 0.4, 0.05, attributes=6, words=2, seed=1)
    return replace(plain, names=np.array([f"<b>{i}" for i in range(40)], dtype=object))


@pytest.fixture(scope="module")
def shown(graph):
    """Objects by name, each with its text."""
    data = split(graph)
    model = Autocovariance(steps=2).fit(graph)
    result = evaluate(data, "ac")
    links = model.suggest(12, repeats=2)
    return {
        "graph": (graph, rf"Graph\(40 nodes, {graph.m} links, 6 attributes\)"),
        "split": (
            data,
            rf"Split\('paper' of Graph\(.*\): {data.train.m} links for training, \d+ links hidden for .*\)",
        ),
        "model": (model, r"Autocovariance\(steps=2\)"),
        "unfitted model": (Autocovariance(), r"Autocovariance\(\)"),
        "ranks": (result.ranks, r"Ranks\(\d+ positives among \d+ negatives, median rank [\d.]+\)"),
        "evaluation": (
            result,
            r"Evaluation\(ac on graph, unbiased: ap [\d.]+%, hits@1000 .*, auc [\d.]+%; Ranks\(.*\)\)",
        ),
        "suggestions": (links, r"Suggestions\(12 links of Graph\(.*\)\)(\n +\d+  <b>\d+ - <b>\d+  \S+){10}\n +…"),
        "tuning": (
            tune(data, "katz"),
            r"TuneResult\(katz: beta=[\d.]+, steps=\d; validation precision .*%, AP .*%; \d+ trials\)",
        ),
    }


NAMES = ("graph", "split", "model", "unfitted model", "ranks", "evaluation", "suggestions", "tuning")


@pytest.mark.parametrize("name", NAMES)
def test_an_object_says_what_it_is_in_a_few_words(shown, name):
    found, wanted = shown[name]
    assert re.fullmatch(wanted, repr(found))


@pytest.mark.parametrize("name", NAMES)
def test_an_object_is_a_table_in_a_notebook_with_names_escaped(shown, name):
    found, _ = shown[name]
    page = found._repr_html_()
    assert page.startswith("<table><caption>") and page.endswith("</table>") and len(page) < 5000
    assert "<b>" not in page and page.count("<tr>") == page.count("</tr>") >= 2


def test_the_notebook_shows_what_is_known_of_a_graph(shown):
    page = shown["graph"][0]._repr_html_()
    assert "<th>directed</th><td>no</td>" in page and "&lt;b&gt;0, &lt;b&gt;1" in page and "times" not in page
    timed = Graph.from_edges([(0, 1), (1, 2)], times=[3, 5], directed=True)._repr_html_()
    assert "<th>directed</th><td>yes</td>" in timed and "<td>3 to 5</td>" in timed


def test_suggestions_show_reasons_and_chances_in_a_notebook(shown):
    links, _ = shown["suggestions"]
    page = links._repr_html_()
    assert "12 suggestions, the first 10" in page and "<th>chance</th>" in page and "<th>reason</th>" in page
    assert page.count("<tr>") == 11
