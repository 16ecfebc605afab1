"""The report of a real small run, made once for all tests of this folder."""

import pytest
from report_run import quick_report


@pytest.fixture(scope="session")
def report():
    return quick_report()
