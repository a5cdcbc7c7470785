"""Likelihood steps on one-bit labels: noise and flips are fitted, and all batches so far count."""

import math
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.solver_entry import Generator, Iterate, Iterates
from lrlab.solvers.multilabel.labels import FittedRank, Signed, rank_of, refuse_rank, stream_solver
from lrlab.solvers.one_bit_multilabel.one_bit_power import START_NOTE, leading_right, mean_moment, power_step
from lrlab.theory.channels import answer
from lrlab.theory.links import SignLink

FITTED = 2**14
"""Signs of a batch for fitting noise and flips: so many determine these two numbers to a few percent."""
NARROWEST, WIDEST = 1e-5, 10.0
"""Range of the noise."""
FIRST = SignLink(noise=0.3, flip=0.01)
"""Starting point of the first fit."""


@stream_solver(oracle="rank", refuse=refuse_rank)
def one_bit_likelihood(problem: Any, *, fitted_rank: FittedRank = 0, rng: Generator) -> Iterates:
    r"""One-bit likelihood steps.

    Power iteration with scores of a fitted likelihood, each batch weighed by its information: goes on improving under
    noise and flips, which it need not know.

    .. math:: W \leftarrow P_k\Bigl(W + \frac{S}{c + I}\Bigr), \qquad S_j = \text{mean of } \partial_z \log \mathbb
        P(y \mid z)\, x

    maximize    P(y = 1 | z) = p + (1 - 2p) Phi(z / s) of a margin z of the estimate W (d1, d2) of rank k: exact for
                Gaussian x if W's columns all have one angle to those of the ground truth, s^2 = tan^2(angle) + sigma^2
                / cos^2(angle), so that s covers both noise and the remaining error; s and the fraction p of flips are
                fitted to signs
    update      S (d1, d2) is the mean of d log P / dz times x over the samples of each label, I the mean Fisher
                information of a sign about its margin, c the sum of I over all batches before; then one step of power
                iteration to rank k, columns normalized
    start       the leading part of rank k of the moment, the mean of y x; c = ||its columns||^2, on average
    converges   with fresh batches like maximum likelihood on all samples so far, while one-bit-power ends at the error
                of one batch. On a table that is read again c is I, half a scoring step, and s stays above the error
                that maximum likelihood has without noise, degrees of freedom / (2 signs phi(0)): a narrower one follows
                flips
    cost        one pass over a batch by blocks, and d1 d2 numbers

    Yields after each batch, and ends with the stream; the note gives s and p.

    Reference: Opper (1998), "A Bayesian approach to on-line learning", whose step this is for a batch and rank k.
    """
    k = rank_of(problem, fitted_rank)
    W, V, link = Signed(*lowrank.zero(problem.size, k)), None, FIRST
    narrowest, before = NARROWEST if problem.fresh else inevitable_error(problem, k), 0.0
    for batch in problem.batches:
        if V is None:
            S = mean_moment(problem, batch, W, lambda z, y: y)[0]
            W, V = power_step(S, W, leading_right(S, k, rng))
            before = float(np.linalg.norm(S.T @ V) ** 2) / len(V)
            yield Iterate(W, note=START_NOTE)
            continue
        z, y = first_margins(problem, batch, W)
        link = fitted(z, y, link, narrowest)
        gained = information(link, z)
        before = before if problem.fresh else gained
        S = mean_moment(problem, batch, W, lambda z, y: answer(link, z, 0.0, y).score)[0]  # noqa: B023
        W, V = power_step(S, W, V, 1 / (before + gained))
        before += gained
        yield Iterate(W, note=f"Signs behaved as with noise {link.noise:.3g} and {link.flip:.1%} flips.")


def inevitable_error(problem: Any, k: int) -> float:
    """Return the error, relative to 1, that signs of one batch leave without noise."""
    (d1, d2), signs = problem.size, problem.signs_per_label * problem.size[1]
    return min(WIDEST, max(NARROWEST, k * (d1 + d2 - k) * math.sqrt(2 * math.pi) / (2 * signs)))


def first_margins(problem: Any, batch: int, W: Signed) -> tuple[Array, Array]:
    """Return margins and signs of the first samples of a batch."""
    margins, signs, count = [], [], 0
    for samples in problem.blocks(batch):
        margins.append(samples.margins(W).ravel())
        signs.append(samples.y.ravel())
        count += samples.y.size
        if count >= FITTED:
            break
    return np.concatenate(margins)[:FITTED], np.concatenate(signs)[:FITTED]


def information(link: SignLink, z: Array) -> float:
    """Return the mean Fisher information of a sign about its margin z."""
    both = [answer(link, z, 0.0, y) for y in (1.0, -1.0)]
    return float(sum(np.mean(np.exp(at.log_chance) * at.score**2) for at in both))


def fitted(z: Array, y: Array, start: SignLink, narrowest: float) -> SignLink:
    """Return the link of greatest likelihood for signs y at margins z, with a noise of at least `narrowest`."""
    # Imported here: it is not needed to start the lab.
    from scipy.optimize import minimize

    def loss(parameters: Array) -> tuple[float, Array]:
        link = SignLink(noise=math.exp(parameters[0]), flip=parameters[1])
        at = answer(link, z, 0.0, y)
        by_flip = np.mean(2.0 - np.exp(-at.log_chance)) / (1.0 - 2.0 * link.flip)
        return -float(at.log_chance.mean()), np.array([np.mean(z * at.score), by_flip])

    # Without flips a single sign far on the wrong side would decide the noise, and the slope, so that the search would
    # not leave this bound.
    bounds = [(math.log(narrowest), math.log(WIDEST)), (1e-7, 0.45)]
    begin = [math.log(max(start.noise, narrowest)), max(start.flip, FIRST.flip / 10)]
    optimum = minimize(loss, begin, jac=True, bounds=bounds, method="L-BFGS-B")
    return SignLink(noise=math.exp(optimum.x[0]), flip=float(optimum.x[1]))
