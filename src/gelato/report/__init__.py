"""The report: one self-contained page with a graph, tests against all pairs, the training and the suggested links."""

from gelato.report.contents import GraphFacts as GraphFacts
from gelato.report.contents import Report as Report
from gelato.report.contents import Suggestion as Suggestion
from gelato.report.contents import facts_of as facts_of
from gelato.report.measurements import Measurements as Measurements
from gelato.report.measurements import measure as measure
from gelato.report.page import write_report as write_report
