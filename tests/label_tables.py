"""Multi-label problems made of given arrays."""

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.models.multilabel_problem import MultilabelProblem, only_observed


def label_problem(X, Y, mask, X_test, Y_test, rank):
    """Return the problem of features, 0/1 labels and the pattern of observed labels, None for all."""
    X, X_test = (table if issparse(table) else np.array(table) for table in (X, X_test))
    Y, Y_test = (csr_array(table, dtype=float) for table in (Y, Y_test))
    observed = None if mask is None else csr_array(mask).astype(bool)
    return MultilabelProblem(X, only_observed(Y, observed), observed, X_test, Y_test, rank)
