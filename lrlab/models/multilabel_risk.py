"""Population risk of multi-label predictors, where the best one is known in closed form (Yu et al. 2014, section 4)."""

import math

import numpy as np
from scipy.special import ndtr

from lrlab import lowrank
from lrlab.lowrank import LowRank
from lrlab.models.multilabel_problem import MultilabelProblem, Predictor


class DrawnLabels(MultilabelProblem):
    """A problem of isotropic features, E[x x^T] = I, whose best linear predictor of labels 0 and 1 may be known.

    best: Z* (d, L), which minimises the population risk R(Z) = mean over labels of E[(y_j - x^T z_j)^2] / 2, or None.
    """

    best: LowRank | None = None

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return the scores of MultilabelProblem, and `excess_risk` where `best` is known.

        Excess risk: R(Z) - R(Z*) = ||Z - Z*||_F^2 / (2 L), exactly, for linear predictors of labels 0 and 1.
        """
        scores = super().score(estimate)
        # Other types are not linear, or have scores for labels -1 and 1.
        if self.best is not None and type(estimate) is LowRank:  # type: ignore[comparison-overlap]
            gap = lowrank.difference(estimate, self.best)
            scores["excess_risk"] = float(np.vdot(gap, gap)) / (2 * len(self.best.V))
        return scores


def best_linear(W: LowRank, noise: float) -> LowRank:
    """Return Z* = E[x y^T] of labels y_j = [x^T w_j + noise > 0], for x a 1 and standard normal features after it.

    With w_j = (w_0, v), nu^2 = ||v||^2 + noise^2: z_j = (Phi(w_0 / nu), v phi(w_0 / nu) / nu), of the rank of W and
    one more at most. It is the best since E[x x^T] = I.
    """
    slopes, first = W.left.copy(), np.eye(len(W.U), 1)
    slopes[0] = 0.0
    offsets = W.V @ W.left[0]
    R = np.linalg.qr(slopes, mode="r")
    nu = np.sqrt(((W.V @ R.T) ** 2).sum(axis=1) + noise**2)  # type: ignore[attr-defined]
    at = offsets / nu
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    return lowrank.from_product(
        np.hstack([slopes, first]), np.hstack([W.V * (density / nu)[:, None], ndtr(at)[:, None]])
    )
