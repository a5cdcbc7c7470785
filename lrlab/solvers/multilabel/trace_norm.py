"""Trace-norm multi-label learning: convex, so that the optimum is known, at the price of a d x L matrix."""

import math

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.methods.proximal import accelerated, place
from lrlab.solvers.multilabel.label_losses import LOGISTIC, SQUARED, Loss
from lrlab.solvers.multilabel.leml_alternation import Regularization
from lrlab.solvers.multilabel.leml_products import Labels
from lrlab.solvers.multilabel.leml_squared import WholeTable
from lrlab.solvers.multilabel.requirements import multilabel_entry

INTERCEPT_STEPS, INTERCEPT_ACCURACY = 50, 1e-10
FLAT = 1e-8
"""Share of the gradient at W = 0 at which labels that can be separated end a run without a penalty."""
FARTHEST = 30.0
"""Intercepts of labels that are never on, or always, stop here; farther out nothing changes."""


def trace_norm_squared(problem: LabelData, *, regularization: Regularization = 20.0, rng: Generator) -> Iterates:
    r"""Predict labels Y (n, L), coded 0 and 1, by X W with a W (d, L) of small trace norm, from squared losses.

    minimise    F(W) = sum over observed (i, j) of (Y_ij - x_i^T w_j)^2 / 2 + lambda ||W||_*
    update      accelerated proximal gradient steps (see `accelerated`); with all labels observed the gradient is
                X^T A H^T - X^T Y of the factors W = U H^T, A = X U, and the n x L table is never formed

    What leml-squared minimises over factors of rank k, without the bound on the rank: convex, one optimum. Larger
    lambda, lower rank; W = 0 from the largest singular value of X^T Y on. The rank of the problem is not used.
    Forms matrices (d, L). Yields endlessly: estimate W, objective F, residual: what the distance of 0 to the
    subdifferential of F is at most, over the gradient of the loss at W = 0, both as they are or divided by the norms of
    X's columns, whichever is larger.
    Reference: Yu, Jain, Kar, Dhillon (2014), eq. 2 without the rank, section 4; SMT in Qiu et al. (2017).
    """
    yield from penalised(problem, SQUARED, regularization)


