"""Explain: why a pair scores what it scores, by the walks that join it or by neighbours that resemble its ends."""

from gelato.explain.explanation import explain as explain
from gelato.explain.explanation import explain_all as explain_all
from gelato.explain.neighbours import NeighbourExplanation as NeighbourExplanation
from gelato.explain.neighbours import NeighbourPart as NeighbourPart
from gelato.explain.pair import Explainer as Explainer
from gelato.explain.pair import PairExplanation as PairExplanation
from gelato.explain.record import Edge as Edge
from gelato.explain.record import Explanation as Explanation
from gelato.explain.record import WalkPart as WalkPart
from gelato.explain.routes import Route as Route
from gelato.explain.walks import WalkList as WalkList
from gelato.explain.walks import walks_between as walks_between
