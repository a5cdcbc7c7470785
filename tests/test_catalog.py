"""Every solver on every model it claims: the promises of all entries, and that CONVERGED is one."""

import re
from dataclasses import replace

import numpy as np
import pytest

import lrlab
from lrlab import aliases, catalog
from lrlab.catalog import family
from lrlab.parameters import InputError, declared
from lrlab.protocol import Stop, parts
from lrlab.runs import run
from lrlab.runs.job import make_job
from lrlab.runs.run import opened, run_job
from tests.thorough import a_third

SINGLE_INDEX = {"n": 600, "p": 12, "sparsity": 3}
SIZES = {
    "one-bit-sensing": SINGLE_INDEX,
    "flipped-logistic": SINGLE_INDEX,
    "one-bit-phase-retrieval": SINGLE_INDEX,
    "custom-link": {**SINGLE_INDEX, "link": "three levels"},
    "rank-one-sensing": {"m": 200, "d1": 10, "d2": 8, "rank": 2},
    "inductive-completion": {"n1": 40, "n2": 30, "d1": 6, "d2": 5, "rank": 2, "observed": 0.4},
    "multilabel-regression": {"n": 60, "d": 5, "labels": 12, "rank": 2, "observed": 0.5},
    "polynomial-network": {"m": 400, "p": 10, "r": 2},
    "phase-retrieval": {"m": 96, "p": 12},
    "multilabel": {"n": 120, "d": 8, "labels": 9, "rank": 2, "per_row": 2},
    "one-bit-multilabel": {"m": 600, "d1": 10, "d2": 8, "rank": 2},
}
FREE = "least-squares", "nuclear-norm", "soft-impute", "binary-relevance", "svm"
"""Programmes that choose the rank themselves, or do without."""
BELOW_THRESHOLD = [
    ("flipped-logistic", "pairwise-moment"),
    ("flipped-logistic", "sparse-pairwise-moment"),
    ("one-bit-phase-retrieval", "pairwise-moment"),
]
"""Moments that need n / p far above the 50 here by theory: their estimates have nothing to do with the signal."""
ENDS = dict.fromkeys(
    ("trimmed-gauss-newton", "ep-rom", "ap-rom", "gfm", "geco", "complete-then-regress", "gamp"), (Stop.SETTLED,)
) | {"link-free-refinement": (Stop.NO_MINIMUM,)}
"""Solvers that may end at a fixed point that isn't a minimum, or at a link that separates the responses."""
CLAIMS = [(model, entry.name) for model in catalog.MODELS for entry in catalog.solvers_for(model, aliases.SOLVERS)]
ITERATIONS, AGAIN = 40, 12
"""Iterations of a run, and of its repetition with the same seed, whose rows must agree."""


def sizes(model, listed):
    """Return the sizes listed for a model, or else for the first listed model of its family."""
    if model in listed:
        return listed[model]
    alike = (listed[name] for name in listed if catalog.family(name) is catalog.family(model))
    return {name: value for name, value in next(alike, {}).items() if name in declared(catalog.MODELS[model])}


def accepted(model, name):
    spec = catalog.spec(model, seed=5, **sizes(model, SIZES))
    try:
        return make_job(spec, name, max_iter=ITERATIONS, max_seconds=600)
    except InputError as refusal:
        pytest.skip(f"refused: {refusal}")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "name"), CLAIMS)
def test_a_run_of_any_solver_keeps_all_promises(model, name, monkeypatch):
    job = accepted(model, name)
    trace = run_job(job)
    scores_are_those_of_a_sound_estimate(trace)
    stop_is_true(trace)
    problem, rng = opened(job)
    problem.load(everything=True)
    before, iterates, whole = {key: array.copy() for key, array in arrays(problem).items()}, [], []
    monkeypatch.setattr(run, "opened", lambda *given: (problem, rng))
    shorter = replace(job, limits=job.limits._replace(max_iter=AGAIN))

    def watch(row, it):
        whole.append(it)
        iterates.append((parts(it.estimate), [part.copy() for part in parts(it.estimate)]))

    again = run_job(shorter, watch=watch)
    first = trace.table.drop(columns="seconds").head(AGAIN)
    assert again.table.drop(columns="seconds").equals(first), "a seed gives one trace, whatever ends it"
    after = arrays(problem)
    assert before and all((after[key] == array).all() for key, array in before.items()), "inputs are never changed"
    values_are_those_of_the_estimate(job.entry, problem, whole)
    for estimate, copy in iterates:
        assert all((a == b).all() for a, b in zip(estimate, copy, strict=True)), "an iterate is not written over later"


def test_the_objectives_of_many_solvers_are_evaluated_independently():
    covered = {name for model, name in CLAIMS if evaluation(catalog.solver(name, model))}
    assert len(covered) >= 12


def half_squares(problem, W):
    """Return ||A(W) - b||^2 / 2 of a matrix of entries (d1, d2)."""
    A = problem.operator
    return float(np.sum(np.abs(A.pair(A.left(W), A.right(np.eye(W.shape[1]))) - problem.b) ** 2)) / 2