def trace_norm_logistic(problem: LabelData, *, regularization: Regularization = 20.0, rng: Generator) -> Iterates:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of X W, W (d, L) of small trace norm: logistic losses.

    minimise    F(W) = sum over observed (i, j) of log(1 + exp(-Y_ij x_i^T w_j)) + lambda ||W||_*
    update      accelerated proximal gradient steps (see `accelerated`), on the observed entries alone

    Convex, one optimum at most; none without a penalty if W separates the labels (NO_MINIMUM). The rank of the problem
    is not used. Forms matrices (d, L), yields as trace_norm_squared.
    Reference: Yu, Jain, Kar, Dhillon (2014), eq. 2 without the rank, section 4; LRT in Qiu et al. (2017).
    """
    return (yield from penalised(problem, LOGISTIC, regularization))


def penalised(problem: LabelData, loss: Loss, weight: float) -> Iterates:
    """Yield the iterates of the loss with a trace norm of such a weight."""
    labels = Labels.of(problem, loss)
    risk = WholeSquares(labels) if loss.quadratic and labels.full else Losses(labels)
    start = place(risk, lowrank.zero((problem.X.shape[1], problem.Y.shape[1]), 1))
    units = np.ones((1, 1)), labels.design.sizes[:, None]
    scales = [float(np.linalg.norm(start.gradient / one)) or 1.0 for one in units]
    for at, pull in accelerated(risk, start, weight, first_step(risk, start.gradient)):
        W = at.estimate
        rest = at.gradient + pull
        residual = max(float(np.linalg.norm(rest / one)) / scale for one, scale in zip(units, scales, strict=True))
        value = at.f + weight * float(W.s.sum())
        estimate = labels.estimate(W, risk.intercepts(at.A, W.V))
        # Below the logistic loss of one margin of 0 every sign is right: without a penalty F falls for ever.
        endless = loss is LOGISTIC and not weight and value < math.log(2.0)
        yield Iterate(estimate, value, None if endless else residual, f"Rank {np.count_nonzero(W.s)}.")
        if endless and residual <= FLAT:
            return Stop.NO_MINIMUM


class Losses:
    """Sums of losses over the entries observed, and their gradients X^T D.

    With intercepts it is the minimum over these, which is convex in W, too; its gradient is X^T D at their optimum.
    """

    def __init__(self, labels: Labels) -> None:
        self.labels, self.quadratic = labels, labels.loss.quadratic
        self.b = labels.first_intercepts()

    def intercepts(self, A: Array, H: Array) -> Array:
        """Return the best intercepts (L, 1) beside scores A H^T, by Newton's method from the last ones; (L, 0) without.

        Steps have at most length 1, since the logistic loss is flat far from its minimum.
        """
        A = np.hstack([A, np.ones((len(A), self.b.shape[1]))])
        for _ in range(INTERCEPT_STEPS if self.b.size else 0):
            whole = np.hstack([H, self.b])
            slope, curvature = np.zeros(len(H)), np.zeros(len(H))
            for block in self.labels.blocks:
                scores, target = block.scores(A[block.rows], whole), block.target
                slope += block.table(self.labels.loss.slope(target, scores)).sum(axis=0)
                curvature += block.table(self.labels.loss.curvature(target, scores)).sum(axis=0)
            step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
            self.b = np.clip(self.b - np.clip(step, -1.0, 1.0)[:, None], -FARTHEST, FARTHEST)
            if np.abs(step).max() < INTERCEPT_ACCURACY:
                break
        return self.b

    def images(self, U: Array) -> Array:
        """Return X U."""
        return self.labels.X @ U

    def both(self, A: Array, H: Array) -> tuple[float, Array]:
        """Return the loss of the scores A H^T and X^T D, D its slopes at the entries observed."""
        X, loss = self.labels.X, self.labels.loss
        b = self.intercepts(A, H)
        A, H = np.hstack([A, np.ones((len(A), b.shape[1]))]), np.hstack([H, b])
        value, gradient = 0.0, np.zeros((X.shape[1], len(H)))
        for block in self.labels.blocks:
            scores, target = block.scores(A[block.rows], H), block.target
            value += float(loss.value(target, scores).sum())
            pulled = X[block.rows].T @ block.table(loss.slope(target, scores))
            gradient += pulled.toarray() if issparse(pulled) else pulled
        return value, gradient


class WholeSquares(Losses):
    """Half the squared losses where all labels are observed: neither scores nor D are formed (Algorithm 2)."""

    def __init__(self, labels: Labels) -> None:
        super().__init__(labels)
        self.table, self.moments = WholeTable(labels, 0.0), labels.X.T @ labels.coded
        self.means = np.asarray(labels.coded.mean(axis=0))[:, None]

    def intercepts(self, A: Array, H: Array) -> Array:
        """Return the means of the residuals (L, 1); (L, 0) without intercepts."""
        return self.means - H @ A.mean(axis=0)[:, None] if self.b.size else self.b

    def both(self, A: Array, H: Array) -> tuple[float, Array]:
        """Return ||Y - A H^T||_F^2 / 2 and X^T A H^T - X^T Y."""
        b = self.intercepts(A, H)
        A, H = np.hstack([A, np.ones((len(A), b.shape[1]))]), np.hstack([H, b])
        return self.table.value(A, H), np.asarray((self.labels.X.T @ A) @ H.T - self.moments)


def first_step(risk: Losses, gradient: Array) -> float:
    """Return 1 over the curvature along the leading direction downhill of losses whose second derivative is 1."""
    u = lowrank.from_dense(gradient, 1).U
    return 1.0 / (float(np.linalg.norm(risk.images(u))) ** 2 or 1.0)


ENTRIES = (
    multilabel_entry(
        title="Trace norm, squared loss",
        update=r"W \leftarrow S_{t \lambda}\bigl(Z - t\, X^\top (X Z - Y)_\Omega\bigr), \quad Z = W + \beta (W -"
        r" W_{\text{old}}), \qquad S_\tau \text{ lowers all singular values by } \tau",
        summary="One convex problem for all labels: least squares, with low rank by its weight alone; the optimum "
        "that leml-squared looks for.",
        run=trace_norm_squared,
        memory=0.0,
        matrix=lambda spec, options: min(spec.size) * (spec.n + sum(spec.size)),
    ),
    multilabel_entry(
        title="Trace norm, logistic loss",
        update=r"W \leftarrow S_{t \lambda}\bigl(Z + t\, X^\top D\bigr), \quad D_{ij} = \frac{Y_{ij}}{1 +"
        r" e^{Y_{ij} x_i^\top z_j}} \text{ on } \Omega, \qquad S_\tau \text{ lowers all singular values by }"
        r" \tau",
        summary="The same for logistic regression; often ranks labels best, but forms all of W at every step.",
        run=trace_norm_logistic,
        memory=0.0,
        matrix=lambda spec, options: min(spec.size) * (spec.n + sum(spec.size)),
    ),
)
