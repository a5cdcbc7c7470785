"""Predictions for runs at a spec's n and p, equal responses, and competing methods that papers name."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ks_2samp

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.solver_entry import entries
from lrlab.solvers.single_index.family import ONE_KIND, SAME_ANSWERS, index_solver, needs_samples
from lrlab.solvers.single_index.pairwise import NO_PAIRS
from lrlab.solvers.single_index.plan_vershynin import plan_vershynin_lp


@pytest.mark.slow
@pytest.mark.parametrize("design", ["gaussian", "rademacher", "correlated"])
@pytest.mark.parametrize("solver", ["pairwise-moment", "sir", "gamp"])
def test_simulated_overlaps_have_the_law_of_runs(design, solver):
    job = make_job(lrlab.spec("one-bit-sensing", n=60, p=5, noise=0.5, design=design), solver)
    runs = [lrlab.solve(job.spec.replace(seed=4000 + k), solver).metrics["overlap"] for k in range(40)]
    simulated = job.entry.sample(job.spec, dict(job.options), 100)
    assert ks_2samp(runs, simulated).pvalue > 1e-3
    assert (simulated[:30] == job.entry.sample(job.spec.replace(seed=9), dict(job.options), 30)).all()


def test_a_prediction_has_a_band_at_the_n_and_p_of_small_problems_that_can_be_simulated():
    sensing = lrlab.spec("one-bit-sensing", n=200, p=5, noise=0.1)
    numbers = theory.exact(make_job(sensing, "sir"))
    for measure in ("overlap", "error"):
        low, mean, high = (numbers[f"predicted_{measure}{end}"] for end in ("_low", "", "_high"))
        assert low < mean < high
    assert 0.9 < numbers["limit_overlap"] < 1.0
    large = make_job(sensing.replace(n=50_000, p=100), "sir")
    assert not theory.replicates(large, 60.0) and "limit_overlap" in theory.exact(large)
    assert not any("predicted_overlap" in theory.exact(job) for job in (large, make_job(sensing, "isotron")))
    assert theory.exact(make_job(sensing.replace(n=4, p=2, design="rademacher"), "sir"))["predicted_overlap_low"] == 0


SENSING, PHASE, LOGISTIC = "one-bit-sensing", "one-bit-phase-retrieval", "flipped-logistic"
LIMITS = [
    *((solver, {}, model, {"n": n, "p": 200, **settings}, 0.04)
      for solver in ("sir", "marginal-mean") for n in (600, 2000)
      for model, settings in ((LOGISTIC, {"intercept": 1.0}), (SENSING, {"noise": 0.3}))),
    *(("phd", {}, model, {"p": 200, **settings}, 0.06)
      for model, settings in (
          (PHASE, {"n": 1000, "threshold": 1.0}), (PHASE, {"n": 4000, "threshold": 1.0, "noise": 1.0}),
          (LOGISTIC, {"n": 20_000, "intercept": 3.0}), (PHASE, {"n": 800, "threshold": 0.3}),
      )),
    ("spectral-optimal", {}, PHASE, {"n": 4000, "p": 400, "threshold": 0.5}, 0.03),
    *((solver, {}, model, {"n": 2000, "p": 200, **settings}, 0.04) for solver in ("logistic", "probit")
      for model, settings in ((LOGISTIC, {"intercept": 1.0, "flip": 0.05}), (SENSING, {"noise": 0.5}),
                              ("custom-link", {"link": "sin 2z"}))),
    ("gamp", {}, PHASE, {"n": 1000, "p": 500, "threshold": 0.3}, 0.03),
    *((solver, {}, "compressed-sensing", {"n": 400, "p": 800, "sparsity": 60, "noise": 0.1, "bits": bits}, 0.05)
      for solver, bits in (("lasso", 0), ("lasso", 2), ("amp", 0), ("gamp", 0), ("gamp", 1), ("gamp", 3))),
]  # fmt: skip
"""Solver, options, model, parameters, and the distance of mean and limit, for errors as a fraction of it.

