"""Explain: why a pair scores what it scores, by the walks that join it or by neighbours that resemble its ends."""

from gelato.explain.contract import PairExplanation as PairExplanation
from gelato.explain.explanation import explain_all as explain_all
from gelato.explain.walks import walks_between as walks_between
