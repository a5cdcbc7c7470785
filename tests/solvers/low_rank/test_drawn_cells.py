"""Low-rank problems that nobody chose: what converges has all directions, and claims of memory hold."""

import pytest

from lrlab.protocol import Stop
from lrlab.runs.run import Newest, run_job
from tests.solvers.low_rank.drawn_cells import claimed_over_used, drawn_jobs


@pytest.mark.parametrize(
    ("seed", "count"), [(31000, 16), *(pytest.param(seed, 250, marks=pytest.mark.soak) for seed in range(31001, 31021))]
)
def test_what_converges_on_exact_data_misses_no_direction(seed, count):
    for job in drawn_jobs(count, seed):
        # The end alone is looked at: iterates before it are not scored.
        trace = run_job(job, newest=Newest())
        missing = job.spec.true_rank - trace.metrics.get("recovered_directions", 0)
        assert trace.stop is not Stop.CONVERGED or not missing, (job.spec, job.solver)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(31000, 31004))
def test_claims_of_memory_hold_in_drawn_cells(seed):
    for job in drawn_jobs(10, seed, scale=12.0):
        ratio = claimed_over_used(job)
        assert 1 / 3 <= ratio <= 3, (job.spec, job.solver, ratio)
