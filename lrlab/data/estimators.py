"""Solvers on your data as estimators of scikit-learn: for pipelines, grid searches and cross-validation."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, RegressorMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from lrlab.arrays import Array, Mask
from lrlab.data.dataset import Dataset, dataset_of
from lrlab.data.recover import in_units, job_of
from lrlab.engine import solve
from lrlab.lowrank import LowRank
from lrlab.parameters import InputError, Parameter, Value
from lrlab.runs.trace import Trace


@dataclass(eq=False, repr=False)
class SolverEstimator(BaseEstimator):
    """One run of a solver on all rows: `trace_` is that of `lrlab.recover`, `n_iter_` its number of iterations.

    solver: one of the model, the default one if it is empty; seed, max_iter, max_seconds: of the run; settings: other
    options. InputError in one sentence if one of these or the data cannot be used.
    """

    measured: ClassVar[str]
    checks: ClassVar[dict[str, Any]] = {"dtype": np.float64}
    trace_: ClassVar[Trace]

    solver: str = ""
    _: KW_ONLY
    seed: int = 0
    max_iter: int | None = None
    max_seconds: float = 3600.0
    settings: Mapping[str, Value] | None = None

    def run(self, y: Any, X: Any = None, Z: Any = None, **options: object) -> Any:
        """Run the solver, and return its estimate."""
        usual = {"held_out": 0.0, "seed": self.seed, "max_seconds": self.max_seconds, "max_iter": self.max_iter}
        # The solver, the rank and others have defaults of their own if nothing is said.
        said = {name: value for name, value in {**usual, **options}.items() if value is not None}
        given = {**said, **(self.settings or {})}
        solver: Any = given.pop("solver", self.solver)
        trace = in_units(solve.run(job_of(y, X, Z, model=self.measured, solver=solver, **given)))
        if trace.estimate is None:
            raise RuntimeError(trace.ending)
        self.trace_, self.n_iter_ = trace, len(trace.rows)  # type: ignore[misc]
        return trace.estimate

    def rows(self, X: Any) -> Any:
        """Return new rows, checked, for a fitted estimator."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self.checks)


@dataclass(eq=False, repr=False, kw_only=True)
class SingleIndexClassifier(ClassifierMixin, SolverEstimator):
    """One-bit responses y to rows x: P(y = classes_[1] | x) = f(<x, b>), b and f both unknown.

    model: of the responses, which says what solvers there are; scaling: of the columns, see `lrlab.recover`: whitened
    has intervals of nearly dependent columns, too; others as of `SolverEstimator`. After a fit `coef_` (1, d) is the
    direction, of unit length, in the units of the columns; `trace_.link` the link, `trace_.intervals` the 95% intervals
    of the direction for columns of standard deviation 1 in these rows.
    """

    model: str = "flipped-logistic"
    scaling: str = "columns"

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
        X, y = validate_data(self, X, y, ensure_min_samples=2, ensure_min_features=2, **self.checks)
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
        rows = self.rows(X)
        return np.asarray(self.trace_.problem.predict(self.trace_.estimate, rows))

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes (n, 2)."""
        second = expit(self.decision_function(X))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> Array:
        """Return the more likely class of rows (n,)."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])


@dataclass(eq=False, repr=False, kw_only=True)
class FormRegressor(RegressorMixin, SolverEstimator):
    """A form of low rank, fitted to numbers y; `matrix_` is the matrix of the form in the units of the columns."""

    rank_name: ClassVar[str] = "rank"

    rank: int | None = None
    constant: bool = True

    def sides(self, X: Array) -> tuple[Array, ...]:
        """Return the vectors (n, ...) of the form, the two or the one."""
        return (X,)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with numbers y (n,)."""
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, ensure_min_features=2, **self.checks)
        options: dict[str, Any] = {"constant": self.constant, self.rank_name: self.rank}
        self.matrix_: LowRank = self.run(np.asarray(y, dtype=np.float64), *self.sides(X), **options)
        self.rank_ = len(self.matrix_.s)
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers (n,) of rows."""
        sides = self.sides(self.rows(X))
        return np.asarray(self.trace_.problem.predict(self.trace_.estimate, *sides))


