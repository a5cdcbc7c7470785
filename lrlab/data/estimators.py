"""Solvers on own measurements as estimators of scikit-learn: for pipelines, grid searches and cross-validation."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from lrlab.arrays import Array
from lrlab.data.recover import in_units, job_of
from lrlab.engine import solve
from lrlab.lowrank import LowRank
from lrlab.parameters import InputError, Parameter, Value
from lrlab.runs.trace import Trace

Settings = Mapping[str, Value] | None


class OwnEstimator(BaseEstimator):
    """One run of a solver on all rows: `trace_` is that of `lrlab.recover`, `n_iter_` its number of iterations.

    solver: one of the model, its first one where it is empty; seed, max_iter, max_seconds: of the run; settings: other
    options. InputError in one sentence where one of these or the data cannot be used.
    """

    measured: ClassVar[str]
    trace_: Trace

    def run(self, y: Any, X: Any = None, Z: Any = None, **options: object) -> Any:
        """Run the solver, and return its estimate."""
        given: Any = self
        limit = getattr(given, "max_iter", None)
        options |= {"held_out": 0.0, "seed": given.seed, "max_seconds": given.max_seconds, **(given.settings or {})}
        options |= {} if limit is None else {"max_iter": limit}
        solver: Any = options.pop("solver", given.solver)
        self.trace_ = in_units(solve.run(job_of(y, X, Z, model=self.measured, solver=solver, **options)))
        if self.trace_.estimate is None:
            raise RuntimeError(self.trace_.ending)
        self.n_iter_ = len(self.trace_.rows)
        return self.trace_.estimate


class SingleIndexClassifier(ClassifierMixin, OwnEstimator):
    """One-bit responses y to rows x: P(y = classes_[1] | x) = f(<x, b>), b and f both unknown.

    model: of the responses, which says what solvers there are; scaling: of the columns, see `lrlab.recover`: whitened
    has intervals of nearly dependent columns, too; others as of `OwnEstimator`. After a fit `coef_` (1, d) is the
    direction, of unit length, in the units of the columns; `trace_.link` the link, `trace_.intervals` the 95% intervals
    of the direction for columns of deviation 1 in these rows.
    """

    def __init__(
        self,
        solver: str = "",
        *,
        model: str = "flipped-logistic",
        scaling: str = "columns",
        seed: int = 0,
        max_iter: int | None = None,
        max_seconds: float = 3600.0,
        settings: Settings = None,
    ) -> None:
        """Keep the settings, which `fit` checks."""
        self.solver, self.model, self.scaling, self.seed = solver, model, scaling, seed
        self.max_iter, self.max_seconds, self.settings = max_iter, max_seconds, settings

    @property
    def measured(self) -> str:  # type: ignore[override]
        """The model of the responses."""
        return self.model

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with responses y (n,) of two values."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        check_classification_targets(y)
        if (kind := type_of_target(y)) != "binary":
            # The words that scikit-learn's own checks look for.
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, places = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("y", "of two classes", "one class", "give rows of both")
        self.coef_ = self.run(2.0 * places - 1.0, X, scaling=self.scaling)[None]
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds (n,) of the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.trace_.problem.predict(self.trace_.estimate, X))

    def predict_proba(self, X: Any) -> Array:
        """Return the chances of the classes (n, 2)."""
        second = expit(self.decision_function(X))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> Array:
        """Return the more likely class of rows (n,)."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])


class FormRegressor(RegressorMixin, OwnEstimator):
    """A form of low rank, fitted to numbers y; `matrix_` is the matrix of the form in the units of the columns."""

    def __init__(
        self,
        solver: str = "",
        *,
        rank: int | None = None,
        constant: bool = True,
        seed: int = 0,
        max_iter: int | None = None,
        max_seconds: float = 3600.0,
        settings: Settings = None,
    ) -> None:
        """Keep the settings, which `fit` checks."""
        self.solver, self.rank, self.constant, self.seed = solver, rank, constant, seed
        self.max_iter, self.max_seconds, self.settings = max_iter, max_seconds, settings

    def sides(self, X: Array) -> tuple[Array, ...]:
        """Return the vectors (n, ...) of the form, the two or the one."""
        return (X,)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with numbers y (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, ensure_min_features=2)
        of = "r" if self.measured == "polynomial-network" else "rank"
        rank = {} if self.rank is None else {of: self.rank}
        self.run(np.asarray(y, dtype=np.float64), *self.sides(X), constant=self.constant, **rank)
        matrix: Any = self.trace_.estimate
        self.matrix_: LowRank = matrix
        self.rank_ = len(self.matrix_.s)
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers (n,) of rows."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.trace_.problem.predict(self.trace_.estimate, *self.sides(X)))


class BilinearRegressor(FormRegressor):
    """y = x^T W z, W of low rank: the first `first` columns of a row are x, the others z (None: a half each).

    rank: of W, chosen on rows held out where it is None; constant: whether x and z have an entry 1 each, which makes a
    constant and linear terms part of W; others as of `OwnEstimator`.
    """

    measured = "rank-one-sensing"

    def __init__(
        self,
        solver: str = "",
        *,
        first: int | None = None,
        rank: int | None = None,
        constant: bool = True,
        seed: int = 0,
        max_iter: int | None = None,
        max_seconds: float = 3600.0,
        settings: Settings = None,
    ) -> None:
        """Keep the settings, which `fit` checks."""
        self.first = first
        super().__init__(
            solver,
            rank=rank,
            constant=constant,
            seed=seed,
            max_iter=max_iter,
            max_seconds=max_seconds,
            settings=settings,
        )

    def sides(self, X: Array) -> tuple[Array, ...]:
        """Return x (n, first) and z (n, d - first)."""
        d = X.shape[1]
        columns = Parameter(meaning="columns of x", name="first", kind=int, low=1, high=d - 1, default=d // 2)
        first = int(columns.check(d // 2 if self.first is None else self.first))
        return X[:, :first], X[:, first:]


class QuadraticNetworkRegressor(FormRegressor):
    """y = x^T L x, L symmetric of low rank: a network of one hidden layer with squares, U of `matrix_` its units.

    rank: number of hidden units, chosen on rows held out where it is None; constant: whether x has an entry 1, which
    makes a constant and linear terms part of L; others as of `OwnEstimator`.
    """

    measured = "polynomial-network"
