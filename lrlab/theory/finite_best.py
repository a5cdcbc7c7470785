r"""The best overlap and error on average over signals at a finite n and p, for Gaussian designs.

Whatever an estimator knows, its mean squared overlap over signals, drawn as the model draws them, and their data is at
most the mean of the largest eigenvalue of E[b b^T | X, y]; its mean error sqrt(2 - 2 |<b, v>|) is at least the mean of
the smallest posterior expectation of it over unit vectors v. Both are means over drawn problems of what draws of the
posterior say (`theory.posterior_draws`). In finitely many draws the best v fits too well: v is computed from one half
of them and scored on both. To first order it gains in its own half what it loses in the other, so that the mean of the
two scores is unbiased.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link
from lrlab.theory.posterior_draws import log_likelihood, posterior_draws
from lrlab.theory.state_evolution import overlaps

ENTROPY = 7_262_024
CHAINS, STEPS = 20, 1500
FIXED_POINT = 20
FULL_P, FEWEST = 25, 6
"""All draws are made for signals up to this length, and fewer for longer ones, but no fewer than these."""
LARGEST_P = 64
"""Above, limits for large p are used."""
MOST_NUMBERS = 4_000_000
"""Entries of X of problems that are drawn."""
LIMIT_DRAWS = 4000
SMALLEST = 1e-9


Statistics = tuple[float, float, float, float]


class FiniteBest(NamedTuple):
    """Best mean overlap and error on average over signals and data, each with its own optimum.

    low, high: points that 10% of the draws of signal and data are below, and above; _error: standard error of the mean.
    draws: problems that were drawn. method: how it was computed.
    """

    overlap: float
    overlap_low: float
    overlap_high: float
    overlap_error: float
    error: float
    error_low: float
    error_high: float
    error_error: float
    draws: int
    method: str


class Scores(NamedTuple):
    """What the best estimates of one problem, of overlap and of error, score.

    means, gaps (2,): posterior expectations of overlap and error, and how far two estimates of each are apart;
    overlaps, errors (draws,): the scores on draws of the posterior.
    """

    means: Array
    gaps: Array
    overlaps: Array
    errors: Array


def why_no_best(spec: Any) -> str:
    """Return why no bound is given; "" where there is one."""
    if spec.truth != "random":
        return "the truth is a picture, which is not drawn at random"
    if not spec.theory_holds:
        return f"the design is {spec.design}, not Gaussian"
    if 1 < spec.sparsity < spec.p:
        return "the non-zero entries of a sparse signal may be anywhere, too many places to average over"
    if spec.entries != "gaussian" and spec.sparsity != 1:
        return "the entries of the signal are of equal size"
    if spec.n * spec.p > MOST_NUMBERS and spec.p <= LARGEST_P:
        return "so many measurements take too long to draw"
    return ""


def finite_best(spec: Any, draws: int = 40) -> FiniteBest | None:
    """Return the best mean overlap and error at the spec's n and p; None where `why_no_best` has a reason.

    draws: number of problems that are drawn, always the same first ones, so that more only adds to those known.
    """
    if why_no_best(spec):
        return None
    link, n, p = spec.link_function, spec.n, spec.p
    if spec.sparsity == 1:
        return _collected([_of_one_entry(link, n, p, k) for k in range(draws)], "all supports enumerated")
    if p > LARGEST_P:
        return _of_limit(link, n, p)
    # Problems differ the less the longer the signal is.
    needed = math.ceil(draws * min(1.0, FULL_P / p))
    scores = [_of_draws(link, n, p, k) for k in range(max(needed, min(draws, FEWEST)))]
    return _collected(scores, "posterior sampling")


def _collected(scores: list[Scores], method: str) -> FiniteBest:
    means, gaps = np.array([one.means for one in scores]), np.mean([one.gaps for one in scores], axis=0)
    # One problem says nothing of how much they differ.
    spread = means.std(axis=0, ddof=1) / math.sqrt(len(scores)) if len(scores) > 1 else np.full(2, math.inf)
    errors = np.hypot(spread, gaps / 10.0)
    ends = [np.quantile(np.concatenate(each), [0.1, 0.9]) for each in zip(*(one[2:] for one in scores), strict=True)]
    overlap, error = (
        (float(means[:, k].mean()), float(ends[k][0]), float(ends[k][1]), float(errors[k])) for k in range(2)
    )
    return _stated(overlap, error, len(scores), method)


def _problem(link: Link, n: int, p: int, truth: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.standard_normal((n, p))
    return X, np.where(rng.random(n) < (1.0 + np.asarray(link(X @ truth))) / 2.0, 1.0, -1.0)


@lru_cache(maxsize=4096)
def _of_draws(link: Link, n: int, p: int, number: int) -> Scores:
    """Return the scores of one drawn problem with a dense truth."""
    rng = np.random.default_rng([ENTROPY, number])
    truth = rng.standard_normal(p)
    truth /= np.linalg.norm(truth)
    X, y = _problem(link, n, p, truth, rng)
    return scored(posterior_draws(link, X, y, truth, CHAINS, STEPS, rng).b)


def scored(b: Array) -> Scores:
    """Return the scores of the best estimates on independent draws b (draws, p) of one posterior."""
    scores: list[list[Array]] = [[], []]
    for own, other in ((b[::2], b[1::2]), (b[1::2], b[::2])):
        top = largest_eigenvector(own)
        near = nearest_direction(own, top)
        scores[0] += [np.square(half @ top) for half in (own, other)]
        scores[1] += [distances(half, near) for half in (own, other)]
    means = np.array([[np.mean(half) for half in each] for each in scores])
    gaps = np.abs(means[:, ::2] - means[:, 1::2]).mean(axis=1)
    return Scores(means.mean(axis=1), gaps, np.concatenate(scores[0]), np.concatenate(scores[1]))


@lru_cache(maxsize=4096)
def _of_one_entry(link: Link, n: int, p: int, number: int) -> Scores:
    """Return the scores of one drawn problem whose truth is one of +-e_j: the chances of all 2 p are exact."""
    rng = np.random.default_rng([ENTROPY, number])
    truth = np.zeros(p)
    truth[rng.integers(p)] = rng.choice([-1.0, 1.0])
    X, y = _problem(link, n, p, truth, rng)
    terms = log_likelihood(link, y)
    logs = np.concatenate([terms(sign * X.T).sum(axis=1) for sign in (1.0, -1.0)])
    chances = np.exp(logs - logs.max()).reshape(2, p).sum(axis=0)
    chances /= chances.sum()
    best = np.zeros(p)
    best[np.argmax(chances)] = 1.0
    # A direction off the axes has something of several places: its error is smaller where many are as likely.
    between = np.sqrt(chances)
    for _ in range(FIXED_POINT):
        between = chances / np.sqrt(np.maximum(2.0 - 2.0 * between, SMALLEST))
        between /= np.linalg.norm(between)
    errors = np.array([np.sqrt(np.maximum(2.0 - 2.0 * v, 0.0)) for v in (best, between)])
    nearest = errors[np.argmin(errors @ chances)]
    places = rng.choice(p, size=CHAINS, p=chances)
    means = np.array([chances.max(), float(nearest @ chances)])
    return Scores(means, np.zeros(2), best[places], nearest[places])


def largest_eigenvector(b: Array) -> Array:
    """Return the unit vector v that maximises the mean of <b, v>^2 over rows b (draws, p)."""
    return np.linalg.svd(b, full_matrices=False)[2][0]


def nearest_direction(b: Array, v: Array) -> Array:
    """Return the unit vector near v with the least mean distance to rows b (draws, p), by Weiszfeld's iteration."""
    for _ in range(FIXED_POINT):
        towards = (np.sign(b @ v) / np.maximum(distances(b, v), SMALLEST)) @ b
        v = towards / np.linalg.norm(towards)
    return v


