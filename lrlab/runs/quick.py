"""Runs that are quick enough for every position of a slider that is dragged."""

import time
from typing import NamedTuple

from lrlab.protocol import Iterate, Stop
from lrlab.runs.job import Job
from lrlab.runs.run import Newest, complete_row, run_job, scored_row
from lrlab.runs.trace import Row, Trace

QUICK_SECONDS = 0.1
"""Processor time, including the scores."""
EACH, APART = 20, 1.35
SCORED = frozenset([*range(1, EACH), *(int(EACH * APART**k) for k in range(40))])
"""Iterations with scores, in addition to the last one: all early ones, later ones a third apart. On a logarithmic axis
the line through these differs little from the line through all. Scores cost more than the solver."""


class Quick(NamedTuple):
    """A job, and the metric that a line shows."""

    job: Job
    measure: str


class _Line(Newest):
    """The newest iterate, and rows of those that are scored, which have the measure."""

    def __init__(self, measure: str) -> None:
        super().__init__()
        self.rows, self._measure, self._quick = list[Row](), measure, True

    def hold(self, iteration: int, seconds: float, iterate: Iterate) -> None:
        """Replace the iterate before."""
        super().hold(iteration, seconds, iterate)
        if iteration in SCORED:
            row = scored_row(self.problem, iteration, seconds, iterate, quick=True) if self._quick else {}
            if self._measure not in row:
                self._quick = False
                row, _ = complete_row(self.problem, iteration, seconds, iterate)
            self.rows.append(row)


def quick_run(quick: Quick) -> Trace | None:
    """Return the trace of a run with some of its iterates and without its history, None if it takes longer.

    The last iterate has all scores; the others may lack scores that take long and are not plotted.
    """
    deadline, line = time.thread_time() + QUICK_SECONDS, _Line(quick.measure)
    trace = run_job(quick.job, cancelled=lambda: time.thread_time() > deadline, newest=line)
    trace.rows[:0] = [row for row in line.rows if row["iteration"] < trace.iterations]
    trace.history.clear()
    return None if trace.stop is Stop.CANCELLED else trace
