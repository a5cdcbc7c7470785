"""Promises of every solver: memory as claimed, a result or one sentence of random specs, refusals before a run."""

import gc
import importlib
import json
import math
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrlab import catalog
from lrlab.parameters import InputError, declared
from lrlab.protocol import Stop, parts
from lrlab.runs.job import make_job, memory_needed
from lrlab.runs.run import run_job
from lrlab.spectra import pairwise
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


EXAMPLES = 60
MORE = int(os.environ.get("LRLAB_RANDOM_SPECS", "0"))
"""How many new ones `make soak` runs; the suite always runs the same EXAMPLES."""
CLAIMS = [(model, entry.name) for model in catalog.MODELS for entry in catalog.solvers_for(model)]
LARGEST = {
    "n": 300, "m": 300, "n1": 24, "n2": 24, "p": 16, "d": 8, "d1": 8, "d2": 8, "labels": 8, "rank": 3, "r": 3,
    "sparsity": 16, "per_row": 3, "seen_per_row": 5, "batches": 5, "side": 12,
}  # fmt: skip
"""Largest sizes; all other parameters come from their whole declared range."""
FORMULAS = ("sign(z)", "0", "1", "-1", "z > 0", "tanh(5*z)", "exp(-abs(z))", "max(-1, min(1, 1/z))", "z^2 < 1")
LIMITS = {
    "tol": st.sampled_from([0.0, 1e-8, 1e-3, 1.0]),
    "max_iter": st.sampled_from([1, 2, 8, 25]),
    "max_seconds": st.just(5.0),
}


def value_of(parameter):
    """Return the values of a parameter; half of them are the ends of its range or its default."""
    if parameter.name == "link":
        return st.sampled_from([parameter.default, *FORMULAS])
    if parameter.kind is bool:
        return st.booleans()
    if parameter.kind is str:
        return st.sampled_from(parameter.choices or (parameter.default,))
    low, high = parameter.low, min(parameter.high, LARGEST.get(parameter.name, math.inf))
    if parameter.kind is int:
        return st.one_of(st.sampled_from([int(low), int(high)]), st.integers(int(low), int(high)))
    inside = st.floats(low, high)
    if parameter.scale == "log" and low > 0:
        inside = st.floats(math.log(low), math.log(high)).map(lambda power: min(max(math.exp(power), low), high))
    return st.one_of(st.sampled_from([low, high, parameter.default]), inside)


@st.composite
def jobs(draw):
    """Return a model, its parameters, a solver made for it, and settings: sizes always, of all else some."""
    model, solver = draw(st.sampled_from(CLAIMS))
    own = {name: value_of(p) for name, p in declared(catalog.MODELS[model]).items()}
    sizes = {name: own.pop(name) for name in list(own) if name in LARGEST}
    parameters = draw(st.fixed_dictionaries(sizes, optional=own))
    if draw(st.integers(0, 9)):
        parameters |= consistent(parameters)
    options = {name: value_of(p) for name, p in catalog.solver(solver, model).options.items()}
    return model, parameters, solver, draw(st.fixed_dictionaries(LIMITS, optional=options))


def consistent(parameters):
    """Return the parameters that have to change so that the sizes do not contradict each other."""
    sides = [parameters[name] for name in ("p", "d", "d1", "d2", "labels", "n1", "n2", "side") if name in parameters]
    most = {"rank": min(sides), "r": min(sides), "sparsity": parameters.get("p", 0)}
    most |= {name: max(parameters.get("labels", 1) - 1, 0) for name in ("per_row", "seen_per_row")}
    most |= {f"d{k}": parameters.get(f"n{k}", math.inf) for k in (1, 2)}
    changed = {name: min(parameters[name], high) for name, high in most.items() if name in parameters}
    if "p" in parameters and parameters.get("truth", "random") != "random":
        changed |= {"p": 16} | ({"sparsity": 0} if "sparsity" in parameters else {})
    if parameters.get("seen_per_row"):
        changed["observed"] = 1.0
    return changed


