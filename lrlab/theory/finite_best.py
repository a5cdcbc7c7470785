r"""The Bayes-optimal overlap and error at a given n and p, for Gaussian designs.

The mean squared overlap of any estimator, over signals from the model's prior and their data, is at most the mean of
the largest eigenvalue of E[b b^T | X, y]; its mean error sqrt(2 - 2 |<b, v>|) is at least the mean of the smallest
posterior expectation of it over unit vectors v. Both are means over simulated problems, with posteriors by
`theory.posterior_sampler`. If a problem is too large for that, its asymptotic limit is given instead; no value is
better than the information in the responses allows.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.theory.information import information, information_limits
from lrlab.theory.links import Link
from lrlab.theory.posterior_sampler import log_likelihood, posterior_samples
from lrlab.theory.state_evolution import overlaps

SEED = 7_262_024
LARGEST_P, QUICK_NUMBERS = 64, 60_000
"""For larger p, the limit is given if X has more entries than that, or the link is not monotone."""
MOST_NUMBERS = 4_000_000
"""Entries of X above which the limit is given if it holds, as sampling takes long."""
DISTANCE_STEPS, SMALLEST = 20, 1e-9
"""Steps of Weiszfeld's algorithm, and the distance below which it does not divide."""
LIMIT_DRAWS = 4000


