r"""The best overlap and error on average over signals at a finite n and p, for Gaussian designs.

Whatever an estimator knows, its mean squared overlap over signals, drawn as the model draws them, and their data is at
most the mean of the largest eigenvalue of E[b b^T | X, y]; its mean error sqrt(2 - 2 |<b, v>|) is at least the mean of
the smallest posterior expectation of it over unit vectors v. Both are means over drawn problems of what draws of the
posterior say (`theory.posterior_draws`). In finitely many draws the best v fits too well: v is computed from one half
of them and scored on both. To first order it gains in its own half what it loses in the other, so that the mean of the
two scores is unbiased. With many unknowns the ends of message passing stand for the posterior (`finite_fixed_points`),
and where problems are large its limit.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.theory.channels import answer
from lrlab.theory.dense_scores import CHAINS, dense_scores
from lrlab.theory.finite_fixed_points import fixed_point_scores
from lrlab.theory.finite_limit import Statistics, limit_statistics
from lrlab.theory.information_limit import information, information_limits
from lrlab.theory.links import Link
from lrlab.theory.posterior_draws import has_sharp_answers, log_likelihood
from lrlab.theory.posterior_scores import FIXED_POINT, SMALLEST, Scores
from lrlab.theory.state_evolution import overlaps

ENTROPY = 7_262_024
FULL_P, FULL_NUMBERS, FEWEST = 25, 120_000, 6
"""All draws are made up to this length of the signal and these entries of X, and fewer beyond, but no fewer than so."""
LARGEST_P = 64
"""Above, fixed points of message passing are used, or limits."""
STUCK, FIRST = 0.1, 3
"""Share by which chains may be short of 1 - overlap, else fixed points are used, and the draws that say so."""
PASSED_NUMBERS, QUICK = 1_000_000, 4
"""Entries of X up to which there is message passing, and how many more draws where no link is integrated."""
MOST_NUMBERS = 4_000_000
"""Entries of X of problems that are drawn."""
FEW_NATS = 2.0
"""Information in all measurements up to which weighted draws of the prior serve, whatever parts the posterior has."""
CONCENTRATED, SPARE = 0.8, 2.0
"""Limit of the overlap with so many times fewer measurements from which the posterior of any link has one part."""
NODES, ROUNDING = np.linspace(-6.0, 6.0, 1201), 1e-9
"""Indices at which a link is compared with a monotone one, and the size of differences that are none."""
MOST_ROWS = 8000
"""Measurements above which the limit is used where it serves, as draws take long."""


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


def why_no_best(spec: Any) -> str:
    """Return why no bound is given; "" where there is one."""
    if spec.truth != "random":
        return "the truth is a picture, which is not drawn at random"
    if not spec.theory_holds:
        return f"the design is {spec.design}, not Gaussian with independent entries"
    if 1 < spec.sparsity < spec.p:
        return "the non-zero entries of a sparse signal may be anywhere, too many places to average over"
    if spec.entries != "gaussian" and spec.sparsity != 1:
        return "the entries of the signal are of equal size"
    if _may_have_parts(spec):
        return (
            "the link is not monotone, so that at this n/p the posterior may have parts between which no sampler moves"
        )
    if spec.n * spec.p > MOST_NUMBERS and not _limit_serves(spec):
        return "so many measurements take too long to draw"
    return ""


def _may_have_parts(spec: Any) -> bool:
    """Return whether chains from the truth may miss parts of the posterior that are as likely."""
    link, n, p = spec.link_function, spec.n, spec.p
    if spec.sparsity == 1 or p > LARGEST_P or n * information(link) <= FEW_NATS:
        return False
    rises = np.diff(link(NODES))
    return rises.min() < -ROUNDING and rises.max() > ROUNDING and overlaps(link, n / p / SPARE).fast < CONCENTRATED


def finite_best(spec: Any, draws: int = 40) -> FiniteBest | None:
    """Return the best mean overlap and error at the spec's n and p; None where `why_no_best` has a reason.

    Neither is better than what the information in the measurements allows.
    draws: number of problems that are drawn, always the same first ones, so that more only adds to those known.
    """
    if why_no_best(spec):
        return None
    best = _sampled(spec, draws)
    if spec.sparsity == 1:
        return best
    overlap, error = information_limits(spec.link_function, spec.n, spec.p)
    return best._replace(overlap=min(best.overlap, overlap), error=max(best.error, error))


def _sampled(spec: Any, draws: int) -> FiniteBest:
    link, n, p = spec.link_function, spec.n, spec.p
    if spec.sparsity == 1:
        return _collected([_of_one_entry(link, n, p, k) for k in range(draws)], "all supports enumerated")
    many = n * p > PASSED_NUMBERS if p > LARGEST_P else n > MOST_ROWS or n * p > MOST_NUMBERS
    if many and _limit_serves(spec):
        method = "limit for large p" if p > LARGEST_P else "limit for many measurements"
        return _stated(*limit_statistics(link, n, p), 0, method)
    # Problems differ the less the longer the signal is, and take the longer the larger they are.
    fewest, large = min(draws, FEWEST), FULL_NUMBERS / (n * p)
    if p <= LARGEST_P:
        scores = [_of_draws(link, n, p, k) for k in range(FIRST)]
        if p <= FULL_P or np.mean([one.short for one in scores]) <= STUCK:
            needed = max(math.ceil(draws * min(1.0, FULL_P / p, large)), fewest)
            return _collected(scores + [_of_draws(link, n, p, k) for k in range(FIRST, needed)], "posterior sampling")
    each = 1 if answer.dispatch(type(link)) is answer.dispatch(object) else QUICK
    needed = each * max(math.ceil(draws * min(1.0, large)), fewest)
    return _collected([_of_fixed_points(link, n, p, k) for k in range(needed)], "fixed points of message passing")


def _limit_serves(spec: Any) -> bool:
    """Return whether the limit is right for a spec: with many unknowns, and where answers change over more than errors.

    Then the posterior is Gaussian, and its p - 1 directions are those of the limit at the same n/p.
    """
    link = spec.link_function
    if spec.sparsity == 1 or spec.p > LARGEST_P:
        return spec.sparsity != 1
    rest = 1.0 - overlaps(link, spec.n / spec.p).best
    return rest < 0.01 * (link.noise**2 if has_sharp_answers(link) else 1.0)


def _collected(scores: list[Scores], method: str) -> FiniteBest:
    means, doubts = np.array([one.means for one in scores]), np.mean([one.doubts for one in scores], axis=0)
    # One problem says nothing of how much they differ.
    spread = means.std(axis=0, ddof=1) / math.sqrt(len(scores)) if len(scores) > 1 else np.full(2, math.inf)
    # What chains are short of is missing in 1 - overlap, which is of second order in the error.
    short = float(np.mean([one.short for one in scores])) * np.array(
        [1.0 - means[:, 0].mean(), means[:, 1].mean() / 2.0]
    )
    errors = np.sqrt(spread**2 + doubts**2 + short**2)
    samples = [np.concatenate(each) for each in ([one.overlaps for one in scores], [one.errors for one in scores])]
    ends = [np.quantile(each, [0.1, 0.9]) for each in samples]
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
    truth = unit(rng.standard_normal(p))
    X, y = _problem(link, n, p, truth, rng)
    return dense_scores(link, X, y, truth, rng)


@lru_cache(maxsize=4096)
def _of_fixed_points(link: Link, n: int, p: int, number: int) -> Scores:
    """Return the scores of one drawn problem with a dense truth of many entries."""
    rng = np.random.default_rng([ENTROPY, number])
    truth = unit(rng.standard_normal(p))
    return fixed_point_scores(link, *_problem(link, n, p, truth, rng), truth)


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
    return Scores(means, np.zeros(2), best[places], nearest[places], 0.0)


def _stated(overlap: Statistics, error: Statistics, draws: int, method: str) -> FiniteBest:
    return FiniteBest(*overlap, *error, draws, method)
