"""Fills the gaps of a table with a matrix of low rank, as an estimator of scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from lrlab.arrays import Array, Mask
from lrlab.data.estimators import OwnEstimator, Settings
from lrlab.parameters import InputError


class LowRankImputer(OneToOneFeatureMixin, TransformerMixin, OwnEstimator):
    """Fills gaps (nan) of a table with a matrix of low rank.

    The table, whose columns are centred and divided by their deviations where `scaling` is columns (none: left alone),
    is fitted by U V^T. A row gets the u that is most probable under the spread of the u and the misfit of the fit, from
    the entries that it has; so do new rows. rank: chosen on entries held out where it is None; others as of
    `OwnEstimator`. A column without any number is filled with 0.
    """

    measured = "inductive-completion"

    def __init__(
        self,
        solver: str = "",
        *,
        rank: int | None = None,
        scaling: str = "columns",
        seed: int = 0,
        max_iter: int | None = None,
        max_seconds: float = 3600.0,
        settings: Settings = None,
    ) -> None:
        """Keep the settings, which `fit` checks."""
        self.solver, self.rank, self.scaling, self.seed = solver, rank, scaling, seed
        self.max_iter, self.max_seconds, self.settings = max_iter, max_seconds, settings

    def __sklearn_tags__(self) -> Any:
        """Say that entries may be nan."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table X (n, d) with nan in gaps."""
        X = self.checked(X, reset=True, ensure_min_samples=2, ensure_min_features=2)
        if self.scaling not in ("columns", "none"):
            raise InputError("scaling", "one of columns, none", self.scaling, "take columns")
        known, scaled = ~np.isnan(X), self.scaling == "columns"
        # Of a column without numbers the scaler would warn.
        self.scaler_ = StandardScaler(with_mean=scaled, with_std=scaled).fit(np.where(known.any(axis=0), X, 0.0))
        table = self.scaler_.transform(X)
        self.components_, self.ridge_ = np.zeros((X.shape[1], 0)), np.zeros((0, 0))
        self.n_iter_ = 1
        if np.count_nonzero(table[known]) < 2:
            return self
        self.run(table, **({} if self.rank is None else {"rank": self.rank}))
        W: Any = self.trace_.estimate
        left, self.components_ = W.U * W.s, W.V
        off = float(np.mean((left @ W.V.T - table)[known] ** 2))
        self.ridge_ = off * np.linalg.pinv(left.T @ left / len(left))
        return self

    def checked(self, X: Any, *, reset: bool, **least: int) -> Array:
        """Return a table of numbers and gaps."""
        return np.asarray(validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", **least))

    def transform(self, X: Any) -> Array:
        """Return the table (n, d) without gaps; numbers that are known are not changed."""
        check_is_fitted(self)
        X = self.checked(X, reset=False)
        known = ~np.isnan(X)
        table = np.where(known, self.scaler_.transform(X), 0.0)
        filled = self.scaler_.inverse_transform(self.rows(table, known) @ self.components_.T)
        return np.asarray(np.where(known, X, filled))

    def rows(self, table: Array, known: Mask) -> Array:
        """Return the u (n, rank) of rows whose known entries are those of a table."""
        V = self.components_
        grams = np.einsum("ij,jk,jl->ikl", known.astype(float), V, V, optimize=True) + self.ridge_
        return np.asarray((np.linalg.pinv(grams, hermitian=True) @ (table @ V)[:, :, None])[:, :, 0])
