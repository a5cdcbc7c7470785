"""WSABIE: rows and labels embedded in one space by stochastic gradients on a ranking loss (Weston et al. 2011)."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array, issparse

from lrlab import lowrank
from lrlab.arrays import Array, Indices, Matrix
from lrlab.linalg import mean_squares
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.affine import Affine, Design
from lrlab.solvers.multilabel.leml_alternation import FittedRank, rank_of
from lrlab.solvers.multilabel.requirements import low_rank_entry
from lrlab.solvers.multilabel.warp import Negatives, Watched, rank_weights, violators

TINY = 1e-12
"""Lengths below it are taken for it, lest 0 be divided by 0."""
SHORT = 0.3
"""Root mean square length of embeddings at first: the shorter, the sooner random directions are forgotten."""


class Steps(NamedTuple):
    """Step sizes of stochastic gradients, from the options of `wsabie`."""

    rate: float
    schedule: str
    norm: float

    def ascend(self, P: Array, squares: Array, rows: Indices | slice, G: Array, epoch: int) -> None:
        """Add G to some rows of embeddings P, accumulate its squares, and bound their lengths."""
        lengths = np.full(len(G), self.rate)
        if self.schedule == "adagrad":
            squares[rows] += np.square(G).mean(axis=1)
            lengths /= np.sqrt(squares[rows]) + TINY
        elif self.schedule == "decaying":
            lengths /= np.sqrt(epoch)
        moved = P[rows] + lengths[:, None] * G
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        P[rows] = moved * np.minimum(1.0, self.norm / np.maximum(norms, TINY))


class Embedding:
    """Embeddings of features W (d, k) and labels H (L, k), and what is needed to improve them."""

    def __init__(self, problem: LabelData, k: int, steps: Steps, margin: float, trials: int, rng: Generator) -> None:
        """Draw short embeddings of labels, and such embeddings of features that those of rows are as short."""
        # Sparse rows are not centred, so that steps touch the features of their rows alone.
        self.intercepts = problem.intercept
        self.design = Design.of(problem.X, self.intercepts and not issparse(problem.X))
        self.X, self.Y, self.rng = self.design.X, problem.Y, rng
        self.negatives = Negatives(problem.Y, problem.mask)
        self.rows = np.repeat(np.arange(self.Y.shape[0]), np.diff(self.Y.indptr))
        self.weights = rank_weights(int(self.negatives.count.max()))
        self.steps, self.margin, self.trials = steps, margin, trials
        self.units = feature_units(self.X)
        d, L = self.X.shape[1], self.Y.shape[1]
        self.W, self.H = (rng.standard_normal((size, k)) * (SHORT / np.sqrt(k)) for size in (d, L))
        # Intercepts are the last column of H; images of rows end in a one then.
        self.H = np.hstack([self.H, np.zeros((L, int(self.intercepts)))])
        self.squared_gradients = np.zeros(d), np.zeros(L), np.zeros(L)

    def images(self, X: Matrix, W: Array) -> Array:
        """Return X W, and a column of ones where there are intercepts."""
        A = X @ W
        return np.hstack([A, np.ones((len(A), 1))]) if self.intercepts else A

    def estimate(self, threshold: float) -> Affine:
        """Return the predictor with scores x^T D W H^T + b of rows as they are given."""
        W, k = self.W / self.units[:, None], self.W.shape[1]
        Z, b = lowrank.from_product(W, self.H[:, :k]), self.H[:, k:].sum(axis=1)
        return Affine.at(Z, b if self.design.mean is None else b - Z.V @ (self.design.mean @ Z.left), threshold)

    def epoch(self, number: int, batch: int) -> float:
        """Go once through the labels that are on, in random order; return the share of them that was outscored."""
        order, outscored = self.rng.permutation(self.Y.nnz), 0
        for start in range(0, len(order), batch):
            outscored += self.step(order[start : start + batch], number)
        return outscored / max(1, len(order))

    def step(self, pairs: Indices, epoch: int) -> int:
        """Improve on some labels that are on; return how many of them a sampled label outscored."""
        rows, labels = self.rows[pairs], self.Y.indices[pairs]
        X, touched = narrowed(self.X[rows])
        units = self.units[touched, None]
        A, k = self.images(X, self.W[touched] / units), self.W.shape[1]
        least = np.einsum("bk,bk->b", A, self.H[labels]) - self.margin
        others, number = violators(self.negatives, rows, least, A, self.H, self.trials, self.rng)
        hit = number > 0
        weights = self.weights[self.negatives.count[rows] // np.maximum(number, 1)] * hit
        G = (X.T @ (weights[:, None] * (self.H[labels, :k] - self.H[others, :k]))) / units
        signs, both = np.concatenate([weights, -weights]), np.concatenate([labels, others])
        moved, place = np.unique(both, return_inverse=True)
        sums = csr_array((signs, (place, np.tile(np.arange(len(rows)), 2))), shape=(len(moved), len(rows)))
        S = sums @ A
        self.steps.ascend(self.H[:, :k], self.squared_gradients[1], moved, S[:, :k], epoch)
        if self.intercepts:
            unbounded = self.steps._replace(norm=np.inf)
            unbounded.ascend(self.H[:, k:], self.squared_gradients[2], moved, S[:, k:], epoch)
        self.steps.ascend(self.W, self.squared_gradients[0], touched, G, epoch)
        return int(hit.sum())


def feature_units(X: Matrix) -> Array:
    """Return what each feature (d,) is divided by, so that all have one mean square and rows mean square length 1.

    It makes rates and bounds mean the same whatever features are measured in. Of those that are 0 everywhere it is 1.
    """
    squares = mean_squares(X)
    return np.where(squares > 0, np.sqrt(squares * max(1, int(np.count_nonzero(squares)))), 1.0)


def narrowed(X: Matrix) -> tuple[Matrix, Indices | slice]:
    """Return some rows without the columns in which they are all zero, and the columns that are left."""
    if not issparse(X):
        return X, slice(None)
    touched, place = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, place, X.indptr), shape=(X.shape[0], len(touched))), touched


def wsabie(
    problem: LabelData,
    *,
    rate: Annotated[
        float, Parameter(meaning="step length of stochastic gradients", symbol="γ", low=1e-6, high=1e3, scale="log")
    ] = 0.05,
    schedule: Annotated[
        str,
        Parameter(
            meaning="the rate over time: constant; decaying, divided by the root of the epoch; adagrad, divided by "
            "the root of all squared gradients that the same feature or label has had",
            choices=("constant", "decaying", "adagrad"),
        ),
    ] = "adagrad",
    margin: Annotated[
        float, Parameter(meaning="by how much a label that is on shall outscore those that are off", low=0, high=1e3)
    ] = 1.0,
    norm: Annotated[
        float, Parameter(meaning="most length of an embedding", symbol="C", low=1e-3, high=1e4, scale="log")
    ] = 10.0,
    batch: Annotated[int, Parameter(meaning="labels that are on in one step", low=1, high=100_000, scale="log")] = 64,
    trials: Annotated[
        int, Parameter(meaning="most labels drawn for one that is off and in the way", low=1, high=100_000, scale="log")
    ] = 1000,
    fitted_rank: FittedRank = 0,
    rng: Generator,
) -> Iterates:
    r"""Rank labels by the scores X D W H^T, W (d, k) and H (L, k) embeddings of features and labels: WARP loss.

    minimise    sum over labels (i, j) that are on of L(r_ij), r_ij the number of labels that are observed to be off and
                have s_il > s_ij - margin, L(r) = 1 + 1/2 + ... + 1/r; with ||w_f||, ||h_l|| <= C
    sample      for each (i, j), labels l that are off until one has s_il > s_ij - margin, the N-th, say
    update      w, h <- w, h + gamma L(floor(m_i / N)) d(s_ij - s_il), m_i labels of row i being observed to be off, for
                `batch` pairs (i, j) at once; then embeddings longer than C are shortened

    D is diagonal: all features of X D have one mean square, and its rows mean square length 1. Pairs without such an l
    after `trials` draws move nothing. An entry that is unobserved is neither on nor off. With intercepts b, where the
    problem wants them, scores are X D W H^T + 1 b^T, and b moves as H does, with no bound.
    Yields after each pass over all pairs: estimate Z = D W H^T, objective: mean loss of a positive on at most 1,000
    rows (see `warp`). The threshold of Z is taken from the same rows, since a ranking has none.
    Reference: Weston, Bengio, Usunier (2011), "WSABIE: Scaling up to large vocabulary image annotation", Algorithm 1;
    Duchi, Hazan, Singer (2011) for adagrad.
    """
    k = rank_of(problem, fitted_rank)
    embedding = Embedding(problem, k, Steps(rate, schedule, norm), margin, trials, rng)
    watched = Watched(embedding.X, problem.Y, problem.mask, rng)
    epoch = 0
    while True:
        epoch += 1
        share = embedding.epoch(epoch, batch)
        A = embedding.images(watched.X, embedding.W / embedding.units[:, None])
        loss, threshold = watched.measure(A, embedding.H, margin)
        note = f"{100 * share:.0f}% of the labels that are on were outscored when they were drawn"
        yield Iterate(embedding.estimate(threshold), loss, note=note)


ENTRY = low_rank_entry(
    title="WSABIE",
    update=r"w, h \leftarrow w, h + \gamma\, L\bigl(\lfloor m_i / N \rfloor\bigr)\, \nabla (s_{ij} - s_{il}),"
    r" \qquad s = X D W H^\top, \quad l \text{ the } N\text{-th label drawn, } s_{il} > s_{ij} - \text{margin}",
    summary="Embeds rows and labels by stochastic gradients on a ranking loss that samples the labels in the way.",
    run=wsabie,
)
