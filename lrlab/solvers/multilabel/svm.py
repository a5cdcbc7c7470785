"""Support vector machines, one for each label against all others."""

from collections.abc import Iterator

from numpy.random import Generator

from lrlab.models.multilabel import Multilabel
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel.binary_relevance import Ridge, one_by_one
from lrlab.solvers.multilabel.label_losses import HINGE
from lrlab.solvers.multilabel.requirements import BLOCK_BYTES


def svm(problem: LabelData, *, regularization: Ridge = 10.0, rng: Generator) -> Iterator[Iterate]:
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


def workspace(spec: Multilabel, options: Options) -> int:
    """Return bytes of some matrices (d, L), and of the rows of a label, which scikit-learn copies."""
    one = 8 if spec.density == 1 else 12
    return BLOCK_BYTES + 8 * 8 * spec.d * spec.labels + 3 * one * spec.feature_entries + 17 * spec.n * spec.labels


ENTRY = SolverEntry(
    name="svm",
    title="Support vector machines",
    summary="The widest margin for each label by itself; full rank, as binary relevance is.",
    reference="Hsieh, Chang, Lin, Keerthi, Sundararajan (2008); scikit-learn",
    run=svm,
    families=("multilabel",),
    workspace=workspace,
)
