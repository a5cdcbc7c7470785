"""WSABIE: rows and labels embedded in one space by stochastic gradients on a ranking loss (Weston et al. 2011)."""

from typing import Annotated

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab import lowrank
from lrlab.arrays import Array, Indices, Matrix
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterate, Iterates, number
from lrlab.solvers.multilabel.design import Design
from lrlab.solvers.multilabel.labels import FittedRank, low_rank_solver, rank_of
from lrlab.solvers.multilabel.predictors import Affine
from lrlab.solvers.multilabel.warp import Negatives, Watched, narrowed, rank_weights, units_of, violators

TINY, SHORT = 1e-12, 0.3
"""Least divisor; root mean square length of first embeddings: random directions of short ones are soon forgotten."""


@low_rank_solver()
def wsabie(
    problem: LabelData,
    *,
    rate: Annotated[float, number(1e-6, 1e3, "step length of stochastic gradients", symbol="γ", scale="log")] = 0.05,
    margin: Annotated[float, number(0, 1e3, "lead of a positive label over negative ones")] = 1.0,
    norm: Annotated[float, number(1e-3, 1e4, "largest length of an embedding", symbol="C", scale="log")] = 10.0,
    batch: Annotated[int, number(1, 100_000, "positive labels per step", scale="log")] = 64,
    trials: Annotated[int, number(1, 100_000, "most samples for a negative label in the way", scale="log")] = 1000,
    fitted_rank: FittedRank = 0,
    rng: Generator,
) -> Iterates:
    r"""WSABIE.

    Embeds rows and labels by stochastic gradients on a ranking loss that samples the labels in the way.

    .. math:: w, h \leftarrow w, h + \gamma\, L\bigl(\lfloor m_i / N \rfloor\bigr)\, \nabla (s_{ij} - s_{il}), \qquad
        s = X D W H^\top, \quad l \text{ the } N\text{-th label sampled, } s_{il} > s_{ij} - \text{margin}

    minimize    sum over positive labels (i, j) of L(r_ij), r_ij the number of labels observed to be negative with s_il
                > s_ij - margin, L(r) = 1 + 1/2 + ... + 1/r; with ||w_f||, ||h_l|| <= C
    sample      for each (i, j), negative labels l until one has s_il > s_ij - margin, the N-th, say
    update      for `batch` pairs (i, j) at once, m_i labels of row i being observed to be negative; then embeddings
                longer than C are shortened; gamma is `rate` over the root of an embedding's past squared gradients
    cost        a pass over all positive labels, each with up to `trials` scores

    D is diagonal: all features of X D have one mean square, and its rows mean square length 1. Pairs without such an l
    after `trials` samples move nothing. An unobserved entry is neither positive nor negative. With intercepts b, if the
    problem wants them, scores are X D W H^T + 1 b^T, and b moves as H does, with no bound.
    Yields after each pass: estimate Z = D W H^T, objective: mean loss of a positive label on at most 1,000 rows (see
    `warp`). The same rows give the threshold of Z, since a ranking has none.

    Reference: Weston, Bengio, Usunier (2011), "WSABIE: Scaling up to large vocabulary image annotation", Algorithm 1;
    Duchi, Hazan, Singer (2011) for adagrad.
    """
    # Sparse rows are not centered, so that a step touches only the features of its rows.
    Y, k = problem.Y, int(problem.intercept)
    design = Design.of(problem.X, problem.intercept and not issparse(problem.X))
    (n, d), L, r = design.X.shape, Y.shape[1], rank_of(problem, fitted_rank)
    row_of, units = np.repeat(np.arange(n), np.diff(Y.indptr)), units_of(design.X)
    negatives = Negatives(Y, problem.mask)
    weights_of_rank = rank_weights(int(negatives.count.max()))
    W, H = (rng.standard_normal((size, r)) * (SHORT / np.sqrt(r)) for size in (d, L))
    # Intercepts are the last column of H; images of rows end in a one then.
    H, squares = np.hstack([H, np.zeros((L, k))]), (np.zeros(d), np.zeros(L), np.zeros(L))
    watched = Watched(design.X, Y, problem.mask, rng)

    def images(X: Matrix, P: Array) -> Array:
        A = X @ P
        return np.hstack([A, np.ones((len(A), k))])

    def ascend(P: Array, squared: Array, rows: Indices | slice, G: Array, bound: float = norm) -> None:
        """Add G to some rows of embeddings P, accumulate its squares, and bound their lengths."""
        squared[rows] += np.square(G).mean(axis=1)
        moved = P[rows] + (rate / (np.sqrt(squared[rows]) + TINY))[:, None] * G
        P[rows] = moved * np.minimum(1.0, bound / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), TINY))

    while True:
        order, outscored = rng.permutation(Y.nnz), 0
        for start in range(0, len(order), batch):
            pairs = order[start : start + batch]
            rows, labels = row_of[pairs], Y.indices[pairs]
            X, touched = narrowed(design.X[rows])
            A, own = images(X, W[touched] / units[touched, None]), units[touched, None]
            least = np.einsum("bk,bk->b", A, H[labels]) - margin
            others, N = violators(negatives, rows, least, A, H, trials, rng)
            weights = weights_of_rank[negatives.count[rows] // np.maximum(N, 1)] * (N > 0)
            G = (X.T @ (weights[:, None] * (H[labels, :r] - H[others, :r]))) / own
            moved, place = np.unique(np.concatenate([labels, others]), return_inverse=True)
            signs, samples = np.concatenate([weights, -weights]), np.tile(np.arange(len(rows)), 2)
            S = csr_array((signs, (place, samples)), shape=(len(moved), len(rows))) @ A
            ascend(H[:, :r], squares[1], moved, S[:, :r])
            if k:
                ascend(H[:, r:], squares[2], moved, S[:, r:], np.inf)
            ascend(W, squares[0], touched, G)
            outscored += int(np.count_nonzero(N))
        loss, threshold = watched.measure(images(watched.X, W / units[:, None]), H, margin)
        Z, b = lowrank.from_product(W / units[:, None], H[:, :r]), H[:, r:].sum(axis=1)
        b = b if design.mean is None else b - Z.V @ (design.mean @ Z.left)
        note = f"{100 * outscored / max(1, len(order)):.0f}% of the sampled positive labels were outscored"
        yield Iterate(Affine.at(Z, b, threshold), loss, note=note)
