"""Threads that are kept between calls, and processes that are forked while they are."""

import os
import signal
import threading
import time

import pytest

from gelato.kernels.threads import default_threads, run_ranges


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    together, done = threading.Barrier(default_threads() + 1), []

    def meet(begin, end):
        together.wait(20)
        done.append(begin)

    run_ranges(range(together.parties + 1), meet)  # starts all threads, which a fork does not copy
    assert sorted(done) == list(range(together.parties))
    child = os.fork()
    if child == 0:
        own = []
        try:
            run_ranges([0, 1, 2, 3], lambda begin, end: own.append(begin))
        finally:
            os._exit(0 if sorted(own) == [0, 1, 2] else 1)
    until = time.monotonic() + 20
    ended, status = 0, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked process waits for threads that it does not have")
    assert os.waitstatus_to_exitcode(status) == 0
    run_ranges([0, 1, 2], lambda begin, end: done.append(begin))  # the first process still has its own pool
    assert len(done) == together.parties + 2
