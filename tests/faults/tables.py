"""All tables of cases."""

from faults import (
    cases_arrays,
    cases_attributes,
    cases_configurations,
    cases_datasets,
    cases_edges,
    cases_names,
    cases_options,
    cases_outputs,
    cases_parquet,
    cases_runs,
)

CASES = [
    case
    for table in (
        *(cases_edges, cases_attributes, cases_arrays, cases_parquet, cases_names),
        *(cases_options, cases_outputs, cases_runs, cases_configurations, cases_datasets),
    )
    for case in table.CASES
]
