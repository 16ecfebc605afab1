"""The report: one self-contained page with a graph, tests against all pairs, the training and the suggested links."""

from gelato.report.contents import GraphFacts as GraphFacts
from gelato.report.contents import Report as Report
from gelato.report.contents import Suggestion as Suggestion
from gelato.report.facts import facts_of as facts_of
from gelato.report.measure import Measured as Measured
from gelato.report.measure import measure as measure
from gelato.report.page import write_report as write_report
