"""Low-rank problems that nobody chose: what converges has all directions."""

import pytest

from lrlab.protocol import Stop
from lrlab.runs.run import Newest, run_job
from tests.solvers.low_rank.drawn_cells import drawn_jobs


@pytest.mark.parametrize(
    ("seed", "count"), [(31000, 16), *(pytest.param(seed, 250, marks=pytest.mark.soak) for seed in range(31001, 31021))]
)
def test_what_converges_on_exact_data_misses_no_direction(seed, count):
    for job in drawn_jobs(count, seed):
        # The end alone is looked at: iterates before it are not scored.
        trace = run_job(job, newest=Newest())
        missing = job.spec.true_rank - trace.metrics.get("recovered_directions", 0)
        assert trace.stop is not Stop.CONVERGED or not missing, (job.spec, job.solver)
