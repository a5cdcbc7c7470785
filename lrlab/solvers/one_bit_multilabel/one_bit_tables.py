"""Solvers of multi-label problems as they serve a table of one-bit labels: trace norms, support vector machines."""

from numpy.random import Generator

from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterates
from lrlab.solvers.multilabel.binary_relevance import svm
from lrlab.solvers.multilabel.label_losses import SQUARED_SIGNS
from lrlab.solvers.multilabel.leml_alternation import Regularization
from lrlab.solvers.multilabel.trace_norm import penalised, trace_norm_logistic
from lrlab.solvers.one_bit_multilabel.requirements import table_entry


def one_bit_trace_norm(problem: LabelData, *, regularization: Regularization = 1000.0, rng: Generator) -> Iterates:
    r"""Predict signs y (n, d2) by those of X W, W (d1, d2) of small trace norm, from squared losses.

    minimise    F(W) = ||Y - X W||_F^2 / 2 + lambda ||W||_*, Y in +-1: x has no constant feature to follow 0 and 1
    update      as in trace_norm_squared

    Yields endlessly: estimate W, objective F, residual as in trace_norm_squared.
    Reference: Yu, Jain, Kar, Dhillon (2014), section 4; called SMT in Qiu, Luo, Ye, Lin (2017), section 5.2.
    """
    yield from penalised(problem, SQUARED_SIGNS, regularization)


ENTRIES = (
    table_entry(
        name="trace-norm-squared",
        title="Trace norm, squared loss",
        update=r"W \leftarrow S_{t \lambda}\bigl(Z - t\, X^\top (X Z - Y)\bigr), \quad Z = W + \beta (W -"
        r" W_{\text{old}}), \qquad S_\tau \text{ lowers all singular values by } \tau",
        summary="Least squares on a table of all signs, with low rank by the weight of the trace norm; convex.",
        run=one_bit_trace_norm,
    ),
    table_entry(
        title="Trace norm, logistic loss",
        update=r"W \leftarrow S_{t \lambda}\bigl(Z + t\, X^\top D\bigr), \quad D_{ij} = \frac{Y_{ij}}{1 +"
        r" e^{Y_{ij} x_i^\top z_j}} \text{ on } \Omega, \qquad S_\tau \text{ lowers all singular values by }"
        r" \tau",
        summary="The same for logistic regression.",
        reference="Yu, Jain, Kar, Dhillon (2014), section 4; LRT in Qiu, Luo, Ye, Lin (2017)",
        run=trace_norm_logistic,
    ),
    table_entry(
        title="Support vector machines",
        update=r"w_j = \arg\min_w \sum_{i \in \Omega_j} \max(0, 1 - Y_{ij}\, x_i^\top w) + \tfrac\lambda2 \|w\|^2",
        summary="The widest margin for each label of a table by itself; full rank, and slow.",
        reference="scikit-learn's LinearSVC; SVM in Qiu, Luo, Ye, Lin (2017)",
        run=svm,
    ),
)
