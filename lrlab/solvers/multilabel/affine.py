"""Intercepts: predictors with a number for each label beside x^T w, which nothing penalises, and centred features."""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from lrlab.arrays import Array, Indices, Matrix
from lrlab.linalg import mean_squares
from lrlab.lowrank import ROUNDING, LowRank
from lrlab.ranking import THRESHOLDS, Scores, rows_of

MOSTLY = 0.5


class Affine(LowRank):
    """Scores x^T W + offset, W of low rank, offset (L,); a label is on where its score is above `threshold`.

    Made of the parts of W alone it has neither an offset nor a threshold other than 1/2.
    """

    offset: Array | float = 0.0
    threshold: float = THRESHOLDS["zero-one"]

    @classmethod
    def at(cls, W: LowRank, offset: Array, threshold: float = THRESHOLDS["zero-one"]) -> Self:
        """Return W with an offset."""
        estimate = cls(*W)
        estimate.offset, estimate.threshold = offset, threshold
        return estimate

    def scores(self, X: Matrix) -> Scores:
        """Return X W + offset as a function of a slice of rows."""
        linear, offset = super().scores(X), np.asarray(self.offset)
        # Labels without positives tie, as they do in `LowRank.scores`.
        offset = np.where(np.abs(offset) > ROUNDING * np.abs(offset).max(initial=0.0), offset, 0.0)
        return lambda rows: rows_of(linear, rows) + offset

    def arrays(self) -> dict[str, Array]:
        """Return factors, offset and threshold, by name."""
        return {**super().arrays(), "offset": np.asarray(self.offset), "threshold": np.array(self.threshold)}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`; older ones have no threshold, or no offset."""
        own = {"offset": np.zeros(len(arrays["V"])), "threshold": np.array(cls.threshold)}
        own |= {name: part for name, part in arrays.items() if name in own}
        Z = LowRank(**{name: part for name, part in arrays.items() if name not in own})
        if own["offset"].shape != (len(Z.V),):
            raise ValueError(f"an offset of {own['offset'].shape} for {len(Z.V)} labels")
        return cls.at(Z, own["offset"], float(own["threshold"]))


class CentredRows:
    """Sparse rows X (n, d) less a mean (d,), X - 1 mean^T, which is never formed: each product gets a rank-one term."""

    def __init__(self, X: Matrix, mean: Array) -> None:
        self.X, self.mean, self.shape = X, mean, X.shape

    def __matmul__(self, W: Array) -> Array:
        """Return (X - 1 mean^T) W."""
        return self.X @ W - self.mean @ W

    def __getitem__(self, rows: Indices | slice) -> "CentredRows":
        """Return some of the rows."""
        return CentredRows(self.X[rows], self.mean)

    @property
    def T(self) -> "CentredColumns":
        """The transpose."""
        return CentredColumns(self)


class CentredColumns(NamedTuple):
    """The transpose of centred rows."""

    of: CentredRows

    def __matmul__(self, B: Matrix) -> Array:
        """Return (X - 1 mean^T)^T B, B dense or sparse."""
        product = self.of.X.T @ B
        rank_one = np.multiply.outer(self.of.mean, np.asarray(B.sum(axis=0)))
        return (product.toarray() if issparse(product) else product) - rank_one


class Design(NamedTuple):
    """Features as a solver multiplies with them, and what is subtracted from them (d,); None without intercepts.

    Dense features are subtracted from, sparse ones stay sparse. Centred, they are orthogonal to the column of ones that
    intercepts belong to, so that closed forms need not know of these.
    """

    X: Matrix
    mean: Array | None

    @staticmethod
    def of(X: Matrix, intercepts: bool) -> "Design":
        """Return the features, centred where predictors have intercepts."""
        if not intercepts:
            return Design(X, None)
        mean = np.asarray(X.mean(axis=0)).ravel()
        return Design(CentredRows(X, mean) if issparse(X) else X - mean, mean)

    @staticmethod
    def balanced(X: Matrix, intercepts: bool) -> "Design":
        """Return the features, centred for intercepts only where means hold most of their squares.

        Then few gradient steps would get nowhere otherwise. Elsewhere these steps regularise, and more so from features
        as they are: leml-logistic has an AUC of .94 on bibtex after five iterations, and .90 if that is centred.
        """
        if intercepts and float(np.sum(np.square(X.mean(axis=0)))) <= MOSTLY * float(mean_squares(X).sum()):
            return Design(X, np.zeros(X.shape[1]))
        return Design.of(X, intercepts)

    @property
    def sizes(self) -> Array:
        """Norms of the columns (d,), 1 of zero: gradients divided by them mean the same in any unit."""
        rows = self.X.X if isinstance(self.X, CentredRows) else self.X
        squares = mean_squares(rows)
        centred = squares - self.X.mean**2 if isinstance(self.X, CentredRows) else squares
        # What rounding leaves of a constant has no size of its own.
        centred = np.where(centred > 1e-12 * squares, centred, squares)
        return np.sqrt(rows.shape[0] * np.where(squares > 0, centred, 1.0))

    def estimate(self, kind: type[LowRank], Z: LowRank, intercepts: Array | None) -> LowRank:
        """Return the predictor with scores X Z + intercepts of rows as they are given, not centred."""
        estimate = kind(*Z)
        if self.mean is None or intercepts is None:
            return estimate
        return Affine.at(Z, intercepts - Z.V @ (self.mean @ Z.left), estimate.threshold)


def gram(X: Matrix, tall: bool) -> Array:
    """Return X^T X if `tall`, else X X^T, of rows that are dense, sparse or centred."""
    if not isinstance(X, CentredRows):
        product = X.T @ X if tall else X @ X.T
        return product.toarray() if issparse(product) else product
    G, n = gram(X.X, tall), X.shape[0]
    if tall:
        # The mean is that of these rows, so that both cross terms are n mean mean^T.
        return G - n * np.multiply.outer(X.mean, X.mean)
    rows = np.asarray(X.X @ X.mean)
    return G - rows - rows[:, None] + X.mean @ X.mean
