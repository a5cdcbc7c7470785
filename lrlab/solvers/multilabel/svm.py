"""Support vector machines, one for each label against all others."""

from collections.abc import Iterator

from numpy.random import Generator

from lrlab.protocol import Iterate
from lrlab.solvers.multilabel.binary_relevance import Ridge, one_by_one
from lrlab.solvers.multilabel.label_losses import HINGE


def svm(problem, *, regularization: Ridge = 10.0, rng: Generator) -> Iterator[Iterate]:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of x^T w_j: the widest margin for each label j by itself.

    minimise    F(Z) = sum over observed (i, j) of max(0, 1 - Y_ij x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ...,
    w_L) update      all labels by LIBLINEAR's dual coordinate descent with C = 1 / lambda, in 10 passes over the rows
                at most, then those for which that was too few in 100, 1,000, 10,000

    Its squared loss max(0, .)^2 is binary-relevance with loss=squared-hinge. No offsets: features bring a constant.
    Yields estimate Z, objective F. The rank of the problem is not used.
    Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for large-scale linear
    SVM"; scikit-learn's LinearSVC; a rival in Qiu et al. (2017), Table 2.
    """
    return (yield from one_by_one(problem, HINGE, regularization))