def distances(b: Array, v: Array) -> Array:
    """Return the sign-free distances (draws,) of unit vectors b (draws, p) from the unit vector v."""
    return np.minimum(np.linalg.norm(b - v, axis=1), np.linalg.norm(b + v, axis=1))


@lru_cache(maxsize=4096)
def _of_limit(link: Link, n: int, p: int) -> FiniteBest:
    """Return the limit for large p, with the fluctuations of a posterior that is Gaussian but for the unit length.

    If q is the limit, b = g / |g| with g = sqrt(q) v + sqrt((1 - q) / p) e, e ~ N(0, I_p): for q near 1 the p - 1
    coordinates off v make the squared error (1 - q) chi^2_{p-1} / p; for q = 0 the overlap has the mean 1/p of a guess.
    """
    q = overlaps(link, n / p).best
    rng = np.random.default_rng(ENTROPY)
    along = math.sqrt(q) + math.sqrt((1.0 - q) / p) * rng.standard_normal(LIMIT_DRAWS)
    across = (1.0 - q) / p * rng.chisquare(p - 1, LIMIT_DRAWS)
    length = np.sqrt(along**2 + across)
    overlap = np.square(along / length)
    error = np.sqrt(2.0 * across / (length * (length + np.abs(along))))
    return _stated(
        _limit_statistics(overlap, 1.0 - overlap, p), _limit_statistics(error, error, p), 0, "limit for large p"
    )


def _limit_statistics(score: Array, rest: Array, p: int) -> Statistics:
    """Return mean, ends and error: of the sampling, and what `rest` is off the limit by at finite p."""
    low, high = np.quantile(score, [0.1, 0.9])
    uncertain = float(rest.mean()) / p + float(score.std()) / math.sqrt(LIMIT_DRAWS)
    return float(score.mean()), float(low), float(high), uncertain


def _stated(overlap: Statistics, error: Statistics, draws: int, method: str) -> FiniteBest:
    return FiniteBest(*overlap, *error, draws, method)
