"""Binary relevance: a linear classifier per label, on the rows with this label observed."""

from typing import Annotated, Any

from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterates, Options, choice
from lrlab.solvers.multilabel import ridge
from lrlab.solvers.multilabel.classifiers import one_by_one
from lrlab.solvers.multilabel.labels import LOSSES
from lrlab.solvers.multilabel.options import Ridge, gram_numbers, label_solver

CLOSED = 4000
"""Most features, or rows, for forming the normal equations if all labels are observed."""


def normal_equations(spec: Any, options: Options) -> int:
    """Return the numbers in the weights of all labels, and in the normal equations if they are formed."""
    closed = options["loss"] == "squared" and spec.complete and min(spec.n, spec.d) <= CLOSED
    return gram_numbers(spec, options) if closed else spec.d * spec.labels


@label_solver(matrix=normal_equations)
def binary_relevance(
    problem: LabelData,
    *,
    regularization: Ridge = 10.0,
    loss: Annotated[str, choice(*LOSSES, help="squared, on labels 0, 1; else on labels -1, 1")] = "squared",
    rng: Generator,
) -> Iterates:
    r"""Binary relevance.

    A linear classifier for each label by itself: the full-rank baseline that low rank has to beat.

    .. math:: w_j = \arg\min_w \sum_{i \in \Omega_j} \ell(Y_{ij}, x_i^\top w) + \tfrac\lambda2 \|w\|^2

    minimize    F(Z) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ..., w_L)
    squared     all labels observed: one Cholesky factorization of X^T X + lambda I, or of X X^T + lambda I if smaller;
                else conjugate gradients for all labels at once, each with its own step lengths
    others      scikit-learn's solvers: logistic by L-BFGS; squared hinge by LIBLINEAR; hinge, the widest margin, by
                LIBLINEAR's dual coordinate descent with C = 1 / lambda: at most 10 passes over the rows per label, then
                100, 1,000 and 10,000 for labels that need more
    cost        squared: X^T X, or products of X with Z; others: a few passes over X per label

    With intercepts b_j, if the problem wants them, scores are x^T w_j + b_j; nothing penalizes b_j, except that
    LIBLINEAR takes them for weights of a constant feature 10. The rank of the problem is not used; the estimate has
    rank min(d, L). Yields estimate Z, objective F; squared: residual ||F'(Z)|| / ||F'(0)||, both divided by the norms
    of X's columns.

    Reference: Yu, Jain, Kar, Dhillon (2014), section 5.2; scikit-learn's LogisticRegression and LinearSVC; Hsieh,
    Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for large-scale linear SVM".
    """
    if loss != "squared":
        return (yield from one_by_one(problem, LOSSES[loss], regularization))
    elif problem.mask is None and min(problem.X.shape) <= CLOSED:
        yield ridge.closed(problem, regularization)
    else:
        yield from ridge.by_steps(problem, regularization)
