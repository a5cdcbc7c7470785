"""Low-rank problems that nobody chose: what converges has all directions, and claims of memory hold."""

import gc
import tracemalloc

import pytest

from lrlab.protocol import Stop
from lrlab.runs.memory import memory_needed
from lrlab.runs.run import run_job
from tests.solvers.low_rank.drawn_cells import drawn_jobs

BLOCK_BYTES = 2**26
"""Claims hold the blocks that are read at a time in full, even where the data is smaller."""


@pytest.mark.parametrize(
    ("seed", "count"), [(31000, 40), *(pytest.param(seed, 250, marks=pytest.mark.soak) for seed in range(31001, 31021))]
)
def test_what_converges_on_exact_data_misses_no_direction(seed, count):
    for job in drawn_jobs(count, seed):
        trace = run_job(job)
        missing = job.spec.true_rank - trace.metrics.get("recovered_directions", 0)
        assert trace.stop is not Stop.CONVERGED or not missing, (job.spec, job.solver)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(31000, 31004))
def test_claims_of_memory_hold_in_drawn_cells(seed):
    for job in drawn_jobs(10, seed, scale=12.0):
        gc.collect()
        tracemalloc.start()
        try:
            run_job(job)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        claimed = memory_needed(job.spec, job.entry, dict(job.options))
        assert peak / 3 <= claimed <= 3 * peak + BLOCK_BYTES, (job.spec, job.solver, peak, claimed)
