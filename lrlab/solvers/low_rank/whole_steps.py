"""Steps with the whole gradient, which leave points where its tangent part alone is small."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.operators.operator import Operator
from lrlab.solvers.low_rank.starts import stepped
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, point

Leave = Callable[[EvaluatedMatrix, float], EvaluatedMatrix | None]
"""leave(point, f before): a better point elsewhere, or None."""

SLOW = 0.02
"""A step that lowers f by a smaller share makes one with the whole gradient worth its price."""
SIZES = (1.0, 0.5, 0.25)
"""1 leads to the truth if the measurements are many."""
ROUGH = 0.05
"""The nearest matrix need not be exact: the step counts if f falls."""


class WholeSteps:
    r"""Steps W <- P_k(W - eta G), P_k the nearest matrix of rank k, G the `moment` of the misfit, about W - W_true.

    Methods that move on the tangent space change the sign of an eigenvalue, or give up a term for another one, only by
    way of matrices of lower rank, and come to rest at minima that have the wrong terms. Such a step exchanges the
    weakest term u s v^T for one outside the tangent space. It is tried when progress is slow and the misfit is larger
    than what the weakest term measures; after every failure twice as many slow steps pass before the next trial.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1,
    and for networks Soltani & Hegde (2018), Algorithm 1, whose steps they are.
    """

    def __init__(self, operator: Operator, b: Array, rng: Generator) -> None:
        self.operator, self.b, self.rng = operator, b, rng
        self.slow, self.due = 0, 1

    def leave(self, at: EvaluatedMatrix, before: float) -> EvaluatedMatrix | None:
        """Return a better point, or None where the last step, from an f of `before`, went well or none is found."""
        value = at.objective
        if value < (1 - SLOW) * before:
            return None
        self.slow += 1
        if self.slow < self.due or not self._exchangeable(at):
            return None
        for new in self._steps(at):
            if new.objective < (1 - SLOW) * value:
                self.slow, self.due = 0, 1
                return new
        self.due *= 2
        return None

    def _exchangeable(self, at: EvaluatedMatrix) -> bool:
        """Whether the weakest term measures less than the misfit: else a term outside could not replace it."""
        weakest = self.operator.pair(at.P[:, -1:] * at.W.s[-1], at.Q[:, -1:])
        return bool(np.linalg.norm(weakest) < np.linalg.norm(at.misfit))

    def _steps(self, at: EvaluatedMatrix):
        for eta in SIZES:
            W = stepped(self.operator, at.W, at.misfit, eta, self.rng, ROUGH)
            yield point(self.operator, W, self.b)
