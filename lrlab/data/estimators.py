"""Solvers on your data as scikit-learn estimators, for pipelines, grid searches and cross-validation."""

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

from lrlab.arrays import Array
from lrlab.data.dataset import dataset_of
from lrlab.data.recover import recover
from lrlab.lowrank import LowRank
from lrlab.parameters import Parameter, Value, require_known
from lrlab.runs.trace import Trace


@dataclass(eq=False, repr=False)
class SolverEstimator(BaseEstimator):
    """One run of a solver on all rows: `trace_` is the trace of `lrlab.recover`, `n_iter_` its number of iterations.

    solver: a solver of the model, empty for the default one. seed, max_iter, max_seconds: settings of the run.
    settings: other options. Raises InputError in one sentence for unusable parameters or data.
    """

    measured: ClassVar[str] = ""
    checks: ClassVar[dict[str, Any]] = {"dtype": np.float64}
    trace_: ClassVar[Trace]

    solver: str = ""
    _: KW_ONLY
    seed: int = 0
    max_iter: int | None = None
    max_seconds: float = 3600.0
    settings: Mapping[str, Value] | None = None

    def __sklearn_tags__(self) -> Any:
        """Return tags for what `checks` allow: nan in features, and sparse features."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "ensure_all_finite" in self.checks
        tags.input_tags.sparse = "accept_sparse" in self.checks
        return tags

    def checked(self, X: Any, *y: Any, **checks: Any) -> Any:
        """Check rows X (n, d) and y for a fit, and return them; all of them have at least two rows and columns."""
        least = {"ensure_min_samples": 2, "ensure_min_features": 2}
        return validate_data(self, X, *y, **least, **self.checks, **checks)

    def rows(self, X: Any) -> Any:
        """Check new samples for a fitted estimator, and return them."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self.checks)

    def run(self, y: Any, X: Any = None, Z: Any = None, **options: object) -> Any:
        """Run the solver, and return its estimate."""
        usual = {"model": self.measured, "seed": self.seed, "max_seconds": self.max_seconds, "max_iter": self.max_iter}
        # None leaves the solver, the rank and other options at their defaults.
        said = {name: value for name, value in {**usual, **options}.items() if value is not None}
        given: dict[str, Any] = {"held_out": 0.0, "solver": self.solver, **said, **(self.settings or {})}
        trace = recover(y, X, Z, **given)
        if trace.estimate is None:
            raise RuntimeError(trace.ending)
        self.trace_, self.n_iter_ = trace, len(trace.rows)  # type: ignore[misc]
        return trace.estimate


