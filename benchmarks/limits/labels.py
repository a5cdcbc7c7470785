"""Floors of solvers for many labels: a step of leml on rows as sparse as those of bibtex."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import random_array

from benchmarks.limits.frame import Loop
from lrlab.models.multilabel import MultilabelProblem
from lrlab.solvers.multilabel.labels import SQUARED, Labels
from lrlab.solvers.multilabel.leml_steps import WholeSquares

TITLE = "many labels"
ROWS, FEATURES, LABELS, RANK, STEPS = 4880, 1836, 159, 64, 5


def features_step() -> Loop:
    """Return the update of the factor of features, all labels observed."""
    rng = np.random.default_rng(0)
    X, Y = (
        random_array((ROWS, d), density=share, rng=rng, format="csr")
        for d, share in ((FEATURES, 0.037), (LABELS, 0.015))
    )
    Y.data[:] = 1.0
    risk = WholeSquares(Labels(MultilabelProblem(X, Y, None, X[:2], Y[:2], RANK), SQUARED), 1.0, steps=STEPS)
    W, H = rng.standard_normal((FEATURES, RANK)), rng.standard_normal((LABELS, RANK))
    single, S = X.astype(np.float32), W.astype(np.float32)

    def floor() -> None:
        for _ in range(STEPS):
            _ = single.T @ (single @ S)

    def run() -> None:
        # Other images each time, as in a run: X^T A of the same ones is kept.
        risk.feature_factor(W, X @ W, H)

    words = f"{2 * STEPS} sparse products with {RANK} columns in single precision"
    traffic = 2.0 * STEPS * (8.0 * X.nnz + 4.0 * RANK * (ROWS + FEATURES))
    return Loop("`leml`, the step of W, rows as in bibtex", run, floor, words, 4.0 * STEPS * X.nnz * RANK, traffic)


def loops() -> Iterator[Loop]:
    """Yield the loops."""
    yield features_step()
