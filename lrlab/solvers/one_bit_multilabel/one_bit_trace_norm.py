"""Trace-norm least squares on a table of signs."""

from collections.abc import Iterator

from numpy.random import Generator

from lrlab.protocol import Iterate
from lrlab.solvers.multilabel.label_losses import SQUARED_SIGNS
from lrlab.solvers.multilabel.leml_alternation import Regularization
from lrlab.solvers.multilabel.trace_norm import penalised


def one_bit_trace_norm(problem, *, regularization: Regularization = 1000.0, rng: Generator) -> Iterator[Iterate]:
    r"""Predict signs y (n, d2) by those of X W, W (d1, d2) of small trace norm, from squared losses.

    minimise    F(W) = ||Y - X W||_F^2 / 2 + lambda ||W||_*, Y in +-1: x has no constant feature to follow 0 and 1
    update      as in trace_norm_squared

    Yields endlessly: estimate W, objective F, residual as in trace_norm_squared.
    Reference: called SMT in Qiu, Luo, Ye, Lin (2017), section 5.2.
    """
    yield from penalised(problem, SQUARED_SIGNS, regularization)
