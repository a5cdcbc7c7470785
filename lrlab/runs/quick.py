"""Runs that are quick enough for every position of a slider that is dragged."""

import time

from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.run import Newest, run_job
from lrlab.runs.trace import Trace

QUICK_SECONDS = 0.1
"""Processor time, that of the scores included."""
EACH, APART = 20, 1.35
SCORED = frozenset([*range(1, EACH), *(int(EACH * APART**k) for k in range(40))])
"""Iterations that are scored beside the last one: all of the first ones, later ones a third apart: on a logarithmic
axis the line through these was within a tenth of its length of that through all. Scores cost more than the solver."""


def quick_run(job: Job) -> Trace | None:
    """Return the trace of a run with some of its iterates and without its history, None where it takes longer."""
    began, deadline = time.perf_counter(), time.thread_time() + QUICK_SECONDS

    def cancelled() -> bool:
        # The clock of the processor is a call of the system: it is read once the other one has come so far.
        return time.perf_counter() - began > QUICK_SECONDS and time.thread_time() > deadline

    trace = run_job(job, cancelled=cancelled, newest=Newest(due=SCORED.__contains__))
    trace.history.clear()
    return None if trace.stop is Stop.CANCELLED else trace
