"""All tables of cases."""

from faults import (
    cases_arrays,
    cases_attributes,
    cases_edges,
)

CASES = [case for table in (cases_edges, cases_attributes, cases_arrays) for case in table.CASES]
