"""What every entry of the catalogue promises beside its numbers: a reference, and a claim of memory that is true."""

import gc
import importlib
import tracemalloc

import pytest

from lrlab import catalog
from lrlab.parameters import InputError, declared
from lrlab.runs.job import make_job
from lrlab.runs.memory import memory_needed
from lrlab.runs.run import run_job
from tests.thorough import a_third

FACTOR = 3
BLOCK_BYTES = {model: 2**27 if model == "multilabel" else 2**26 for model in catalog.MODELS}
"""Claims hold the blocks that are read or drawn at a time in full, even where the data is smaller."""

SIZES = {
    "one-bit-sensing": {"n": 60_000, "p": 100, "sparsity": 5},
    "one-bit-phase-retrieval": {"n": 60_000, "p": 100},
    "rank-one-sensing": {"m": 20_000, "d1": 200, "d2": 200, "rank": 3},
    "inductive-completion": {"n1": 2500, "n2": 2500, "d1": 40, "d2": 40, "rank": 3, "observed": 0.2},
    "polynomial-network": {"m": 30_000, "p": 200, "r": 3},
    "phase-retrieval": {"m": 12_000, "p": 500},
    "multilabel": {"n": 6000, "d": 500, "labels": 100, "rank": 10},
    "one-bit-multilabel": {"m": 40_000, "d1": 100, "d2": 40, "rank": 3, "observation": "full"},
}
"""Data of some 50 MB, so that what is not data counts for little."""
SMALLER = {
    "soft-impute": {"features": "canonical"},
    "als": {"features": "canonical"},
    "matrix-irls": {"features": "canonical", "n1": 1000, "n2": 1000},
    "r2rils": {"features": "canonical", "n1": 1000, "n2": 1000},
    "bcs": {"labels": 50},
}
"""Other sizes for those that would take long, or that need a table without features."""
SVM = {"multilabel": {"labels": 4, "rank": 4}, "one-bit-multilabel": {"d2": 4}}
OPTIONS = {
    "kernel-leml": {"landmarks": 500},
    "least-squares": {"inner_steps": 6},
    "svm": {"regularization": 1000.0},
}
"""The svm with a large weight has what it needs for few passes over the rows, conjugate gradients in few steps."""


HESSIAN = ("phd", "spectral-optimal")


LARGE_BYTES = 2**24


def enlarged(model):
    """Return the spec of a model that is added: whole numbers doubled, until what is not data counts for little."""
    spec = catalog.spec(model, seed=1)
    whole = [name for name in catalog.model_entry(model).main if declared(type(spec))[name].kind is int]
    while whole and spec.data_bytes < LARGE_BYTES:
        try:
            spec = spec.replace(**{name: 2 * getattr(spec, name) for name in whole})
        except InputError:
            break
    return spec


def first_model(entry):
    """Return the first model of an entry that has sizes here, or else its first; signs carry no Hessian."""
    sized = [model for model in SIZES if model in entry.models]
    return next(
        model for model in [*sized, *entry.models] if not (entry.name in HESSIAN and model == "one-bit-sensing")
    )


ENTRIES = [
    (model, entry)
    for model in [*SIZES, *(name for name in catalog.MODELS if name not in SIZES)]
    for entry in catalog.solvers_for(model)
    if model == first_model(entry)
]


def test_every_solver_is_measured_once():
    entries = {(entry.name, entry.title) for model in catalog.MODELS for entry in catalog.solvers_for(model)}
    assert {(entry.name, entry.title) for _, entry in ENTRIES} == entries


@pytest.mark.parametrize(("model", "entry"), ENTRIES, ids=[f"{model}-{entry.name}" for model, entry in ENTRIES])
def test_an_entry_names_its_reference_and_its_memory(model, entry):
    assert any(character.isdigit() for character in entry.reference), "a reference has a year"
    options, _ = entry.settle({})
    small, large = (entry.workspace(catalog.spec(model, **size), dict(options)) for size in ({}, SIZES.get(model, {})))
    assert isinstance(small, int) and isinstance(large, int) and small > 0 and large > 0


@pytest.fixture(scope="module")
def few_objects():
    """Leave out of collections of garbage what was there before: each would go through all that tests import.

    That includes what solvers import when they run: traced, it takes four seconds, and counts as 70 MB of the first.
    """
    importlib.import_module("sklearn.linear_model")
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("of", a_third(range(len(ENTRIES))), ids=[f"{model}-{entry.name}" for model, entry in ENTRIES])
def test_the_memory_of_a_job_is_what_is_claimed(of):
    model, entry = ENTRIES[of]
    smaller = SVM[model] if entry.name == "svm" else SMALLER.get(entry.name, {})
    spec = catalog.spec(model, seed=1, **SIZES[model] | smaller) if model in SIZES else enlarged(model)
    job = make_job(spec, entry.name, max_iter=2, **OPTIONS.get(entry.name, {}))
    claimed = memory_needed(spec, entry, dict(job.options))
    gc.collect()
    tracemalloc.start()
    try:
        trace = run_job(job)
        _, measured = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert trace.rows, "what a run takes is known at its first iterate"
    assert measured / FACTOR <= claimed <= FACTOR * measured + BLOCK_BYTES[model], (
        f"{claimed / measured:.2f} of what is used"
    )
