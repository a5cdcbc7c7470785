"""Runs a solver in this process, or, where the job is large, on a worker that the time limit ends."""

import os

from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.memory import memory_needed
from lrlab.runs.run import blas, blas_threads, run_job
from lrlab.runs.trace import Trace

IN_PROCESS_BYTES = 2**28
"""Jobs that need more run on a worker: a decomposition of theirs may outlast max_seconds, and cannot be ended here.

They alone use all cores: in smaller ones threads wait for each other, on a busy machine for 10 to 80 times as long.
"""
BUSY = 1.25
"""Load of a core from which on threads would wait for those that do not run."""


def solve(spec: Spec, solver: str, *, worker: bool | None = None, **settings: object) -> Trace:
    """Run a solver on a problem and return its trace.

    `settings` are the solver's options and `tol`, `max_iter`, `max_seconds`. A job that needs more than 256 MiB runs on
    a worker process, with as many BLAS threads as this one has (one on a busy machine); others in this process, with
    one; `worker` = True or False decides otherwise. On a worker `max_seconds` holds even inside one long decomposition:
    the worker is ended, the iterates before are in the trace, and its stop is TIMEOUT. In this process the time is
    looked at between iterates and between blocks of data.

    Raises InputError before anything is run where the settings are wrong, the solver cannot handle the model, or memory
    would not suffice; RuntimeError with one sentence where a computation inside the solver comes to no number, or where
    the worker fails.
    """
    return run(make_job(spec, solver, **settings), worker)


def run(job: Job, worker: bool | None = None) -> Trace:
    """Return the trace of a checked job, see `solve`."""
    if worker is None:
        worker = memory_needed(job.spec, job.entry, dict(job.options)) > IN_PROCESS_BYTES
    if not worker:
        with blas_threads(1):
            return run_job(job)
    # Here, for small jobs need no engine, nor its 50 ms of imports.
    from lrlab.engine.engine import get_engine

    engine = get_engine()
    # Of other machines' cores nothing is known here, nor of what else they do.
    following = engine.follow([job], threads() if engine.local else 1)
    following.wait()
    [followed] = following.runs
    if followed.error:
        raise RuntimeError(followed.error)
    return followed.trace


def threads() -> int:
    """Return the number of threads of BLAS in this process; one where others keep the cores of this machine busy."""
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)
    counts = [library["num_threads"] for library in blas().select(user_api="blas").info()]
    return 1 if busy else max(counts, default=1)
