"""Low-rank problems that nobody chose: what converges has all directions."""

from lrlab.protocol import Stop
from lrlab.runs.run import Newest, run_job
from tests.solvers.low_rank.drawn_cells import drawn_jobs


def test_what_converges_on_exact_data_misses_no_direction():
    for job in drawn_jobs(16, 31000):
        # Only the end counts here, so earlier iterates get no scores.
        trace = run_job(job, newest=Newest())
        missing = job.spec.true_rank - trace.metrics.get("recovered_directions", 0)
        assert trace.stop is not Stop.CONVERGED or not missing, (job.spec, job.solver)