class FiniteBest(NamedTuple):
    """Best mean overlap and error, each with its own optimum.

    low, high: 10% and 90% quantiles over signals and data; _error: standard error of the mean. draws: simulated
    problems. method: how lrlab computed it.
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
    """Posterior expectations (2,) of overlap and error, their uncertainty, and samples of both (samples, 2)."""

    means: Array
    doubts: Array
    samples: Array


def why_no_best(spec: Any) -> str:
    """Return why no bound is given; "" if there is one."""
    if spec.truth != "random":
        return "the signal is an image, not a random one"
    if not spec.theory_holds:
        return f"the design is {spec.design}, not Gaussian with independent entries"
    if 1 < spec.sparsity < spec.p:
        return "the non-zero entries of a sparse signal have too many possible supports to average over"
    if spec.entries != "gaussian" and spec.sparsity != 1:
        return "the entries of the signal have equal sizes"
    if spec.sparsity != 1 and not _is_monotone(spec.link_function):
        if spec.p > LARGEST_P and _near_transition(spec):
            return "n/p is below or near a phase transition, and no sampler averages over both sides"
        if spec.p <= LARGEST_P and _may_have_parts(spec):
            return "the link is not monotone, and at this n/p no sampler may connect all parts of the posterior"
    if spec.n * spec.p > MOST_NUMBERS and not _limit_holds(spec):
        return "so many measurements take too long to simulate"
    return ""


def _is_monotone(link: Link) -> bool:
    rises = np.diff(link(np.linspace(-6.0, 6.0, 1201)))
    return bool(rises.min() > -1e-9 or rises.max() < 1e-9)


def _may_have_parts(spec: Any) -> bool:
    """Return whether chains from the truth may miss parts of the posterior that are as likely."""
    link, n, p = spec.link_function, spec.n, spec.p
    # A chain reaches all of the posterior if information is small, or if half of the measurements determine b.
    return n * information(link) > 2.0 and overlaps(link, n / p / 2.0).fast < 0.8


def _near_transition(spec: Any) -> bool:
    """Return whether the limit is near a guess, or changes abruptly within the chance fluctuation of n/p."""
    ratio, chance = spec.n / spec.p, 2.0 * math.sqrt(2.0 / max(spec.n, spec.p))
    low, q, high = (overlaps(spec.link_function, ratio * math.exp(side * chance)).best for side in (-1.0, 0.0, 1.0))
    return high - low > 0.2 or q < 10.0 / spec.p


def finite_best(spec: Any, draws: int = 40) -> FiniteBest | None:
    """Return the best mean overlap and error at the spec's n and p; None if `why_no_best` has a reason.

    draws: number of simulated problems, always the same first ones.
    """
    if why_no_best(spec):
        return None
    link, n, p = spec.link_function, spec.n, spec.p
    if spec.sparsity == 1:
        return _collected([_one_entry(link, n, p, k) for k in range(draws)], "all supports enumerated")
    if _too_large(link, n, p) and _limit_holds(spec):
        best = _limit(link, n, p)
    else:
        # Problems differ less the longer the signal is, and take longer the larger they are.
        count = math.ceil(draws * min(1.0, 25 / p, 40_000 / (n * p)))
        best = _collected(_sampled(link, n, p, max(count, min(draws, 6))), "posterior sampling")
    overlap, error = information_limits(link, n, p)
    return best._replace(overlap=min(best.overlap, overlap), error=max(best.error, error))


def _too_large(link: Link, n: int, p: int) -> bool:
    if p <= LARGEST_P:
        return n > 8000 or n * p > MOST_NUMBERS
    return n * p > QUICK_NUMBERS or not _is_monotone(link)


def _limit_holds(spec: Any) -> bool:
    """Return whether the limit describes a spec: p is large, or the posterior Gaussian in its p - 1 directions.

    The posterior is Gaussian if responses change over a wider range of the index than it spans.
    """
    if spec.sparsity == 1 or spec.p > LARGEST_P:
        return spec.sparsity != 1
    link = spec.link_function
    rest = 1.0 - overlaps(link, spec.n / spec.p).best
    return rest < 0.01 * (link.noise**2 if link.breakpoints() else 1.0)


def _collected(scores: list[Scores], method: str) -> FiniteBest:
    means, doubts = np.array([one.means for one in scores]), np.mean([one.doubts for one in scores], axis=0)
    # One problem says nothing about the spread between problems.
    spread = means.std(axis=0, ddof=1) / math.sqrt(len(scores)) if len(scores) > 1 else np.full(2, math.inf)
    samples = np.concatenate([one.samples for one in scores])
    return _summary(means.mean(axis=0), samples, np.hypot(spread, doubts), len(scores), method)


def _summary(means: Array, samples: Array, errors: Array, draws: int, method: str) -> FiniteBest:
    columns = np.stack([means, *np.quantile(samples, [0.1, 0.9], axis=0), errors])
    return FiniteBest._make([*map(float, columns.T.ravel()), draws, method])


@lru_cache(maxsize=4096)
def _sampled(link: Link, n: int, p: int, draws: int) -> list[Scores]:
    """Return the scores of the first simulated problems with a dense truth."""
    rng = np.random.default_rng(SEED)
    truths = rng.standard_normal((draws, p))
    truths /= np.linalg.norm(truths, axis=1, keepdims=True)
    X = rng.standard_normal((draws, n, p))
    y = np.where(rng.random((draws, n)) < (1.0 + np.asarray(link(np.einsum("kij,kj->ki", X, truths)))) / 2.0, 1.0, -1.0)
    last = 600 + 10 * p
    # 400 samples per chain, without the first sixth.
    steps = range(last // 6, last, max(1, last // 400))
    width = math.sqrt((1.0 - overlaps(link, n / p).best) / p)
    return [scored(each) for each in posterior_samples(link, X, y, truths, steps, max(width, SMALLEST), rng)]


def scored(halves: Array) -> Scores:
    """Return the scores of the best directions for samples (2, samples, p) of one posterior.

    The direction v of one half is too good on its own samples, and less than the best on the other's. To first order
    both differ from the best by the same amount if the halves agree on v, and the mean of both scores is unbiased. If
    they do not agree, as with responses that say nothing, the other half's score is nearer.
    """
    rows = []
    directions = [np.linalg.eigh(b.T @ b)[1][:, -1] for b in halves]
    for k, score in enumerate((lambda b, v: np.square(b @ v), distances)):
        if k == 1:
            directions = [_nearest(b, v) for b, v in zip(halves, directions, strict=True)]
        table = np.array([[score(b, v) for b in halves] for v in directions])
        means = table.mean(axis=2)
        own, other = (means[0, 0] + means[1, 1]) / 2.0, (means[0, 1] + means[1, 0]) / 2.0
        agree = min(float(directions[0] @ directions[1]) ** 2, 1.0)
        rows.append((other + agree * (own - other) / 2.0, (1.0 - agree) * abs(own - other) / 2.0, table.ravel()[::40]))
    means, doubts, samples = zip(*rows, strict=True)
    return Scores(np.array(means), np.array(doubts), np.stack(samples, axis=1))


def _nearest(b: Array, v: Array) -> Array:
    """Return the unit vector near v with the smallest mean distance to rows b (samples, p), by Weiszfeld."""
    for _ in range(DISTANCE_STEPS):
        v = unit((np.sign(b @ v) / np.maximum(distances(b, v), SMALLEST)) @ b)
    return v


def distances(b: Array, v: Array) -> Array:
    """Return the sign-free distances (samples,) of unit vectors b (samples, p) from the unit vector v."""
    return np.linalg.norm(b - np.where(b @ v < 0.0, -1.0, 1.0)[:, None] * v, axis=1)


@lru_cache(maxsize=4096)
def _one_entry(link: Link, n: int, p: int, number: int) -> Scores:
    """Return the scores of one simulated problem whose truth is one of +-e_j: all 2 p probabilities are exact."""
    rng = np.random.default_rng([SEED, number])
    size, index = rng.choice([-1.0, 1.0]), rng.integers(p)
    X = rng.standard_normal((n, p))
    y = np.where(rng.random(n) < (1.0 + np.asarray(link(size * X[:, index]))) / 2.0, 1.0, -1.0)
    terms = log_likelihood(link)
    logs = np.concatenate([terms(sign * X.T, y).sum(axis=1) for sign in (1.0, -1.0)])
    chances = np.exp(logs - logs.max()).reshape(2, p).sum(axis=0)
    chances /= chances.sum()
    best = np.eye(p)[np.argmax(chances)]
    # A direction between the axes has a smaller mean error if several indices are as likely.
    between = np.sqrt(chances)
    for _ in range(DISTANCE_STEPS):
        between = unit(chances / np.sqrt(np.maximum(2.0 - 2.0 * between, SMALLEST)))
    errors = np.array([np.sqrt(np.maximum(2.0 - 2.0 * v, 0.0)) for v in (best, between)])
    nearest = errors[np.argmin(errors @ chances)]
    at = rng.choice(p, size=20, p=chances)
    means = np.array([chances.max(), float(nearest @ chances)])
    return Scores(means, np.zeros(2), np.stack([best[at], nearest[at]], axis=1))


@lru_cache(maxsize=4096)
def _limit(link: Link, n: int, p: int) -> FiniteBest:
    """Return the best overlap and error in the limit of large p, with fluctuations.

    If q is the limit, b = g / |g| with g = sqrt(q) v + sqrt((1 - q) / p) e, e ~ N(0, I_p): for q near 1 the p - 1
    coordinates off v make the squared error (1 - q) chi^2_{p-1} / p; for q = 0 the overlap has the mean 1/p of a guess.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    around = np.array([overlaps(link, n / p * math.exp(x * math.sqrt(2.0 / max(n, p)))).best for x in nodes])
    # Random data are as informative as data at another n/p, which matters near a transition.
    q, rng = float(weights @ around / weights.sum()), np.random.default_rng(SEED)
    along = math.sqrt(q) + math.sqrt((1.0 - q) / p) * rng.standard_normal(LIMIT_DRAWS)
    across = (1.0 - q) / p * rng.chisquare(p - 1, LIMIT_DRAWS)
    length = np.sqrt(along**2 + across)
    errors = np.sqrt(2.0 * across / (length * (length + np.abs(along))))
    samples = np.stack([np.square(along / length), errors], axis=1)
    means = samples.mean(axis=0)
    # Terms of order 1/p are omitted, and the curve bends between the nodes.
    bend = abs(q - overlaps(link, n / p).best)
    unsure = np.array([(1.0 - q) / p + bend, means[1] / p + bend / max(means[1], SMALLEST)])
    return _summary(means, samples, unsure + samples.std(axis=0) / math.sqrt(LIMIT_DRAWS), 0, "asymptotic limit")
