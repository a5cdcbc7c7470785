"""Scales features for solvers: columns of standard deviation 1, rows of unit length, or unchanged."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix
from lrlab.linalg import mean_squares, varying

SCALINGS = ("auto", "none", "deviations", "rows")
MEANING = (
    "how features are scaled: deviations, each divided by its standard deviation; rows, each row to length 1; none; "
    "auto takes deviations if most values are not 0, else for numbers among words, 0 or 1"
)
FAR_APART = 1e4


class Scaling(NamedTuple):
    """A scaling of features: its name, one of `SCALINGS` except auto, and the divisors `units` (d,) or none.

    It does not center, so that sparse features stay sparse; intercepts replace centering.
    """

    name: str = "none"
    units: Array = np.zeros(0)

    @staticmethod
    def of(X: Matrix, name: str) -> "Scaling":
        """Return the scaling for training rows X (n, d)."""
        if name != "auto":
            return Scaling(name, deviations(X)) if name == "deviations" else Scaling(name)
        filled = X.count_nonzero(axis=0) if issparse(X) else np.count_nonzero(X, axis=0)
        if filled.sum() > X.shape[0] * X.shape[1] / 2:
            return Scaling("deviations", deviations(X))
        # Among rare words, only numbers such as an income have a unit.
        words = (np.asarray(X.sum(axis=0)).ravel() == filled) & (mean_squares(X) == filled / X.shape[0])
        numbers = (filled > X.shape[0] / 2) & ~words
        return Scaling("deviations", np.where(numbers, deviations(X), 1.0)) if numbers.any() else Scaling()

    def applied(self, X: Matrix) -> Matrix:
        """Return scaled rows (n, d); a row of zeros stays zero."""
        if self.name == "deviations":
            return csr_array(X.multiply(1.0 / self.units)) if issparse(X) else X / self.units
        if self.name == "rows":
            # Importing scikit-learn takes a second, which other scalings do not need.
            from sklearn.preprocessing import normalize

            return csr_array(normalize(X)) if issparse(X) else normalize(X)
        return X


def spread_remark(X: Matrix) -> str:
    """Return a sentence if the sizes of features differ so much that the smaller ones hardly count."""
    sizes = deviations(X, of_constants=np.nan)
    if np.isnan(sizes).all() or (ratio := float(np.nanmax(sizes) / np.nanmin(sizes))) <= FAR_APART:
        return ""
    return (
        f"Features differ in size by a factor of {ratio:.1g}: the smaller ones hardly count, and solvers may end far "
        "from their optimum. Take scaling=deviations."
    )


def deviations(X: Matrix, of_constants: float = 1.0) -> Array:
    """Return the standard deviation of each feature (d,), `of_constants` for a constant one."""
    if not issparse(X):
        return np.where(varying(X), X.std(axis=0), of_constants)
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), mean_squares(X)
    variance = squares - mean**2
    # For a constant, rounding leaves a small difference of squares.
    return np.where(variance > 1e-12 * squares, np.sqrt(np.maximum(variance, 0.0)), of_constants)