# Jobs that once ended in another way.
@example(("one-bit-sensing", {"n": 16, "p": 4, "noise": 1e-310}, "pairwise-moment", {}))
@example(("polynomial-network", {"m": 1, "p": 3, "r": 2, "noise": 0.551, "condition": 181.8}, "scaled-gradient", {}))
@example(
    (
        "polynomial-network",
        {"seed": 55219641, "m": 300, "p": 4, "r": 1, "condition": 24000.0, "precision": "single"},
        "geco",
        {"replacement": "gradient", "max_iter": 2},
    )
)
@example(("flipped-logistic", {"n": 2, "p": 3, "design": "rademacher"}, "logistic", {}))
@example(("flipped-logistic", {"n": 2, "p": 12, "seed": 4294967295}, "link-free-refinement", {"kept": 1}))
@settings(max_examples=MORE or EXAMPLES)
@given(jobs())
def test_a_random_job_ends_in_a_result_or_in_one_sentence(drawn):
    model, parameters, solver, given_settings = drawn
    try:
        job = make_job(catalog.spec(model, **parameters), solver, **given_settings)
        trace = run_job(job)
    except InputError as refusal:
        # Some solvers see only in the data that they cannot work, for example if all responses agree.
        assert "\n" not in str(refusal) and "must be" in str(refusal)
        return
    assert isinstance(trace.stop, Stop)
    assert trace.rows or trace.stop in (Stop.NONFINITE, Stop.TIMEOUT)
    for row in trace.rows:
        assert not any(math.isinf(value) for value in row.values())
    if trace.rows:
        assert all(np.isfinite(part).all() for part in parts(trace.estimate))
    assert np.isfinite(job.entry.predict_iterations(job.spec, dict(job.options), 3)).all()
    json.dumps(trace.summary())


SIGNS, PHASE = "one-bit-sensing", "one-bit-phase-retrieval"
FEW, LABELS = {"n": 15, "p": 8}, {"d1": 20, "d2": 10}
AT_LEAST = "n must be at least 2p = 16 for this solver, got 15"
NO_MEAN = r"link must be one with mu_1 = .* got 0 on one-bit-phase-retrieval"
EXPONENT = r"exponent is 3: change the formula: .*order p\^1.5, here 1e\+02"
RANK = r"fitted_rank must be at most min\(d1, d2\) = 10, got 11: lower"


@pytest.mark.parametrize(
    ("model", "values", "sentence"),
    [
        (PHASE, {"sparsity": 21}, r"sparsity must be in 0\.\.p = 20, got 21: lower the sparsity or"),
        (PHASE, {"truth": "phantom"}, "p must be the square of .*, got 20: take p = 16, or a random"),
        (PHASE, {"truth": "phantom", "p": 64, "sparsity": 3}, "sparsity must be 0 if the signal is"),
        (PHASE, {"treshold": 1}, 'did you mean "threshold"?'),
        ("rank-one-sensing", {"rank": 60}, r"rank must be in 1..min\(50, 50\) = 50, got 60: lower rank"),
        ("rank-one-sensing", {"truth": "phantom", "d1": 20}, "d2 must be d1 = 20, 4 or more, if the signal"),
        ("rank-one-sensing", {"truth": "phantom", "condition": 2}, "condition must be 1 if the signal is an image"),
        ("rank-one-sensing", {"truth": "digit-1", "d1": 8, "d2": 8, "rank": 8}, "rank must be at most the rank of"),
        ("polynomial-network", {"r": 101}, r"r must be in 1..min\(100, 100\) = 100, got 101"),
        ("polynomial-network", {"weights": "digits", "p": 50}, "p must be the square of a side in 4..64"),
        ("inductive-completion", {"d1": 501}, r"d1 must be in 1..n1 = 500, got 501"),
        ("inductive-completion", {"n1": 100_000, "n2": 100_000}, "n2 must be at most 1000"),
        ("phase-retrieval", {"truth": "phantom"}, "p must be the square of a side .*, got 128: take p = 121"),
        ("phase-retrieval", {"truth": "upload", "p": 64}, "picture must be an uploaded PNG or JPEG, got none"),
        ("multilabel", {"d": 12, "rank": 30}, r"rank must be in 1..min\(d, labels\) = 12, got 30: lower the rank"),
        ("multilabel", {"labels": 20, "per_row": 20}, "per_row must be less than labels = 20, got 20"),
        ("multilabel", {"labels": 20, "seen_per_row": 20}, "seen_per_row must be less than labels = 20, got 20: set"),
        ("multilabel", {"observed": 0.5, "seen_per_row": 2}, "observed must be 1 if seen_per_row is not 0, got 0.5"),
        ("one-bit-multilabel", {"d1": 5, "d2": 9, "rank": 6}, r"rank must be in 1..min\(d1, d2\) = 5, got 6: lower"),
    ],
)
def test_what_no_data_can_fulfil_is_refused(model, values, sentence):
    with pytest.raises(InputError, match=sentence):
        catalog.spec(model, **values)


SAMPLES = {"n": 1_000_000, "p": 2000}
LARGE = {"m": 1_000_000, "d1": 2000, "d2": 500}
DENSE = {"m": 20_000, "d1": 200, "d2": 200, "operator": "dense"}