@dataclass(eq=False, repr=False, kw_only=True)
class BilinearRegressor(FormRegressor):
    """y = x^T W z, W of low rank: the first `first` columns of a row are x, the others z (None: a half each).

    rank: of W, chosen on held-out rows if it is None; constant: whether x and z have an entry 1 each, which makes a
    constant and linear terms part of W; others as of `SolverEstimator`.
    """

    measured = "rank-one-sensing"

    first: int | None = None

    def sides(self, X: Array) -> tuple[Array, ...]:
        """Return x (n, first) and z (n, d - first)."""
        d = X.shape[1]
        columns = Parameter(meaning="columns of x", name="first", kind=int, low=1, high=d - 1, default=d // 2)
        first = int(columns.check(d // 2 if self.first is None else self.first))
        return X[:, :first], X[:, first:]


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticNetworkRegressor(FormRegressor):
    """y = x^T L x, L symmetric of low rank: a network of one hidden layer with squares, U of `matrix_` its units.

    rank: number of hidden units, chosen on held-out rows if it is None; constant: whether x has an entry 1, which
    makes a constant and linear terms part of L; others as of `SolverEstimator`.
    """

    measured, rank_name = "polynomial-network", "r"


@dataclass(eq=False, repr=False, kw_only=True)
class LowRankImputer(OneToOneFeatureMixin, TransformerMixin, SolverEstimator):
    """Fills missing entries (nan) of a table with a matrix of low rank.

    The table, whose columns are centered and divided by their standard deviations if `scaling` is columns (none: left
    alone), is fitted by U V^T. A row gets the u that is most probable under the spread of the u and the residuals of
    the fit, from the entries that it has; so do new rows. rank: chosen on held-out entries if it is None; others as of
    `SolverEstimator`. A column without any number stays nan, and `note_` names it.
    """

    measured = "inductive-completion"
    checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}

    rank: int | None = None
    scaling: str = "columns"

    def __sklearn_tags__(self) -> Any:
        """Say that entries may be nan."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table X (n, d) with nan for missing entries."""
        X = validate_data(self, X, ensure_min_samples=2, ensure_min_features=2, **self.checks)
        if self.scaling not in ("columns", "none"):
            raise InputError("scaling", "one of columns, none", self.scaling, "take columns")
        known, scaled = ~np.isnan(X), self.scaling == "columns"
        self.empty_ = ~known.any(axis=0)
        places = ", ".join(str(place + 1) for place in np.flatnonzero(self.empty_))
        self.note_ = f"Columns {places} have no number: they stay nan." if places else ""
        # The scaler would warn of a column without numbers.
        self.scaler_ = StandardScaler(with_mean=scaled, with_std=scaled).fit(np.where(self.empty_, 0.0, X))
        table = self.scaler_.transform(X)
        self.components_, self.ridge_ = np.zeros((X.shape[1], 0)), np.zeros((0, 0))
        self.n_iter_ = 1
        if np.count_nonzero(table[known]) < 2:
            return self
        W = self.run(table, rank=self.rank)
        left, self.components_ = W.U * W.s, W.V
        off = float(np.mean((left @ W.V.T - table)[known] ** 2))
        self.ridge_ = off * np.linalg.pinv(left.T @ left / len(left))
        return self

    def transform(self, X: Any) -> Array:
        """Return the table (n, d) with its missing entries filled; known numbers do not change."""
        X = self.rows(X)
        known = ~np.isnan(X)
        table = np.where(known, self.scaler_.transform(X), 0.0)
        filled = self.scaler_.inverse_transform(self.factors(table, known) @ self.components_.T)
        return np.asarray(np.where(known, X, np.where(self.empty_, np.nan, filled)))

    def factors(self, table: Array, known: Mask) -> Array:
        """Return the u (n, rank) of rows whose known entries are those of a table."""
        V = self.components_
        grams = np.einsum("ij,jk,jl->ikl", known.astype(float), V, V, optimize=True) + self.ridge_
        return np.asarray((np.linalg.pinv(grams, hermitian=True) @ (table @ V)[:, :, None])[:, :, 0])


@dataclass(eq=False, repr=False, kw_only=True)
class LabelEstimator(ClassifierMixin, SolverEstimator):
    """A multi-label solver with intercepts and scaled features.

    Labels are a table (n, L) of 0 and 1, dense or sparse, nan if one is unknown; or one class per row (n,), of which
    each has a column then, and the one of the highest score is predicted.

    solver: empty takes the better one of leml and binary-relevance on held-out rows, and for classes
    binary-relevance. rank: 0 takes half of the largest possible one, at most 100. regularization: the solver's own
    default if it is None. iterations: the same as max_iter. tune_by: a metric by which settings that are not given are
    chosen on held-out rows. Others as of `SolverEstimator`. For probabilities wrap it in scikit-learn's
    CalibratedClassifierCV.
    """

    measured = "multilabel"
    checks = {"accept_sparse": "csr", "dtype": np.float64}

    rank: int = 0
    regularization: float | None = None
    iterations: int | None = None
    intercept: bool = True
    feature_scaling: str = "auto"
    tune_by: str = ""

    def __sklearn_tags__(self) -> Any:
        """Say that features may be sparse, and that rows may have several labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with labels y (n, L), or classes y (n,)."""
        names = getattr(y, "columns", None)
        labels = {"accept_sparse": "csr", "dtype": None, "ensure_2d": False, "ensure_all_finite": "allow-nan"}
        X, y = validate_data(self, X, y, validate_separately=(self.checks, labels))
        if X.shape[0] != y.shape[0]:
            raise InputError("y", f"of as many rows as X, {X.shape[0]}", y.shape[0], "give each row its labels")
        self.single_ = y.ndim == 1 or y.shape[1] == 1
        rank, solver, most = self.rank or None, None, self.iterations
        if self.single_:
            y = column_or_1d(y.toarray() if issparse(y) else y, warn=True)
            assert_all_finite(y)
            check_classification_targets(y)
            self.classes_, places = np.unique(y, return_inverse=True)
            data = Dataset(X, csr_array(np.eye(len(self.classes_))[places]))
            # Few indicators, one per row, have all ranks but one.
            rank = rank or min(X.shape[1], len(self.classes_))
            solver = self.solver or (None if self.tune_by else "binary-relevance")
            most = most or (None if self.max_iter else 20)
        else:
            self.classes_, data = np.arange(y.shape[1]) if names is None else np.array(names), dataset_of(X, y)
        options: dict[str, object] = {"rank": rank, "regularization": self.regularization, "intercept": self.intercept}
        options |= {"scaling": self.feature_scaling, "tune_by": self.tune_by or None, "solver": solver}
        self.run(data, **options, **({"max_iter": most} if most else {}))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return scores of rows, above 0 if predicted: of labels (n, L), less the threshold, or of classes.

        The score of two classes is the lead (n,) of the second; more have a score each (n, classes).
        """
        rows = self.rows(X)
        found: Any = self.trace_.estimate
        scores: Array = found.scores(rows)
        if not self.single_:
            return scores - found.threshold
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the labels of rows (n, L), 0 or 1, or their classes (n,)."""
        scores = self.decision_function(X)
        if not self.single_:
            return (scores > 0).astype(int)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])
