"""What *Converge* draws at a position of a dragged slider."""

from concurrent.futures import Future

import numpy as np
import pytest

from lrlab import catalog
from lrlab.engine.live import LiveRun
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from lrlab.ui.converge import dragged
from lrlab.ui.converge.run_controls import CurveSettings

SPEC = catalog.spec("one-bit-sensing", n=400, p=8)


@pytest.mark.parametrize("slow", [{"logistic"}, {"logistic", "pairwise-moment"}, set()])
def test_a_solver_that_is_not_quick_keeps_its_curve(slow, monkeypatch):
    jobs = [make_job(SPEC, name) for name in ("pairwise-moment", "logistic")]
    before = [LiveRun(job) for job in jobs]
    for run in before:
        run.state, run.trace = "done", run_job(run.job)

    def submit(function, given):
        future = Future()
        late = getattr(given, "job", None) and given.job.solver in slow
        future.set_result(None if late else function(given))
        return future

    monkeypatch.setattr(dragged.together, "submit", submit)
    show = dragged.Dragged(CurveSettings("error", "iteration"), jobs, before)
    # p differs, too: the old estimates have no place beside the new truth.
    curves = show(SPEC.replace(n=900, p=12))["converge.curves"]
    pale = {line.name: np.asarray(line.y) for line in curves.data if "after release" in (line.name or "")}
    old = {run.job.entry.title: [row["error"] for row in run.trace.rows] for run in before if run.job.solver in slow}
    assert {name.removesuffix(" (after release)") for name in pale} == set(old)
    for title, errors in old.items():
        np.testing.assert_allclose(pale[f"{title} (after release)"], errors, rtol=1e-5)
