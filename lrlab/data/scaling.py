"""Scales features before solvers see them: standardised columns, rows of unit length, or as they are."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix
from lrlab.linalg import mean_squares, varying

SCALINGS = ("auto", "none", "deviations", "rows")
MEANING = (
    "how features are scaled: deviations, each divided by its standard deviation; rows, each row to length 1; none; "
    "auto takes deviations where most values are not 0, else of the numbers among words, 0 or 1"
)
FAR_APART = 1e4
MOSTLY = 0.5
"""Share of values that are not 0 above which columns are standardised: rare 0/1 features should not be."""


class Scaling(NamedTuple):
    """A scaling of features: name, one of `SCALINGS` but auto; units (d,), by which features are divided, or empty.

    Nothing is subtracted, so that sparse features stay sparse; intercepts make up for it.
    """

    name: str = "none"
    units: Array = np.zeros(0)

    @staticmethod
    def of(X: Matrix, name: str) -> "Scaling":
        """Return the scaling that training rows X (n, d) give."""
        if name == "auto":
            return automatic(X)
        return Scaling(name, deviations(X)) if name == "deviations" else Scaling(name)

    def applied(self, X: Matrix) -> Matrix:
        """Return rows (n, d) scaled; a row of zeros stays so."""
        if self.name == "deviations":
            return csr_array(X.multiply(1.0 / self.units)) if issparse(X) else X / self.units
        if self.name == "rows":
            # Sums of rows of scipy's older matrices are matrices.
            squares = np.ravel(X.multiply(X).sum(axis=1)) if issparse(X) else np.einsum("ij,ij->i", X, X)
            factors = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
            return csr_array(X.multiply(factors)) if issparse(X) else X * factors
        return X


def automatic(X: Matrix) -> Scaling:
    """Return what auto is for these rows: an income loses its unit beside rare words too, which have none."""
    n, d = X.shape
    filled = X.count_nonzero(axis=0) if issparse(X) else np.count_nonzero(X, axis=0)
    if filled.sum() > MOSTLY * n * d:
        return Scaling("deviations", deviations(X))
    words = (np.asarray(X.sum(axis=0)).ravel() == filled) & (mean_squares(X) == filled / n)
    numbers = (filled > MOSTLY * n) & ~words
    return Scaling("deviations", np.where(numbers, deviations(X), 1.0)) if numbers.any() else Scaling()


def spread_remark(X: Matrix) -> str:
    """Return a sentence where features that vary differ so much in size that the smaller ones hardly count."""
    sizes = deviations(X, of_constants=np.nan)
    if np.isnan(sizes).all() or (ratio := float(np.nanmax(sizes) / np.nanmin(sizes))) <= FAR_APART:
        return ""
    return (
        f"Features differ in size by a factor of {ratio:.1g}: the smaller ones hardly count, and solvers may end far "
        "from their optimum. Take scaling=deviations."
    )


def deviations(X: Matrix, of_constants: float = 1.0) -> Array:
    """Return the standard deviation of each feature (d,), `of_constants` where it is constant."""
    if not issparse(X):
        return np.where(varying(X), X.std(axis=0), of_constants)
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), mean_squares(X)
    variance = squares - mean**2
    # What rounding leaves of a constant in a difference of squares is no deviation.
    return np.where(variance > 1e-12 * squares, np.sqrt(np.maximum(variance, 0.0)), of_constants)