DECLARED = {
    r"\|\|A\(\S+( \S+)?\) - b\|\|\^2 / 2(?! \+)": half_squares,
    r"\|\|y - A x\|\|\^2 / 2(?! \+)": lambda problem, x: np.sum((problem.y - problem.A @ x) ** 2) / 2,
    r"mean max\(0, -y_i <x_i, b>\)(?!\^)": lambda problem, b: np.maximum(0, -problem.y * (problem.X @ b)).mean(),
}
"""Objectives as docstrings declare them, with functions of the data and the estimate that compute them."""


def evaluation(entry):
    """Return the independent evaluation of a solver's objective, or None."""
    objective = entry.words.rows.get("minimize", "")
    return next((value for pattern, value in DECLARED.items() if re.search(pattern, objective)), None)


def table(estimate):
    """Return an estimate as one array."""
    if hasattr(estimate, "dense"):
        return estimate.dense()
    return np.concatenate([np.ravel(part) for part in parts(estimate)]) if isinstance(estimate, tuple) else estimate


def values_are_those_of_the_estimate(entry, problem, rows):
    """Ask that objectives are the declared ones, and that estimates with a residual near 0 are stationary and stay."""
    value, rng = evaluation(entry), np.random.default_rng(0)
    for number, iterate in enumerate(rows):
        at, scale = table(iterate.estimate), 1.0
        if value and iterate.objective is not None:
            scale = value(problem, 0.0 * at) or 1.0
            assert iterate.objective == pytest.approx(value(problem, at), rel=1e-6, abs=1e-12 * scale)
        if iterate.residual is None or iterate.residual > 1e-8:
            continue
        for after in rows[number + 1 : number + 2]:
            assert np.linalg.norm(table(after.estimate) - at) <= 1e-3 * np.linalg.norm(at)
        if value is half_squares and iterate.optimal:
            U, V = iterate.estimate.left, iterate.estimate.V
            P, Q, h = rng.standard_normal(U.shape), rng.standard_normal(V.shape), 1e-5
            high, low = (value(problem, (U + step * P) @ (V + step * Q).T) for step in (h, -h))
            assert abs(high - low) / (2 * h) <= 1e-3 * scale


def scores_are_those_of_a_sound_estimate(trace):
    """Ask that a run ended as it may, with finite numbers of the right shape, better than a guess, as it says."""
    model, name = trace.job.spec.model, trace.job.solver
    assert trace.stop in (Stop.CONVERGED, Stop.FINISHED, Stop.MAX_ITER, *ENDS.get(name, ()))
    if (truth := getattr(trace.problem, "truth", None)) is None:
        truth = trace.job.spec.truth()
    shapes, expected = ([part.shape for part in parts(one)] for one in (trace.estimate, truth))
    if name in FREE or name.startswith("trace-norm") or (model, name) == ("one-bit-multilabel", "marginal-mean"):
        shapes, expected = ([shape[:-1] for shape in both] for both in (shapes, expected))
    if name == "kernel-leml":
        # Its coefficients belong to rows.
        expected = [(120, 2), *expected[1:]]
    if name == "bcs":
        # Coefficients of projections of labels, those projections, how to go back, and their intercepts.
        expected = [(8, 5), (5, 9), (4,), (5,)]
    assert all(np.isfinite(part).all() for part in parts(trace.estimate))
    again = trace.problem.score(trace.estimate)
    assert {name: trace.metrics[name] for name in again} == pytest.approx(again)
    if model not in SIZES:
        return  # A model that is added has a test of its own.
    assert shapes == expected
    if model == "multilabel":
        assert trace.table["auc"].max() > 0.7, "better than chance"
    else:
        # An estimate of 0 has 1, a direction drawn at random about 1.4.
        assert trace.table["error"].min() < 0.9 or (model, name) in BELOW_THRESHOLD


