"""Runs that are quick enough for every position of a slider that is dragged."""

import time

from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.run import run_job
from lrlab.runs.trace import Trace

QUICK_SECONDS = 0.1
"""Processor time, that of the scores included."""


def quick_run(job: Job) -> Trace | None:
    """Return the trace of a run without its history, None where it takes longer."""
    deadline = time.thread_time() + QUICK_SECONDS
    trace = run_job(job, cancelled=lambda: time.thread_time() > deadline)
    trace.history.clear()
    return None if trace.stop is Stop.CANCELLED else trace
