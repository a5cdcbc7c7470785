"""Runs of solvers that keep every iterate, and small multi-label problems of each kind of tables."""

import numpy as np
import pytest

from lrlab.models.multilabel import Multilabel
from lrlab.protocol import Limits
from lrlab.runs.run import drive

SPEC = Multilabel(n=80, d=9, labels=7, rank=2, per_row=2)
SPECS = {
    "dense": SPEC,
    "dense-missing": SPEC.replace(observed=0.4),
    "sparse": SPEC.replace(d=30, density=0.2),
    "sparse-missing": SPEC.replace(d=30, density=0.2, observed=0.4),
}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def run(solver, problem, max_iter=1000, seed=0, tol=1e-8, **options):
    """Run a solver on a problem; return why it stopped, and all its iterates."""
    iterations, iterates = solver(problem, rng=np.random.default_rng(seed), **options), []
    return drive(iterations, lambda i, s, it: iterates.append(it), Limits(tol, max_iter)), iterates


def dense(table):
    """Return a table as an array."""
    return table if isinstance(table, np.ndarray) else table.toarray()


def observed_of(problem):
    """Return which labels are observed, as an array."""
    return np.ones(problem.Y.shape, bool) if problem.mask is None else problem.mask.toarray()
