"""Likelihood steps for one-bit labels: scoring on each batch, weighed by the information of all batches so far."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import SignStream
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.label_losses import Signed
from lrlab.solvers.multilabel.leml_alternation import FittedRank
from lrlab.solvers.one_bit_multilabel.one_bit_moments import leading_right, mean_moment, power_step, products
from lrlab.solvers.one_bit_multilabel.one_bit_power import START_NOTE, rank_of
from lrlab.solvers.one_bit_multilabel.requirements import stream_entry

FITTED = 2**14
"""Signs of a batch on which width and flips are fitted: two numbers, known to a few per cent from so many."""
NARROWEST, WIDEST = 1e-5, 10.0
FLIPS = (1e-7, 0.45)
"""No flips at all would let a single sign far on the wrong side decide the width."""
DENSITY = 1 / math.sqrt(2 * math.pi)
"""Of a margin, where it is 0."""


class Answers(NamedTuple):
    """How signs depend on margins z of an estimate: P(y = 1 | z) = flip + (1 - 2 flip) Phi(z / width)."""

    width: float
    flip: float

    def probability(self, z: Array) -> Array:
        """Return P(y = 1 | z)."""
        return self.flip + (1 - 2 * self.flip) * ndtr(z / self.width)

    def density(self, z: Array) -> Array:
        """Return the derivative of P(y = 1 | z)."""
        return (1 - 2 * self.flip) * DENSITY / self.width * np.exp(-np.square(z / self.width) / 2)

    def score(self, z: Array, y: Array) -> Array:
        """Return the derivative of log P(y | z) in z."""
        return y * self.density(z) / self.probability(y * z)

    def information(self, z: Array) -> float:
        """Return the mean Fisher information of a sign about its margin."""
        return float(np.mean(self.density(z) ** 2 / (self.probability(z) * self.probability(-z))))


FIRST = Answers(0.3, 0.01)
"""Where the first fit starts."""


def one_bit_likelihood(problem: SignStream, *, fitted_rank: FittedRank = 0, rng: Generator) -> Iterates:
    r"""Recover W (d1, d2) of rank k with columns of length 1 from signs of x_i^T w_j(i), a batch an iteration.

    likelihood  P(y = 1 | z) = p + (1 - 2p) Phi(z / s) of a margin z of the estimate W: exact for Gaussian x where W's
                columns all have one angle to the truth, s^2 = tan^2(angle) + sigma^2 / cos^2(angle). So s covers both
                noise and the error that is left; it and the share p of flips are fitted to signs of the batch
    update      W <- W + S / (c + I): S (d1, d2) the mean of d log P / dz times x over the samples of each label, I the
                mean Fisher information of a sign about its margin, c the sum of I over all batches before; then one
                step of power iteration to rank k, columns normalised
    start       the leading part of rank k of the moment, the mean of y x; c = ||its columns||^2, on average
    converges   with fresh batches like maximum likelihood on all samples so far, where one-bit-power ends at the error
                of one batch. On a table that is read again c is I, half a scoring step, and s stays above the error
                that maximum likelihood has without noise, unknowns / (2 signs phi(0)): a narrower one follows flips

    Needs neither the noise nor the share of flips. One pass over a batch by blocks, memory O(d1 d2).
    Yields after each batch, and ends with the stream; the note gives s and p.
    Reference: Opper (1998), "A Bayesian approach to on-line learning", whose step this is for a batch and rank k.
    """
    k = rank_of(problem, fitted_rank)
    W, V, answers = Signed(*lowrank.zero(problem.size, k)), None, FIRST
    narrowest, before = NARROWEST if problem.fresh else inevitable_error(problem, k), 0.0
    for batch in problem.batches:
        if V is None:
            S, count = mean_moment(problem, batch, W, lambda z, y: y)
            H = products(S, count)
            W, V = power_step(H, W, leading_right(H, problem.size, k, rng))
            before = float(np.linalg.norm(S.T @ V) ** 2) / len(V)
            yield Iterate(W, note=START_NOTE)
            continue
        z, y = first_margins(problem, batch, W)
        answers = fitted(z, y, answers, narrowest)
        information = answers.information(z)
        before = before if problem.fresh else information
        W, V = power_step(products(*mean_moment(problem, batch, W, answers.score)), W, V, 1 / (before + information))
        before += information
        yield Iterate(W, note=f"Signs behaved as with noise {answers.width:.3g} and {answers.flip:.1%} flips.")


def inevitable_error(problem: SignStream, k: int) -> float:
    """Return the error, relative to 1, that signs of one batch leave without noise."""
    (d1, d2), signs = problem.size, problem.signs_per_label * problem.size[1]
    return min(WIDEST, max(NARROWEST, k * (d1 + d2 - k) / (2 * signs * DENSITY)))


def first_margins(problem: SignStream, batch: int, W: Signed) -> tuple[Array, Array]:
    """Return margins and signs of the first samples of a batch."""
    margins, signs, count = [], [], 0
    for samples in problem.blocks(batch):
        margins.append(samples.margins(W).ravel())
        signs.append(samples.y.ravel())
        count += samples.y.size
        if count >= FITTED:
            break
    return np.concatenate(margins)[:FITTED], np.concatenate(signs)[:FITTED]


def fitted(z: Array, y: Array, start: Answers, narrowest: float) -> Answers:
    """Return the answers of greatest likelihood, with a width of at least `narrowest`."""
    from scipy.optimize import minimize

    u = y * z

    def loss(parameters: Array) -> tuple[float, Array]:
        answers = Answers(math.exp(parameters[0]), parameters[1])
        P = answers.probability(u)
        gradient = [np.mean(u * answers.density(u) / P), np.mean((2 * ndtr(u / answers.width) - 1) / P)]
        return -float(np.log(P).mean()), np.array(gradient)

    bounds = [(math.log(narrowest), math.log(WIDEST)), FLIPS]
    # From a flip of FLIPS[0] the search would not find back: the slope there is that of a single sign.
    begin = [math.log(max(start.width, narrowest)), max(start.flip, FIRST.flip / 10)]
    optimum = minimize(loss, begin, jac=True, bounds=bounds, method="L-BFGS-B")
    return Answers(math.exp(optimum.x[0]), float(optimum.x[1]))


ENTRY = stream_entry(
    title="One-bit likelihood steps",
    update=r"W \leftarrow P_k\Bigl(W + \frac{S}{c + I}\Bigr), \qquad S_j = \text{mean of } \partial_z \log"
    r" \mathbb P(y \mid z)\, x",
    summary="The same with scores of a fitted likelihood, each batch weighed by its information: goes on "
    "improving under noise and flips, which it need not know.",
    run=one_bit_likelihood,
    oracle=("rank",),
)
