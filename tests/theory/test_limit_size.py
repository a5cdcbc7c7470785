"""From which size on the limits for large p describe what the posterior mean reaches."""

import numpy as np
import pytest

from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.runs.job import make_job
from lrlab.theory.predicted_overlap import best_overlap, limit_applies


def ends(spec):
    """Return the overlaps of 40 runs."""
    job = make_job(spec, "gamp")
    return job.entry.sample(job.spec, dict(job.options), 40)


@pytest.mark.parametrize(
    "spec",
    [
        OneBitSensing(n=160, p=320, sparsity=32, noise=0.3),
        FlippedLogistic(n=320, p=64, sparsity=40),
        OneBitSensing(n=64, p=32, noise=1.0),
        OneBitPhaseRetrieval(n=300, p=60),
    ],
    ids=repr,
)
def test_with_many_entries_runs_are_near_their_limit(spec):
    assert limit_applies(spec)
    overlaps = ends(spec)
    assert abs(overlaps.mean() - best_overlap(spec).best) < 0.03 + 3.0 * overlaps.std() / np.sqrt(40)