Below weak recovery the limit is 0.
"""


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "options", "model", "settings", "within"), LIMITS)
def test_mean_overlaps_and_errors_are_at_their_limits(solver, options, model, settings, within):
    traces = [lrlab.solve(lrlab.spec(model, seed=seed, **settings), solver, **options) for seed in range(8)]
    metric = "error" if model == "compressed-sensing" else "overlap"
    limit = traces[0].metrics[f"limit_{metric}"]
    within *= limit if metric == "error" else 1.0
    assert np.mean([trace.metrics[metric] for trace in traces]) == pytest.approx(limit, abs=within)


def test_methods_without_a_limit_there_are_run():
    spec = catalog.spec("flipped-logistic", intercept=1.0, design="correlated")
    for solver in ("pairwise-moment", "save", "sir"):
        job = make_job(spec, solver)
        assert job.entry.predict(spec, dict(job.options)) == {}
        assert job.entry.sample(spec, dict(job.options), 3).shape == (3,), "small problems are run"
        assert not theory.replicates(job.on(spec.replace(n=1_000_000)), 60.0)
    assert "this design is correlated" in spec.remark


CELLS = [
    ("one-bit-phase-retrieval", {"n": 60, "threshold": 5.0, "p": 5}),
    ("one-bit-phase-retrieval", {"n": 12, "threshold": 0.01, "p": 2, "sparsity": 1}),
    ("flipped-logistic", {"n": 20, "intercept": 5.0, "p": 4, "seed": 1000}),
    ("one-bit-sensing", {"n": 4, "p": 2, "noise": 0.0, "seed": 1000}),
    ("custom-link", {"n": 30, "p": 3, "link": "max(-1, min(1, z + 7))"}),
]
WITHOUT_INTERCEPT = {"marginal-mean", "biht", "plan-vershynin-ball", "plan-vershynin-lp"}


@pytest.mark.parametrize(("model", "values"), CELLS, ids=[model for model, _ in CELLS])
def test_equal_answers_end_in_the_same_sentence_for_all_solvers(model, values):
    spec, ended = catalog.spec(model, **values), set()
    assert abs(spec.build().y.sum()) == spec.n
    for entry in catalog.solvers_for(model):
        try:
            trace = lrlab.solve(spec, entry.name)
        except InputError:
            continue
        if entry.name == "gamp":
            continue
        ended.add(entry.name)
        if entry.name in WITHOUT_INTERCEPT:
            assert trace.note.endswith(SAME_ANSWERS)
        else:
            assert trace.stop is Stop.FINISHED and trace.note == ONE_KIND and not trace.estimate.any()
            assert trace.metrics["overlap"] == 0.0
    assert ended


def test_a_refusal_by_keyword_joins_those_of_the_family():
    """It was overwritten without a word."""

    def refuse(spec, options):
        raise InputError("n", "another one", spec.n, "none")

    def run(problem, *, rng):
        yield Iterate(np.zeros(problem.shape[1]))

    [entry] = entries(index_solver(needs_samples, refuse=refuse)(run))
    with pytest.raises(InputError, match="at least 2p"):
        entry.refuse(catalog.spec("one-bit-sensing", n=4, p=3), {})
    with pytest.raises(InputError, match="another one"):
        entry.refuse(catalog.spec("one-bit-sensing", n=40, p=3), {})


def test_a_moment_without_pairs_has_no_direction():
    spec = catalog.spec("one-bit-sensing", n=4, p=2, seed=3)
    problem = spec.build()
    changed = problem.y[1::2] != problem.y[::2]
    assert not changed.any() and 0 < (problem.y > 0).sum() < 4
    trace = lrlab.solve(spec, "pairwise-moment", moment="M")
    assert trace.stop is Stop.FINISHED and not trace.estimate.any() and trace.note.endswith(NO_PAIRS)


def test_a_prediction_counts_the_problems_whose_answers_are_equal():
    spec = catalog.spec("one-bit-phase-retrieval", n=8, p=2, threshold=1.5)
    problems = [spec.replace(seed=5000 + k) for k in range(150)]
    equal = sum(abs(one.build().y.sum()) == one.n for one in problems)
    overlaps = [lrlab.solve(one, "phd").metrics["overlap"] for one in problems]
    assert equal > 5 and overlaps.count(0.0) == equal
    predicted = theory.exact(make_job(spec, "phd"))["predicted_overlap"]
    assert abs(np.mean(overlaps) - predicted) < 4 * np.std(overlaps) / np.sqrt(len(overlaps))


FLIPPED = lrlab.spec("flipped-logistic", n=800, p=6, flip=0.1, seed=2)


def clean(margin):
    return np.logaddexp(0.0, -margin)


def unbiased(margin, flip=0.1):
    return ((1 - flip) * clean(margin) - flip * clean(-margin)) / (1 - 2 * flip)


def shifted(margin, penalty=0.6):
    shifts = np.maximum(0.0, np.log(1.0 / penalty - 1.0) - margin)
    return clean(margin + shifts) + penalty * shifts


@pytest.mark.parametrize(
    ("solver", "settings", "loss"), [("unbiased-logistic", {}, unbiased), ("shift-logistic", {"penalty": 0.6}, shifted)]
)
def test_the_minimum_is_that_of_a_general_minimizer_of_the_printed_loss(solver, settings, loss):
    problem = FLIPPED.build()
    Z = np.column_stack([np.ones(800), problem.X])
    reference = minimize(lambda theta: loss(problem.y * (Z @ theta)).mean(), np.zeros(7), tol=1e-10)
    trace = lrlab.solve(FLIPPED, solver, **settings)
    assert trace.table["objective"].iloc[-1] == pytest.approx(reference.fun, abs=1e-6)
    assert trace.estimate == pytest.approx(reference.x[1:], abs=2e-3) and trace.stop.name == "CONVERGED"


def test_without_flips_or_shifts_both_are_logistic_regression():
    logistic = lrlab.solve(FLIPPED, "logistic").estimate
    assert lrlab.solve(FLIPPED, "unbiased-logistic", assumed_flip=0.0).estimate == pytest.approx(logistic, abs=1e-6)
    assert lrlab.solve(FLIPPED, "shift-logistic", penalty=1.0).estimate == pytest.approx(logistic, abs=1e-6)


SEPARABLE = [
    lrlab.spec("one-bit-sensing", n=300, p=20, noise=0.1, seed=0),
    lrlab.spec("one-bit-sensing", n=400, p=8, noise=0.0, seed=3),
    lrlab.spec("one-bit-sensing", n=30, p=40, noise=0.4, seed=3),
    lrlab.spec("custom-link", link="tanh(3*z)", n=40, p=20, seed=2),
]


@pytest.mark.parametrize(
    ("solver", "spec"),
    [
        *itertools.product(("logistic", "probit", "unbiased-logistic", "shift-logistic"), SEPARABLE[:3]),
        ("link-free-refinement", SEPARABLE[3]),
    ],
    ids=lambda value: getattr(value, "model", value),
)
def test_separable_responses_leave_a_direction_that_separates_them_and_no_minimum(solver, spec):
    trace = lrlab.solve(spec, solver)
    problem = trace.problem
    assert trace.stop is Stop.NO_MINIMUM and "separable" in trace.note and np.isfinite(trace.estimate).all()
    ordered = problem.y[np.argsort(problem.X @ trace.estimate)]
    # A link of any form may separate a band.
    assert np.count_nonzero(np.diff(ordered)) <= (2 if solver == "link-free-refinement" else 1)
    assert solver == "link-free-refinement" or ordered[-1] == 1


@pytest.mark.parametrize("solver", ["logistic", "probit", "shift-logistic", "unbiased-logistic"])
def test_a_rare_column_that_only_positive_responses_have_leaves_no_minimum(solver):
    """All other responses are ties along that column."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 3))
    X[:, 2] = np.arange(200) < 6
    y = np.where((rng.random(200) < 1.0 / (1.0 + np.exp(-X[:, 0]))) | (X[:, 2] > 0), 1, -1)
    assert lrlab.recover(y, X=X, model="flipped-logistic", solver=solver).stop is Stop.NO_MINIMUM
    assert lrlab.solve(FLIPPED, "unbiased-logistic", assumed_flip=0.45).stop is Stop.NO_MINIMUM