def arrays(problem):
    """Return all arrays of a problem and of its operator, by name."""
    X = {name: getattr(problem, name) for name in ("X", "A", "Y", "y", "b") if hasattr(problem, name)}
    owners = [problem, getattr(problem, "operator", None)]
    own = [vars(owner).items() for owner in owners if owner is not None]
    inner = {f"{k}.{name}": value for k, items in enumerate(own) for name, value in items}
    return {name: value for name, value in (X | inner).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_a_seed_alone_determines_the_data_which_are_read_only(model):
    spec, data = catalog.spec(model, **sizes(model, SIZES)), []
    for one in (spec, spec, spec.replace(seed=1)):
        problem = one.build()
        problem.load(everything=True)
        data.append(arrays(problem))
    first, again, other = data
    assert all((first[name] == again[name]).all() for name in first)
    given = {"X", "A", "y", "b"} & first.keys()
    assert given and not any(np.array_equal(first[name], other[name]) for name in given)
    assert not any(first[name].flags.writeable for name in given | ({"0.truth"} & first.keys()))


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_every_model_has_solvers_that_accept_its_defaults(model):
    names = []
    for entry in catalog.solvers_for(model):
        try:
            make_job(catalog.spec(model), entry.name)
            names.append(entry.name)
        except InputError as refusal:
            assert "\n" not in str(refusal)
    assert family(model).solvers[0] in names


def test_comparisons_and_jobs_say_what_a_solver_knows_beyond_the_data():
    title = catalog.solver("altmin", "rank-one-sensing").title
    assert catalog.given(["altmin", "nuclear-norm"], "rank-one-sensing") == f"Oracle information: rank ({title})."
    assert catalog.given(["wirtinger-flow"], "phase-retrieval") == ""
    bits, spec = catalog.spec("one-bit-completion"), catalog.spec("one-bit-phase-retrieval")
    for radius, bound in (("table", "trace norm"), ("rank", "rank")):
        assert make_job(bits, "one-bit-trace-norm", radius=radius).given.endswith(f"link, noise, {bound}.")
    assert make_job(spec.replace(sparsity=3), "gamp").given == "Oracle information: link, sparsity."
    assert make_job(spec, "gamp").given == "Oracle information: link."


def test_a_pass_ends_in_the_middle_of_the_data_when_cancelled_or_at_the_time_limit(monkeypatch):
    monkeypatch.setattr("lrlab.models.single_index.IN_MEMORY", 0)
    monkeypatch.setattr("lrlab.models.single_index.BLOCK_BYTES", 2**14)
    fractions, spec = [], catalog.spec("one-bit-sensing", n=5000)
    assert run_job(make_job(spec, "pairwise-moment", max_seconds=0)).stop is Stop.TIMEOUT
    job = make_job(spec, "pairwise-moment")
    trace = run_job(job, progress=fractions.append, cancelled=lambda: len(fractions) > 3)
    assert trace.stop is Stop.CANCELLED and trace.rows == [] and len(fractions) == 4
    assert 0 < fractions[-1] < 0.5


def test_titles_of_solvers_fit_into_select_boxes():
    titles = {entry.title for model in catalog.MODELS for entry in catalog.solvers_for(model)}
    assert max(map(len, titles)) <= 42, max(titles, key=len)


HARD = {
    "one-bit-sensing": {"n": 16, "noise": 1.0},
    "flipped-logistic": {"n": 16, "flip": 0.2},
    "one-bit-phase-retrieval": {"n": 24, "noise": 1.0},
    "custom-link": {"n": 24, "flip": 0.2},
    "rank-one-sensing": {"m": 20, "noise": 0.1},
    "inductive-completion": {"observed": 0.02},
    "multilabel-regression": {"observed": 0.05},
    "polynomial-network": {"m": 10, "noise": 0.1},
    "phase-retrieval": {"m": 12, "noise": 0.1},
    "multilabel": {"n": 10, "observed": 0.4},
    "one-bit-multilabel": {"m": 60, "flip": 0.2},
}
"""Fewer measurements than unknowns, or answers that are mostly noise."""
ENDS_OPTIMAL = {
    "one-bit-power": "the estimate agrees with every sign",
    "glm": "a Newton step changes the objective by rounding",
    "unbiased-logistic": "a Newton step changes the objective by rounding",
    "shift-logistic": "a Newton step changes the objective by rounding",
    "gauss-newton": "the cosine is within rounding of the objective",
    "tangent-descent": "the cosine is within rounding of the objective",
}
"""Solvers that claim to have converged when they end by themselves, and what they have tested."""


def stop_is_true(trace):
    """Ask that a run said to have converged has a residual of at most tol, or has tested what its solver says."""
    assert trace.stop is not None
    residual, name = trace.metrics["residual"] if trace.rows else np.nan, trace.job.solver
    if trace.stop is Stop.CONVERGED and not residual <= trace.job.limits.tol:
        assert name in ENDS_OPTIMAL
        newton = name in ("glm", "unbiased-logistic", "shift-logistic")
        assert np.isnan(residual) or residual**2 <= (1e-10 if newton else 64 * np.finfo(float).eps)
    elif trace.stop in (Stop.STALLED, Stop.FINISHED):
        assert not residual <= trace.job.limits.tol


@pytest.mark.parametrize(("model", "name"), a_third(CLAIMS))
def test_converged_is_said_of_small_residuals_only(model, name):
    """On hopeless problems; of those that can be solved, `test_a_run_of_any_solver_keeps_all_promises` asks it."""
    spec = catalog.spec(model, seed=1001, **sizes(model, SIZES) | sizes(model, HARD))
    try:
        trace = lrlab.solve(spec, name, max_iter=40, max_seconds=20)
    except InputError as refusal:
        pytest.skip(f"refused: {refusal}")
    stop_is_true(trace)


def test_gauss_newton_does_not_converge_where_its_linear_problems_cannot_be_solved():
    """Five measurements more than degrees of freedom: stationary as far as the inner solves tell, and far off."""
    trace = lrlab.solve(lrlab.spec("rank-one-sensing", m=480, seed=2), "gauss-newton", max_iter=3, max_seconds=600)
    assert trace.stop in (Stop.STALLED, Stop.MAX_ITER) and trace.metrics["error"] > 1
    assert trace.table["residual"].min() > 1e-6
