"""Nuclear-norm multi-label learning: convex, so that the optimum is known, at the price of a d x L matrix."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LabelData
from lrlab.parameters import choice
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.methods.proximal import accelerated, place
from lrlab.solvers.multilabel.label_losses import LOGISTIC, LOSSES, Loss
from lrlab.solvers.multilabel.labels import Labels
from lrlab.solvers.multilabel.options import Regularization, label_solver, table_numbers
from lrlab.solvers.multilabel.summed_losses import AllSquares, Losses

FLAT = 1e-8
"""Reduction of the gradient that ends a run on separable labels without a penalty."""


@label_solver(memory=0.0, matrix=table_numbers)
def trace_norm(
    problem: LabelData,
    *,
    loss: Annotated[
        str, choice("squared", "logistic", help="squared, on labels 0, 1; logistic, on labels -1, 1")
    ] = "squared",
    regularization: Regularization = 20.0,
    rng: Generator,
) -> Iterates:
    r"""Nuclear norm.

    One convex problem for all labels, whose penalty makes the rank low: the optimum that leml looks for.

    .. math:: W \leftarrow S_{t \lambda}\bigl(Z - t\, X^\top D(Z)\bigr), \quad D_{ij}(Z) = \ell'(Y_{ij}, x_i^\top z_j)
        \text{ on } \Omega, \quad Z = W + \beta (W - W_{\text{old}}), \qquad S_\tau \text{ lowers all singular values
        by } \tau

    minimize    F(W) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||W||_*  over W (d, L)
    update      accelerated proximal gradient steps (see `methods.proximal.accelerated`); for the squared loss with all
                labels observed the gradient is X^T A H^T - X^T Y of the factors W = U H^T, A = X U
    converges   to the one optimum; W = 0 from the largest singular value of the gradient at 0 on. The logistic loss
                without a penalty has none if W separates the labels (NO_MINIMUM)
    cost        a product of X with d x L, and a singular value decomposition of d x L

    The rank of the problem is not used. Yields endlessly: estimate W, objective F, residual: a bound on the distance of
    0 from the subdifferential of F, over the gradient of the loss at W = 0, both as they are or divided by the norms of
    X's columns, whichever is larger.

    Reference: Yu, Jain, Kar, Dhillon (2014), eq. 2 without the rank, section 4; SMT and LRT in Qiu et al. (2017).
    """
    return (yield from penalized(problem, LOSSES[loss], regularization))


def penalized(problem: LabelData, loss: Loss, regularization: float) -> Iterates:
    """Yield the iterates of a loss with a nuclear norm."""
    labels = Labels(problem, loss)
    risk = AllSquares(labels) if labels.loss.quadratic and labels.full else Losses(labels)
    start = place(risk, lowrank.zero((problem.X.shape[1], problem.Y.shape[1]), 1))
    units = np.ones((1, 1)), labels.design.sizes[:, None]
    scales = [float(np.linalg.norm(start.gradient / one)) or 1.0 for one in units]
    # 1 over the curvature along the leading direction downhill of losses whose second derivative is 1.
    first = 1.0 / (float(np.linalg.norm(risk.images(lowrank.from_dense(start.gradient, 1).U))) ** 2 or 1.0)
    for at, pull in accelerated(risk, start, regularization, first):
        W, rest = at.estimate, at.gradient + pull
        residual = max(float(np.linalg.norm(rest / one)) / scale for one, scale in zip(units, scales, strict=True))
        value = at.f + regularization * float(W.s.sum())
        # Below the logistic loss of one margin of 0 every sign is right: without a penalty F falls for ever.
        endless = loss is LOGISTIC and not regularization and value < math.log(2.0)
        estimate, note = labels.estimate(W, risk.intercepts(at.A, W.V)), f"Rank {np.count_nonzero(W.s)}."
        yield Iterate(estimate, value, None if endless else residual, note)
        if endless and residual <= FLAT:
            return Stop.NO_MINIMUM