def test_the_isotron_is_about_as_accurate_as_the_likelihood_of_a_monotone_link():
    spec = lrlab.spec("one-bit-sensing", n=3000, p=20, noise=0.3, seed=1)
    trace = lrlab.solve(spec, "isotron")
    assert trace.stop.name == "FINISHED"
    assert trace.metrics["error"] < 1.25 * lrlab.solve(spec, "probit").metrics["error"]
    assert trace.metrics["error"] < 0.8 * lrlab.solve(spec, "marginal-mean").metrics["error"]


def test_the_linear_program_obeys_all_signs_with_the_least_norm_and_says_when_none_does():
    spec = lrlab.spec("one-bit-sensing", n=200, p=60, sparsity=4, noise=0.0, seed=3)
    trace, problem = lrlab.solve(spec, "plan-vershynin-lp"), spec.build()
    signed = problem.y[:, None] * problem.X
    assert (signed @ trace.estimate > -1e-9).all() and trace.metrics["error"] < 0.4
    assert trace.table["objective"].iloc[-1] <= np.abs(problem.truth).sum() / (signed @ problem.truth).mean() + 1e-9
    with pytest.raises(InputError, match="got noise 0.5 and flip 0 on one-bit-sensing: take plan-vershynin-ball"):
        lrlab.solve(spec.replace(noise=0.5), "plan-vershynin-lp")
    noisy = spec.replace(noise=0.5, n=2000).build()
    assert "No b obeys all signs" in next(plan_vershynin_lp(noisy, rng=np.random.default_rng(0))).note


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_the_ball_estimate_maximizes_the_correlation(kept):
    spec = lrlab.spec("one-bit-sensing", n=100, p=5, noise=0.5, seed=4)
    problem = spec.build()
    mean = problem.y @ problem.X / 100
    b = lrlab.solve(spec, "plan-vershynin-ball", kept=kept).estimate
    rng = np.random.default_rng(0)
    points = rng.standard_normal((20_000, 5)) * rng.random((20_000, 5)) ** 3
    points /= np.maximum(np.linalg.norm(points, axis=1), np.abs(points).sum(axis=1) / np.sqrt(kept))[:, None]
    assert np.linalg.norm(b) == pytest.approx(1) and np.abs(b).sum() <= np.sqrt(kept) + 1e-9
    assert b @ mean >= (points @ mean).max()
