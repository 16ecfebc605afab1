"""Explain: why a pair scores what it scores, by the walks that join it."""

from gelato.explain.explanation import explain as explain
from gelato.explain.explanation import explain_all as explain_all
from gelato.explain.record import Edge as Edge
from gelato.explain.record import Explanation as Explanation
from gelato.explain.record import WalkPart as WalkPart
from gelato.explain.routes import Route as Route
from gelato.explain.walks import WalkList as WalkList
from gelato.explain.walks import walks_between as walks_between
