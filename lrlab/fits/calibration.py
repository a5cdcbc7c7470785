"""What scores say of labels, from rows held out: thresholds, also of single labels, and a logistic curve."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from lrlab import ranking
from lrlab.arrays import Array
from lrlab.models.multilabel_problem import Predictor, threshold_of
from lrlab.models.own_rows import OwnProblem, OwnThresholds

GAIN = 2.0
"""Standard errors by which the predictions that a threshold of its own changes are right more often than wrong."""
MOST_SORTED = 2**25
"""Scores of the rows held out beyond which no label gets a threshold of its own: they are sorted in memory."""
MOST_FITTED = 2**16
"""Scores of the rows held out to which the curve is fitted: two numbers need no more."""

Calibration = tuple[float, ...]
"""Slope a and intercept b of p = 1 / (1 + exp(-(a s + b))), the probability that a label of score s is on; or none."""


def best_threshold(problems: Sequence[OwnProblem], estimates: Sequence[Predictor]) -> tuple[float, float]:
    """Return the score above which the fewest labels known on the rows held out are predicted wrongly, and their share.

    Just below the score of a label that is on; of equally good ones the median. nan where no label is on, and where the
    estimate's own threshold is not worse by a sign test: of few rows the best score above which labels are on is noisy.
    """
    tables = [
        (estimate.scores(problem.X_test), problem.Y_test, problem.mask_test, threshold_of(estimate))
        for problem, estimate in zip(problems, estimates, strict=True)
    ]

    def blocks() -> Iterator[tuple[Array, Array, Array | None, float]]:
        for scores, Y, known, own in tables:
            for rows, block in ranking.row_blocks(scores, *Y.shape):
                yield block, Y[rows].toarray() > 0, None if known is None else known[rows].toarray(), own

    on = np.sort(np.concatenate([block[marks] for block, marks, *_ in blocks()]))
    if not len(on):
        return math.nan, math.nan
    places, highest, present, hits = np.zeros(len(on) + 1), -math.inf, 0, 0
    for block, marks, known, own in blocks():
        values = block.ravel() if known is None else block[known]
        present, hits = present + int((values > own).sum()), hits + int((block[marks] > own).sum())
        places += np.bincount(np.searchsorted(on, values, side="right"), minlength=len(on) + 1)
        highest = max(highest, values.max(initial=-math.inf))
    # Predicted from the score on[k] on: what is on and below it is missed, what is off and above it is predicted.
    missed, predicted = np.searchsorted(on, on), places.sum() - np.cumsum(places)[:-1]
    wrong = missed + predicted - (len(on) - missed)
    best, none = np.flatnonzero(wrong == wrong.min()), wrong.min() >= len(on)
    middle = best[len(best) // 2]
    fewest, count = (len(on), 0) if none else (wrong[middle], predicted[middle])
    share = float(fewest / places.sum())
    if len(on) + present - 2 * hits - fewest < GAIN * math.sqrt(abs(present - count)):
        return math.nan, share
    return highest if none else float(np.nextafter(on[middle], -math.inf)), share


def own_thresholds(problems: Sequence[OwnProblem], estimates: Sequence[Predictor], common: float) -> OwnThresholds:
    """Return the labels that gain by a threshold of their own, with it: midway between two scores of rows held out.

    A label gains where of the c predictions that change at least GAIN sqrt(c) more become right than wrong, as a sign
    test has it; chance alone hardly does that.
    """
    L = problems[0].Y_test.shape[1]
    if math.isnan(common) or sum(problem.Y_test.shape[0] for problem in problems) * L > MOST_SORTED:
        return ()
    pairs = list(zip(problems, estimates, strict=True))
    S = np.vstack([ranking.rows_of(estimate.scores(problem.X_test), slice(None)) for problem, estimate in pairs])
    on = np.vstack([problem.Y_test.toarray() > 0 for problem in problems])
    known = np.vstack(
        [np.ones(p.Y_test.shape, bool) if p.mask_test is None else p.mask_test.toarray() for p in problems]
    )
    order = np.argsort(S, axis=0)
    S, on, known = (np.take_along_axis(table, order, axis=0) for table in (S, on & known, known))
    # Predicted from place i on: what is on before it is missed, what is off from it on is predicted.
    first = np.zeros((1, L))
    missed, off = (np.vstack([first, np.cumsum(table, axis=0)]) for table in (on, known & ~on))
    wrong, places = missed + off[-1] - off, np.arange(L)
    present = (S <= common).sum(axis=0)
    base = wrong[present, places]
    # No threshold lies between two equal scores, nor beyond all of them, where a label would be all on or all off.
    wrong[1:-1][S[1:] == S[:-1]] = np.inf
    wrong[[0, -1]] = np.inf
    best = wrong.argmin(axis=0)
    total = np.vstack([first, np.cumsum(known, axis=0)])
    changed = np.abs(total[best, places] - total[present, places])
    gains = np.flatnonzero((changed > 0) & (base - wrong[best, places] >= GAIN * np.sqrt(changed)))
    return tuple((int(j), float((S[best[j] - 1, j] + S[best[j], j]) / 2)) for j in gains)


def calibrated(problems: Sequence[OwnProblem], estimates: Sequence[Predictor]) -> Calibration:
    """Return the calibration of scores by labels known on rows held out; none where these are all on, or all off.

    maximise    sum over them of t log p + (1 - t) log(1 - p), t = (m + 1) / (m + 2) for each of m that are on, and
                1 / (m + 2) for each of m that are off, so that p is never 0 or 1; a = 0 if scores rank them worse than
                chance does
    Reference: Platt (1999), "Probabilistic outputs for support vector machines", eq. 3 to 5.
    """
    pairs = [_held_out(*pair, MOST_FITTED // len(problems)) for pair in zip(problems, estimates, strict=True)]
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
