"""Robust losses by reweighted Gauss-Newton: exact where least squares fails, a true *Converged*, noise."""

import numpy as np
import pytest
from scipy.special import huber as scipy_huber

import lrlab
from lrlab.protocol import Stop
from lrlab.solvers.low_rank.robust import CUTS, EXACT, deviation, robust_gauss_newton
from lrlab.solvers.low_rank.tangent import gradient, point

SPECS = [
    lrlab.spec("rank-one-sensing", d1=30, d2=30, rank=2, m=500),
    lrlab.spec("rank-one-sensing", operator="dense", d1=16, d2=12, rank=2, m=250),
    lrlab.spec("polynomial-network", p=40, r=2, m=400),
    lrlab.spec("inductive-completion", features="canonical", n1=60, n2=60, rank=2, observed=0.35),
    lrlab.spec("inductive-completion", n1=80, n2=80, d1=20, d2=20, rank=2, observed=0.08),
    lrlab.spec("multilabel-regression", n=120, d=15, labels=40, rank=2, observed=0.3),
]
IDS = [f"{spec.model}-{spec.values().get('features', spec.values().get('operator', ''))}" for spec in SPECS]


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_it_recovers_with_gross_errors_where_least_squares_does_not(spec, share):
    wrong = spec.replace(outliers=share, seed=51000)
    for loss in CUTS:
        trace = lrlab.solve(wrong, "robust-gauss-newton", loss=loss)
        assert trace.stop is Stop.CONVERGED and trace.metrics["weakest_error"] < 1e-6
        above = int(trace.note.split(" of ")[0])
        assert 1.0 <= above / round(share * wrong.measurements) < 1.2
    squares = lrlab.solve(wrong, "gauss-newton", max_iter=8)
    assert squares.metrics["weakest_error"] > 0.5


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_converged_is_said_of_stationary_points_of_the_loss(spec, noise):
    wrong = spec.replace(noise=noise, outliers=0.15, seed=51001)
    # Absolute deviations take more than the iterations of a run under noise.
    for loss in ("huber",) if noise else CUTS:
        trace = lrlab.solve(wrong, "robust-gauss-newton", loss=loss)
        assert trace.stop is Stop.CONVERGED
        problem, W = trace.problem, trace.estimate
        *_, last = robust_gauss_newton(problem, loss=loss, rng=np.random.default_rng(wrong.streams().solver))
        c = last.loss.args[2]
        at = point(problem.operator, W, problem.b)
        assert trace.metrics["objective"] == pytest.approx(float(scipy_huber(c, at.misfit).sum()))
        # The gradient of the loss on the tangent space, beside that of as many errors of the size c at random.
        signs = np.random.default_rng(0).choice((-c, c), len(at.misfit))
        slopes = [gradient(problem.operator, at._replace(misfit=r)) for r in (np.clip(at.misfit, -c, c), signs)]
        left, random = (slope.inner(slope, W) ** 0.5 for slope in slopes)
        assert left < 0.01 * random


def test_the_loss_never_rises_once_all_measurements_count():
    trace = lrlab.solve(SPECS[3].replace(noise=0.1, outliers=0.2, seed=51000), "robust-gauss-newton")
    objective = trace.table["objective"].to_numpy()[trace.table["residual"].first_valid_index() :]
    assert len(objective) > 3 and (np.diff(objective) <= 1e-12 * objective[:-1]).all()


def test_under_noise_little_is_lost_to_least_squares_without_gross_errors():
    ratios = []
    for seed in range(51000, 51004):
        spec = SPECS[0].replace(noise=0.05, outliers=0.1, seed=seed)
        robust, squares = (
            lrlab.solve(one, name).metrics["error"]
            for one, name in ((spec, "robust-gauss-newton"), (spec.replace(outliers=0.0), "gauss-newton"))
        )
        ratios.append(robust / squares)
    assert 0.9 < np.mean(ratios) < 1.8


def test_without_gross_errors_it_ends_where_gauss_newton_does():
    robust, squares = (lrlab.solve(SPECS[0], name) for name in ("robust-gauss-newton", "gauss-newton"))
    assert robust.stop is Stop.CONVERGED
    assert robust.estimate.dense() == pytest.approx(squares.estimate.dense(), abs=1e-9)


@pytest.mark.parametrize("base", [SPECS[0].replace(d1=6, d2=6, rank=1, m=24), SPECS[2].replace(p=8, r=1, m=20)])
def test_ends_where_the_truth_has_a_smaller_loss_are_local_minima(base):
    stops = []
    for seed in range(61000, 61020):
        trace = lrlab.solve(base.replace(outliers=0.05, seed=seed), "robust-gauss-newton")
        stops.append(trace.stop)
        operator, b = trace.problem.operator, trace.problem.b
        ends, true = (np.abs(operator.forward(W) - b) for W in (trace.estimate, trace.problem.truth))
        c = max(CUTS["huber"] * deviation(ends), EXACT * deviation(b))
        smaller = scipy_huber(c, true).sum() < scipy_huber(c, ends).sum() - c**2 / CUTS["huber"]
        if trace.stop in (Stop.CONVERGED, Stop.LOCAL_MINIMUM):
            assert (trace.stop is Stop.LOCAL_MINIMUM) == smaller
    # Some start ends in one, most do not.
    assert 1 <= stops.count(Stop.LOCAL_MINIMUM) <= 5 and stops.count(Stop.CONVERGED) >= 12
