r"""The Bayes-optimal overlap and error at a given n and p, for Gaussian designs.

The mean squared overlap of any estimator, over signals from the model's prior and their data, is at most the mean of
the largest eigenvalue of E[b b^T | X, y]; its mean error sqrt(2 - 2 |<b, v>|) is at least the mean of the smallest
posterior expectation of it over unit vectors v. Both are means over simulated problems, with posteriors by
`theory.posterior_sampler`. If a problem is too large for that, its asymptotic limit is given instead; no value is
better than the information in the responses allows.
"""

import math
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
    """Best mean overlap and error, each with its own optimum; _error: standard errors; method: how lrlab found them."""

    overlap: float
    error: float
    overlap_error: float
    error_error: float
    method: str


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


def _collected(scores: list[Array], method: str) -> FiniteBest:
    """Return the mean of the scores of problems (2, 2): overlap and error, and what each leaves in doubt."""
    (means, doubts), count = np.moveaxis(np.array(scores), 1, 0), len(scores)
    # One problem says nothing about the spread between problems.
    spread = means.std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else np.full(2, math.inf)
    return FiniteBest._make([*map(float, (*means.mean(axis=0), *np.hypot(spread, doubts.mean(axis=0)))), method])


def _sampled(link: Link, n: int, p: int, draws: int) -> list[Array]:
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


def scored(halves: Array) -> Array:
    """Return overlap and error (2, 2) of the best directions for samples (2, samples, p) of one posterior, and doubts.

    The direction v of one half is too good on its own samples, and less than the best on the other's. To first order
    both differ from the best by the same amount if the halves agree on v, and the mean of both scores is unbiased. If
    they do not agree, as with responses that say nothing, the other half's score is nearer.
    """
    rows = []
    directions = [np.linalg.eigh(b.T @ b)[1][:, -1] for b in halves]
    nearest = [_nearest(b, v) for b, v in zip(halves, directions, strict=True)]
    for v, score in ((directions, lambda b, v: np.square(b @ v)), (nearest, distances)):
        means = np.array([[score(b, one).mean() for b in halves] for one in v])
        own, other = means.trace() / 2.0, (means[0, 1] + means[1, 0]) / 2.0
        agree = min(float(v[0] @ v[1]) ** 2, 1.0)
        rows.append((other + agree * (own - other) / 2.0, (1.0 - agree) * abs(own - other) / 2.0))
    return np.array(rows).T


def _nearest(b: Array, v: Array) -> Array:
    """Return the unit vector near v with the smallest mean distance to rows b (samples, p), by Weiszfeld."""
    for _ in range(DISTANCE_STEPS):
        v = unit((np.sign(b @ v) / np.maximum(distances(b, v), SMALLEST)) @ b)
    return v


def distances(b: Array, v: Array) -> Array:
    """Return the sign-free distances (samples,) of unit vectors b (samples, p) from the unit vector v."""
    return np.linalg.norm(b - np.where(b @ v < 0.0, -1.0, 1.0)[:, None] * v, axis=1)


def _one_entry(link: Link, n: int, p: int, number: int) -> Array:
    """Return the scores of one simulated problem whose truth is one of +-e_j: all 2 p probabilities are exact."""
    rng = np.random.default_rng([SEED, number])
    size, index = rng.choice([-1.0, 1.0]), rng.integers(p)
    X = rng.standard_normal((n, p))
    y = np.where(rng.random(n) < (1.0 + np.asarray(link(size * X[:, index]))) / 2.0, 1.0, -1.0)
    terms = log_likelihood(link)
    logs = np.concatenate([terms(sign * X.T, y).sum(axis=1) for sign in (1.0, -1.0)])
    chances = np.exp(logs - logs.max()).reshape(2, p).sum(axis=0)
    chances /= chances.sum()
    # A direction between the axes has a smaller mean error if several indices are as likely.
    between = np.sqrt(chances)
    for _ in range(DISTANCE_STEPS):
        between = unit(chances / np.sqrt(np.maximum(2.0 - 2.0 * between, SMALLEST)))
    on_axis, beside = math.sqrt(2.0) * (1.0 - chances.max()), np.sqrt(np.maximum(2.0 - 2.0 * between, 0.0)) @ chances
    return np.array([[chances.max(), min(on_axis, beside)], [0.0, 0.0]])


def _limit(link: Link, n: int, p: int) -> FiniteBest:
    """Return the best overlap and error in the limit of large p, with fluctuations between problems.

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
    samples = np.stack([np.square(along / length), errors])
    means, spread = samples.mean(axis=1), samples.std(axis=1) / math.sqrt(LIMIT_DRAWS)
    # Terms of order 1/p are omitted, and the curve bends between the nodes.
    bend = abs(q - overlaps(link, n / p).best)
    unsure = np.array([(1.0 - q) / p + bend, means[1] / p + bend / max(means[1], SMALLEST)])
    return FiniteBest._make([*map(float, (*means, *(unsure + spread))), "asymptotic limit"])
