"""Promises of every solver besides its numbers: a reference, and a true claim about memory."""

import gc
import importlib
import tracemalloc

import pytest

from lrlab import catalog
from lrlab.runs.job import make_job, memory_needed
from lrlab.runs.run import run_job
from tests.thorough import a_third

FACTOR = 3
SIZES = {
    "one-bit-sensing": ({"n": 60_000, "p": 100, "sparsity": 5}, {"n": 8000, "p": 400, "sparsity": 5}),
    "one-bit-phase-retrieval": ({"n": 60_000, "p": 100}, {"n": 8000, "p": 400}),
    "rank-one-sensing": ({"m": 20_000, "d1": 200, "d2": 200, "rank": 3}, {"m": 8000, "d1": 300, "d2": 100, "rank": 3}),
    "inductive-completion": (
        {"n1": 2500, "n2": 2500, "d1": 40, "d2": 40, "rank": 3, "observed": 0.2},
        {"n1": 1500, "n2": 1000, "d1": 60, "d2": 60, "rank": 3, "observed": 0.2},
    ),
    "polynomial-network": ({"m": 30_000, "p": 200, "r": 3}, {"m": 8000, "p": 400, "r": 3}),
    "phase-retrieval": ({"m": 12_000, "p": 500}, {"m": 4000, "p": 500}),
    "multilabel": (
        {"n": 6000, "d": 500, "labels": 100, "rank": 10},
        {"n": 4000, "d": 400, "labels": 80, "rank": 10},
    ),
    "one-bit-multilabel": (
        {"m": 40_000, "d1": 100, "d2": 40, "rank": 3, "observation": "full"},
        {"m": 30_000, "d1": 150, "d2": 20, "rank": 3, "observation": "full"},
    ),
    "compressed-sensing": ({"n": 1500, "p": 3000, "sparsity": 20}, {"n": 1000, "p": 2500, "sparsity": 20}),
    "one-bit-completion": ({"n1": 900, "n2": 900, "rank": 3}, {"n1": 800, "n2": 400, "rank": 3}),
}
"""Data of about 50 and 20 MB in different proportions, so that the data dominate."""
OTHERS = {
    "plan-vershynin-lp": {"n": 1000, "flip": 0.0, "noise": 0.0},
    "soft-impute": {"features": "canonical"},
    "als": {"features": "canonical"},
    "matrix-irls": {"features": "canonical", "n1": 1000, "n2": 1000},
    "r2rils": {"features": "canonical", "n1": 1000, "n2": 1000},
    "bcs": {"labels": 50},
    "wsabie": {"n": 1500},
}
"""Other sizes for solvers that would take long or need other data."""
SVM = ("one-bit-multilabel", "binary-relevance")
"""Support vector machines are slow: few labels, and few passes by a strong penalty."""
OPTIONS = {
    "kernel-leml": {"landmarks": 500},
    "least-squares": {"inner_steps": 6},
}
"""Conjugate gradients hold all their arrays after a few steps."""
HESSIAN = ("phd", "spectral-optimal")


def first_model(entry):
    """Return the first model of an entry that has sizes; signs carry no Hessian."""
    return next(m for m in SIZES if m in entry.models and not (entry.name in HESSIAN and m == "one-bit-sensing"))


ENTRIES = [(model, entry) for model in SIZES for entry in catalog.solvers_for(model) if model == first_model(entry)]


def test_every_solver_is_measured_once():
    entries = {(entry.name, entry.title) for model in catalog.MODELS for entry in catalog.solvers_for(model)}
    assert {(entry.name, entry.title) for _, entry in ENTRIES} == entries, "give a new family two sizes above"


def test_references_have_a_year():
    for entry in catalog.ENTRIES:
        assert any(character.isdigit() for character in entry.reference), entry.name


@pytest.fixture(scope="module")
def few_objects():
    """Exempt existing objects from garbage collection, which would visit everything that the tests import.

    A solver imports scikit-learn when it runs, which takes four seconds under tracing and would count as 70 MB.
    """
    importlib.import_module("sklearn.linear_model")
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize(
    "of", a_third(range(len(ENTRIES)), parts=6), ids=[f"{model}-{entry.name}" for model, entry in ENTRIES]
)
def test_a_job_needs_the_memory_that_is_claimed_at_two_sizes(of):
    model, entry = ENTRIES[of]
    svm = (model, entry.name) == SVM
    others = {"m": 25_000, "d2": 4} if svm else OTHERS.get(entry.name, {})
    options = {"regularization": 1000.0} if svm else OPTIONS.get(entry.name, {})
    for size in SIZES[model]:
        spec = catalog.spec(model, seed=1, **size | others)
        job = make_job(spec, entry.name, max_iter=2, **options)
        claimed = memory_needed(spec, entry, dict(job.options))
        gc.collect()
        tracemalloc.start()
        try:
            trace = run_job(job)
            _, measured = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert trace.rows, "a run has all its memory at its first iterate"
        ratio = claimed / measured
        assert 1 / FACTOR <= ratio <= FACTOR, f"{ratio:.2f} of what is used, with memory={entry.memory}"
