r"""Whether a state of `gamp` is as likely as the model says: tests that need no truth.

In the limit of large p, w_i and V are mean and variance of <x_i, b_true> given all answers but the i-th. So the answers
are as likely under P(y_i; w_i, V) as it says of itself, up to chance. At a state that is wrong and sure of itself some
answers are all but impossible.

Where unknowns are few, single answers decide, and w_i is not quite the mean without the i-th: an answer may seem all
but impossible at w_i that <x_i, b> satisfies. But with ten answers and more for each unknown none can fit them by
chance: the state is right where the answers are as likely under P(y_i; <x_i, b>, V) as that says of itself.

Links with mu_1 = 0 have other fixed points than the best one, which are no surprise to themselves. Their evidence says
whether one has more of the posterior than b = 0.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.theory.channels import TINY, log_of_rest
from lrlab.theory.message_passing import Point, answers, evidence
from lrlab.theory.predicted_overlap import is_symmetric

UNLIKELY = 4.0
"""Standard deviations by which the answers may be less likely than the model says."""
PREFERRED = 5.0
"""Nats by which the answers must prefer a direction of a symmetric link to none."""
SAMPLED_ROWS, SAMPLED, KURTOSIS, CHANCE = 256, 2**14, 1.0, 1e-6
"""Rows whose kurtosis is looked at, and entries where rows are short; how far that of <x, b> may be from 3, and the
chance of a false alarm."""
ANSWERS_EACH = 10.0
"""Answers for each nat that tells the unknowns, from which on none fit by chance."""
NEAR, AT_REST = 0.1, 1e-5
EVERY, PATIENCE = 10, 10
"""Iterations between checks of a damped path, and the number of checks that it may fail."""


@dataclass
class Checks:
    """Checks of one path: each time that its changes have fallen a thousandfold, and every ten iterations once damped.

    supports: nats that it takes to name the entries, where `problem` has only those of a sparse signal. excess:
    standard deviations by which the answers were less likely than the model says at the last check. gain: nats by which
    they prefer the direction to none. likelihood: the logarithm of their probability. failures: their number.
    """

    problem: SingleIndexData
    rate: float
    supports: float = 0.0
    next: float = NEAR
    waited: int = 0
    excess: float = 0.0
    gain: float = math.inf
    likelihood: float = -math.inf
    failures: int = 0

    def look(self, at: Point) -> None:
        """Check a point where it is time to."""
        self.waited += at.step < 1.0
        due = at.change <= self.next or self.waited >= EVERY
        # A failure is not held against later states.
        if not due and not self.failed:
            return
        unknowns = self.rate * self.problem.shape[1]
        self.likelihood, self.excess = surprise(at.answers.log_chance, unknowns)
        if self.failed and self._decided(unknowns):
            state = at.state._replace(w=self.problem.X @ at.state.b)
            self.excess = surprise(answers(self.problem, state).log_chance, unknowns)[1]
        if due:
            self.waited, self.next = 0, min(self.next, at.change / 1000.0)
            self.failures += self.failed
        if is_symmetric(self.problem.link) and at.change <= NEAR:
            self.gain = evidence(self.problem, at, self.rate) - self.supports

    def _decided(self, unknowns: float) -> bool:
        """Return whether answers are too many for the unknowns, and for where they are, to fit them by chance."""
        nats = unknowns * (1.0 - math.log(self.rate)) + self.supports
        return self.problem.shape[0] >= ANSWERS_EACH * nats

    @property
    def failed(self) -> bool:
        """Whether the answers were too unlikely at the last check."""
        return not self.excess <= UNLIKELY

    def hopeless(self, at: Point) -> bool:
        """Return whether the path has come to rest where the answers are too unlikely, or wanders among such states."""
        return self.failed and (at.change < AT_REST or self.failures > PATIENCE or not np.isfinite(at.change))


def unlike_gaussian(X: Array, s: int) -> str:
    """Return what the entries of X (n, p), as s entries of b see them, are instead of independent Gaussian ones, or "".

    Along a unit vector u, X u = z, the rest of X^T z has the squared length ||z||^2 chi^2 with p - 1 degrees. The
    kurtosis of <x, b> exceeds 3 by that of an entry's excess times sum b_j^4, which is about 3 / s.
    """
    p = X.shape[1]
    sample = X[: max(SAMPLED_ROWS, SAMPLED // p)]
    kurtosis = float((sample**4).mean() / np.square(sample).mean() ** 2)
    # Of few normal numbers it is far above 3 once in a while.
    if abs(kurtosis - 3.0) > KURTOSIS * s / 3.0 + 10.0 / math.sqrt(sample.size) + 240.0 / sample.size:
        return f"of kurtosis {kurtosis:.3g}"
    u = unit(np.random.default_rng(p).standard_normal((p,)))
    z = X @ u
    image = z @ X
    rest = float(image @ image - (image @ u) ** 2) / max(float(z @ z), TINY)
    return "correlated" if chdtrc(p - 1, rest) < CHANCE else ""


def surprise(own: Array, unknowns: float = 0.0) -> tuple[float, float]:
    """Return the log-probability of the answers, and by how many standard deviations it is below its expectation.

    own: that of each answer (n,). At small p, w is not quite the mean without an answer: a nat for each of the unknowns
    is never much.
    """
    other, chance = log_of_rest(np.minimum(own, 0.0)), np.exp(own)
    # own - E own = (1 - P) (log P - log (1 - P)), and the variance is P (1 - P) (log P - log (1 - P))^2.
    odds = own - other
    lack = -float(((1.0 - chance) * odds).sum())
    deviation = max(1.0, unknowns / UNLIKELY, math.sqrt(float((chance * (1.0 - chance) * odds**2).sum())))
    return float(own.sum()), lack / deviation
