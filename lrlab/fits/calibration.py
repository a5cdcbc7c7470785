"""What scores say of labels, from rows held out: thresholds, also of single labels, and a logistic curve."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab import ranking
from lrlab.arrays import Array, Mask
from lrlab.models.multilabel_problem import Predictor
from lrlab.models.own_rows import OwnProblem, OwnThresholds

GAIN = 2.0
"""Standard errors by which the predictions that a threshold of its own changes are right more often than wrong."""
MOST_SCORES = 2**22
"""Scores of the rows held out that are looked at: more hardly change a threshold."""
MOST_FITTED = 2**16
"""Scores of the rows held out to which the curve is fitted: two numbers need no more."""

Calibration = tuple[float, ...]
"""Slope a and intercept b of p = 1 / (1 + exp(-(a s + b))), the probability that a label of score s is on; or none."""


class HeldOut(NamedTuple):
    """Scores (n, L) of evenly spread rows held out, and where labels are known, on, and predicted by the estimate."""

    scores: Array
    known: Mask
    on: Mask
    predicted: Mask


def held_out(problems: Sequence[OwnProblem], estimates: Sequence[Predictor]) -> HeldOut:
    """Return the scores of estimates on the test rows of their problems, about MOST_SCORES at most."""
    parts = []
    step = math.ceil(sum(math.prod(problem.Y_test.shape) for problem in problems) / MOST_SCORES)
    for problem, estimate in zip(problems, estimates, strict=True):
        rows = np.arange(0, problem.Y_test.shape[0], max(1, step))
        scores = ranking.rows_of(estimate.scores(problem.X_test[rows]), slice(None))
        known = np.ones(scores.shape, bool) if problem.mask_test is None else problem.mask_test[rows].toarray() > 0
        on = known & (problem.Y_test[rows].toarray() > 0)
        parts.append((scores, known, on, scores > estimate.threshold))
    return HeldOut(*(np.vstack(part) for part in zip(*parts, strict=True)))


def best_threshold(held: HeldOut) -> float:
    """Return the score above which the fewest labels known on the rows held out are predicted wrongly.

    Just below the score of a label; of equally good ones the median. nan where no label is on, and where the estimate's
    own threshold is not worse by a sign test: of few rows the best score above which labels are on is noisy.
    """
    # Imported here: presets are read without scikit-learn.
    from sklearn.metrics import confusion_matrix_at_thresholds

    scores, on, predicted = (table[held.known] for table in (held.scores, held.on, held.predicted))
    if not on.any():
        return math.nan
    # Predicted from thresholds[i] on, which fall.
    _, fps, fns, tps, thresholds = confusion_matrix_at_thresholds(on, scores)
    wrong = fps + fns
    best = np.flatnonzero(wrong == wrong.min())
    place = best[(len(best) - 1) // 2]
    none = wrong[place] >= on.sum()
    fewest, count = (on.sum(), 0) if none else (wrong[place], fps[place] + tps[place])
    if (predicted != on).sum() - fewest < GAIN * math.sqrt(abs(predicted.sum() - count)):
        return math.nan
    return float(thresholds[0] if none else np.nextafter(thresholds[place], -math.inf))


def own_thresholds(held: HeldOut, common: float) -> OwnThresholds:
    """Return the labels that gain by a threshold of their own, with it: midway between two scores of rows held out.

    A label gains where of the c predictions that change at least GAIN sqrt(c) more become right than wrong, as a sign
    test has it; chance alone hardly does that.
    """
    if math.isnan(common):
        return ()
    L = held.scores.shape[1]
    order = np.argsort(held.scores, axis=0)
    S = np.take_along_axis(held.scores, order, axis=0)
    known, on = (np.take_along_axis(table, order, axis=0) for table in (held.known, held.on))
    # Predicted from place i on: what is on before it is missed, what is off from it on is predicted.
    missed, off, total = (np.vstack([np.zeros((1, L)), np.cumsum(table, axis=0)]) for table in (on, known & ~on, known))
    wrong, labels = missed + off[-1] - off, np.arange(L)
    present = (S <= common).sum(axis=0)
    base = wrong[present, labels]
    # No threshold lies between two equal scores, nor beyond all of them, where a label would be all on or all off.
    wrong[1:-1][S[1:] == S[:-1]] = np.inf
    wrong[[0, -1]] = np.inf
    best = wrong.argmin(axis=0)
    changed = np.abs(total[best, labels] - total[present, labels])
    gains = np.flatnonzero((changed > 0) & (base - wrong[best, labels] >= GAIN * np.sqrt(changed)))
    return tuple((int(j), float((S[best[j] - 1, j] + S[best[j], j]) / 2)) for j in gains)


def calibrated(held: HeldOut) -> Calibration:
    """Return the calibration of scores by labels known on rows held out; none where these are all on, or all off.

    maximise    sum over them of t log p + (1 - t) log(1 - p), t = (m + 1) / (m + 2) for each of m that are on, and
                1 / (m + 2) for each of m that are off, so that p is never 0 or 1; a = 0 if scores rank them worse than
                chance does
    Reference: Platt (1999), "Probabilistic outputs for support vector machines", eq. 3 to 5.
    """
    from sklearn.linear_model import LogisticRegression

    step = math.ceil(held.scores.size / MOST_FITTED)
    known = held.known[::step]
    scores, on = held.scores[::step][known], held.on[::step][known]
    if not 0 < (count := int(on.sum())) < len(on):
        return ()
    centre, unit = float(scores.mean()), float(scores.std()) or 1.0
    t = np.where(on, (count + 1) / (count + 2), 1 / (len(on) - count + 2))
    # Each label counts as on with weight t, and as off with weight 1 - t.
    z, weights = np.tile((scores - centre) / unit, 2)[:, None], np.concatenate([t, 1 - t])
    curve = LogisticRegression(C=math.inf, tol=1e-6).fit(z, np.repeat([1, 0], len(t)), sample_weight=weights)
    if (slope := float(curve.coef_[0, 0])) <= 0:
        return 0.0, float(np.log(t.mean() / (1 - t.mean())))
    return slope / unit, float(curve.intercept_[0] - slope * centre / unit)


def probabilities(calibration: Calibration, scores: Array) -> Array:
    """Return the probabilities that labels of these scores are on."""
    a, b = calibration
    return np.asarray(expit(a * scores + b))