@pytest.mark.parametrize(
    ("model", "values", "solver", "sentence", "fits"),
    [
        (SIGNS, SAMPLES, "biht", r"n must be at most \d+ for .* within 1.0 GiB .* got 1000000", "pairwise-moment"),
        ("one-bit-multilabel", LARGE, "leml", r"m must be at most \d+ for leml within .* got 1000000", "one-bit-power"),
        ("rank-one-sensing", DENSE, "altmin", r"m must be at most \d+ for altmin within .*: lower m$", "altmin"),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_but_not_in_blocks(model, values, solver, sentence, fits, monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "1")
    with pytest.raises(InputError, match=sentence):
        make_job(catalog.spec(model, **values), solver)
    blocks = {"operator": "gaussian"} if "operator" in values else {}
    assert make_job(catalog.spec(model, **values | blocks), fits)


def test_spectra_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "0.1")
    with pytest.raises(InputError, match="for pairwise-moment within 102 MiB of memory"):
        pairwise.spectrum_draws(catalog.spec(SIGNS, n=600), "p", [12, 5000])


@pytest.mark.parametrize(
    ("model", "values", "solver", "settings", "sentence"),
    [
        (SIGNS, {}, "pairwise", {}, 'solver must be one of .* did you mean "pairwise-moment"?'),
        (SIGNS, {}, "pairwise-moment", {"pair": "all"}, 'setting of pairwise-moment .* did you mean "pairs"?'),
        (SIGNS, {}, "pairwise-moment", {"pairs": "some"}, "pairs must be one of consecutive, all, got some"),
        (SIGNS, {}, "pairwise-moment", {"max_iter": 0}, r"max_iter must be a whole number in 1\.\.1000000, got 0"),
        (SIGNS, {"p": 8}, "nbiht", {"kept": 9}, r"kept must be in 0\.\.p = 8, got 9"),
        (SIGNS, {}, "biht", {"step": 0}, r"step must be a number in 0.001\.\.100, got 0"),
        (SIGNS, {}, "phd", {}, "link must be one with mu_2 - mu_0 = .* got 0 on one-bit-sensing"),
        *(
            (PHASE, {}, solver, {}, NO_MEAN)
            for solver in ("marginal-mean", "sir", "biht", "nbiht", "logistic", "probit")
        ),
        (PHASE, {"threshold": 0}, "pairwise-moment", {}, "a constant on .*raise the threshold above 0"),
        ("flipped-logistic", {"flip": 0.5}, "save", {}, "a constant on flipped-logistic: lower the flip below 0.5"),
        (SIGNS, FEW, "sir", {}, AT_LEAST),
        (PHASE, FEW, "phd", {}, AT_LEAST),
        (PHASE, FEW, "save", {}, AT_LEAST),
        (SIGNS, FEW, "pairwise-moment", {}, f"{AT_LEAST}: raise n or lower p to 7"),
        ("polynomial-network", {"p": 24, "r": 13}, "ap-rom", {}, "r must be at most p / 2 = 12 for this solver"),
        ("inductive-completion", {}, "r2rils", {}, "set features=canonical"),
        ("inductive-completion", {}, "matrix-irls", {}, "set features=canonical"),
        ("inductive-completion", {"features": "canonical"}, "complete-then-regress", {}, "be other than canonical"),
        ("multilabel", {"observed": 0.4}, "leml", {"inner": "exact"}, "inner must be cg if labels are missing"),
        ("multilabel", {"observed": 0.4}, "cplst", {}, "observed must be 1 for this solver"),
        ("multilabel", {"observed": 0.4}, "plst", {}, "observed must be 1 for this solver"),
        ("multilabel", {"seen_per_row": 2}, "cplst", {}, "seen_per_row must be 0 .* got 2: set seen_per_row=0"),
        ("phase-retrieval", {"m": 32, "p": 32}, "alternating-projections", {}, "more than p = 32 .* 32: raise m or"),
        ("coded-diffraction", {"masks": 1}, "alternating-projections", {}, "m must be more than p = .*: raise masks"),
        ("custom-link", {"link": "sin(50*z)"}, "gamp", {}, "look like coin tosses"),
        *(
            ("custom-link", {"link": "sign(z)*sign(abs(z) - 1.1774100225154747)", "p": 16}, solver, {}, EXPONENT)
            for solver in ("gamp", "link-free-refinement", "pairwise-moment", "sir", "phd")
        ),
        *(
            ("one-bit-multilabel", {}, solver, {}, "observation must be full .* got stream: set observation=full")
            for solver in ("trace-norm-squared", "trace-norm-logistic", "svm")
        ),
        *(
            ("one-bit-multilabel", LABELS, solver, {"fitted_rank": 11}, RANK)
            for solver in ("one-bit-power", "marginal-mean", "leml-squared")
        ),
    ],
)
def test_what_a_solver_cannot_do_is_refused_beforehand(model, values, solver, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        make_job(catalog.spec(model, **values), solver, **settings)
