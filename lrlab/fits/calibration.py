"""Probabilities of labels by their scores: a logistic curve, fitted to rows held out."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from lrlab import ranking
from lrlab.arrays import Array
from lrlab.models.multilabel_problem import Predictor
from lrlab.models.own_rows import OwnProblem

MOST_SCORES = 2**16
"""Scores of the rows held out that are used: two numbers need no more."""

Calibration = tuple[float, ...]
"""Slope a and intercept b of p = 1 / (1 + exp(-(a s + b))), the probability that a label of score s is on; or none."""


def calibrated(problems: Sequence[OwnProblem], estimates: Sequence[Predictor]) -> Calibration:
    """Return the calibration of scores by labels known on rows held out; none where these are all on, or all off.

    maximise    sum over them of t log p + (1 - t) log(1 - p), t = (m + 1) / (m + 2) for each of m that are on, and
                1 / (m + 2) for each of m that are off, so that p is never 0 or 1; a = 0 if scores rank them worse than
                chance does
    Reference: Platt (1999), "Probabilistic outputs for support vector machines", eq. 3 to 5.
    """
    pairs = [_held_out(*pair, MOST_SCORES // len(problems)) for pair in zip(problems, estimates, strict=True)]
    s, on = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    if not 0 < (count := int(on.sum())) < len(on):
        return ()
    centre, unit = float(s.mean()), float(s.std()) or 1.0
    z, t = (s - centre) / unit, np.where(on, (count + 1) / (count + 2), 1 / (len(on) - count + 2))

    def loss(ab: Array) -> tuple[float, Array]:
        u = ab[0] * z + ab[1]
        slopes = (expit(u) - t) / len(z)
        return float(np.mean(np.logaddexp(0.0, u) - t * u)), np.array([slopes @ z, slopes.sum()])

    start = np.array([0.0, logit(t.mean())])
    a, b = minimize(loss, start, jac=True, method="BFGS").x
    if a <= 0:
        return 0.0, float(start[1])
    return float(a / unit), float(b - a * centre / unit)


def _held_out(problem: OwnProblem, estimate: Predictor, most: int) -> tuple[Array, Array]:
    """Return scores of labels known on evenly spread rows held out, about `most`, and whether these are on."""
    n, L = problem.Y_test.shape
    rows = np.arange(0, n, math.ceil(n * L / most))
    scores = ranking.rows_of(estimate.scores(problem.X_test[rows]), slice(None))
    known = np.ones(scores.shape, bool) if problem.mask_test is None else problem.mask_test[rows].toarray() > 0
    return scores[known], problem.Y_test[rows].toarray()[known] > 0


def probabilities(calibration: Calibration, scores: Array) -> Array:
    """Return the probabilities that labels of these scores are on."""
    a, b = calibration
    return np.asarray(expit(a * scores + b))