@dataclass(eq=False, repr=False, kw_only=True)
class SingleIndexClassifier(ClassifierMixin, SolverEstimator):
    """One-bit responses y to rows x: P(y = classes_[1] | x) = f(<x, b>), b and f both unknown.

    model: the model of the responses, which decides the available solvers. scaling: columns, whitened or none; only
    whitened gives intervals for nearly dependent columns. Other parameters: see `SolverEstimator`. After a fit, `coef_`
    (1, d) is the direction of unit length in your units, `trace_.link` the link, and `trace_.intervals` has 95%
    intervals of the direction for columns of standard deviation 1 in these rows.
    """

    model: str = "flipped-logistic"
    scaling: str = "columns"

    def __sklearn_tags__(self) -> Any:
        """Return tags for two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with responses y (n,) of two values."""
        X, y = self.checked(X, y)
        check_classification_targets(y)
        if (kind := type_of_target(y)) != "binary":
            # scikit-learn's checks look for these words.
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, places = np.unique(y, return_inverse=True)
        self.coef_ = self.run(2.0 * places - 1.0, X, model=self.model, scaling=self.scaling)[None]
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds (n,) of the second class."""
        rows = self.rows(X)
        return np.asarray(self.trace_.problem.predict(self.coef_[0], rows))

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
    """A low-rank form, fitted to numbers y; `matrix_` is its matrix in your units."""

    rank: int | None = None
    constant: bool = True

    def sides(self, X: Array) -> tuple[Array, ...]:
        """Return the vectors (n, ...) of the form, one or two."""
        return (X,)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with numbers y (n,)."""
        X, y = self.checked(X, y, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self.matrix_: LowRank = self.run(y, *self.sides(X), constant=self.constant, rank=self.rank)
        self.rank_ = len(self.matrix_.s)
        return self

    def predict(self, X: Any) -> Array:
        """Return the numbers (n,) of rows."""
        sides = self.sides(self.rows(X))
        return np.asarray(self.trace_.problem.predict(self.matrix_, *sides))


@dataclass(eq=False, repr=False, kw_only=True)
class BilinearRegressor(FormRegressor):
    """y = x^T W z with W of low rank: the first `first` columns of a row are x, the others z (None: half and half).

    rank: the rank of W, None to choose it on held-out samples. constant: add an entry 1 to x and z, which makes
    a constant and linear terms part of W. Other parameters: see `SolverEstimator`.
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
    """y = x^T L x with L symmetric and of low rank: a network with one hidden layer of squares.

    rank: number of hidden units, None to choose it on held-out samples. constant: add an entry 1 to x, which makes a
    constant and linear terms part of L. Other parameters: see `SolverEstimator`. U of `matrix_` has the units.
    """

    measured = "polynomial-network"


@dataclass(eq=False, repr=False, kw_only=True)
class LowRankImputer(OneToOneFeatureMixin, TransformerMixin, SolverEstimator):
    """Fills missing entries (nan) of a table by a low-rank matrix.

    The imputer fits U V^T to the table. It then gives each row, also a new one, the most probable u for its known
    entries, under the spread of the u and the residuals of the fit. rank: None to choose it on held-out entries.
    scaling: columns (centered, standard deviation 1) or none. Other parameters: see `SolverEstimator`. A column without
    numbers stays nan, and `note_` names it.
    """

    measured = "inductive-completion"
    checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}

    rank: int | None = None
    scaling: str = "columns"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table X (n, d) with nan for missing entries."""
        X = self.checked(X)
        require_known(self.scaling, ("columns", "none"), what="scaling")
        known, scaled = ~np.isnan(X), self.scaling == "columns"
        self.empty_ = ~known.any(axis=0)
        places = ", ".join(str(place + 1) for place in np.flatnonzero(self.empty_))
        self.note_ = f"Columns {places} have no number: they stay nan." if places else ""
        # The scaler warns about a column without numbers.
        self.scaler_ = StandardScaler(with_mean=scaled, with_std=scaled).fit(np.where(self.empty_, 0.0, X))
        table = self.scaler_.transform(X)
        self.components_, self.ridge_, self.n_iter_ = np.zeros((X.shape[1], 0)), np.zeros((0, 0)), 1
        if np.count_nonzero(table[known]) > 1:
            W = self.run(table, rank=self.rank)
            left, self.components_ = W.U * W.s, W.V
            off = float(np.mean((left @ W.V.T - table)[known] ** 2))
            self.ridge_ = off * np.linalg.pinv(left.T @ left / len(left))
        return self

    def transform(self, X: Any) -> Array:
        """Return the table (n, d) without missing entries; known numbers do not change."""
        X = self.rows(X)
        known, V = ~np.isnan(X), self.components_
        table = np.where(known, self.scaler_.transform(X), 0.0)
        # The u of each row solves ridge regression on the known entries.
        grams = np.einsum("ij,jk,jl->ikl", known.astype(float), V, V, optimize=True) + self.ridge_
        u = (np.linalg.pinv(grams, hermitian=True) @ (table @ V)[:, :, None])[:, :, 0]
        filled = self.scaler_.inverse_transform(u @ V.T)
        return np.asarray(np.where(known, X, np.where(self.empty_, np.nan, filled)))


@dataclass(eq=False, repr=False, kw_only=True)
class LabelEstimator(ClassifierMixin, SolverEstimator):
    """A multi-label solver with intercepts and scaled features.

    Labels are a table (n, L) of 0 and 1, dense or sparse, nan if unknown, or one class per row (n,). Each class then
    becomes a label, and the highest score decides.

    solver: empty for the better one of leml and binary-relevance on held-out samples, or binary-relevance for classes.
    rank: 0 for half of the largest possible one, at most 100. regularization: None for the solver's default.
    iterations: an alias of max_iter. tune_by: a metric that chooses other settings on held-out samples. Other
    parameters: see `SolverEstimator`. For probabilities, wrap the estimator in scikit-learn's CalibratedClassifierCV.
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
        """Return tags for several labels per row."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with labels y (n, L), or classes y (n,)."""
        names = getattr(y, "columns", None)
        labels = {"accept_sparse": "csr", "dtype": None, "ensure_2d": False, "ensure_all_finite": "allow-nan"}
        X, y = validate_data(self, X, y, validate_separately=(self.checks, labels))
        self.single_ = y.ndim == 1 or y.shape[1] == 1
        options: dict[str, Any] = {"rank": self.rank or None, "max_iter": self.iterations or self.max_iter}
        if self.single_:
            y = column_or_1d(y.toarray() if issparse(y) else y, warn=True)
            assert_all_finite(y)
            check_classification_targets(y)
            self.classes_, places = np.unique(y, return_inverse=True)
            data = dataset_of(X, csr_array(np.eye(len(self.classes_))[places]))
            # Indicators of few classes have full rank, or one less.
            options["rank"] = options["rank"] or min(X.shape[1], len(self.classes_))
            options["solver"] = self.solver or (None if self.tune_by else "binary-relevance")
            options["max_iter"] = options["max_iter"] or 20
        else:
            self.classes_, data = np.arange(y.shape[1]) if names is None else np.array(names), dataset_of(X, y)
        options |= {"regularization": self.regularization, "intercept": self.intercept}
        self.run(data, **options, scaling=self.feature_scaling, tune_by=self.tune_by or None)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return scores of labels (n, L), positive for predicted labels, or scores of classes (n, classes).

        For two classes, return the lead (n,) of the second.
        """
        rows = self.rows(X)
        model: Any = self.trace_.estimate
        scores: Array = model.scores(rows)
        if not self.single_:
            return scores - model.threshold
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the labels (n, L) of rows, 0 or 1, or their classes (n,)."""
        scores = self.decision_function(X)
        if not self.single_:
            return (scores > 0).astype(int)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])
