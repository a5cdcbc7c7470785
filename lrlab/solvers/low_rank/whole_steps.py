"""Steps with the whole gradient, which leave points where steps in tangent spaces are slow."""

import numpy as np

from lrlab.arrays import Array
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import EvaluatedMatrix, point

SLOW = 0.02
"""Relative decrease of F below which a step with the whole gradient is worth its price."""


class WholeSteps:
    r"""Steps W <- P_k(W - eta G), P_k the nearest matrix of rank k, G the moment of A(W) - b, about W - W_true.

    Methods that move on the tangent space change the sign of an eigenvalue, or exchange a term for another one, only by
    way of matrices of lower rank, and stop at minima that have the wrong terms. Such a step exchanges the weakest term
    u s v^T for one outside the tangent space. It is tried if progress is slow and the residual is larger than the image
    of the weakest term; after every failure twice as many slow steps pass before the next trial.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1,
    and for networks Soltani & Hegde (2018), Algorithm 1, whose steps they are.
    """

    def __init__(self, A: Operator, b: Array, rng: np.random.Generator) -> None:
        self.A, self.b, self.rng = A, b, rng
        self.slow, self.due = 0, 1

    def leave(self, at: EvaluatedMatrix, before: float) -> EvaluatedMatrix | None:
        """Return a better point; None if the last step, from an F of `before`, went well or none exists."""
        least = (1 - SLOW) * at.objective
        if at.objective < (1 - SLOW) * before:
            return None
        self.slow += 1
        weakest = self.A.pair(at.P[:, -1:] * at.W.s[-1], at.Q[:, -1:])
        if self.slow < self.due or np.linalg.norm(weakest) >= np.linalg.norm(at.d):
            return None
        # With many measurements the step 1 leads to the truth.
        for eta in (1.0, 0.5, 0.25):
            W = nearest(at.W - self.A.moment(eta * at.d), len(at.W.s), self.rng, settled=0.05)
            if (new := point(self.A, W, self.b)).objective < least:
                self.slow, self.due = 0, 1
                return new
        self.due *= 2
        return None
