"""Multi-label solvers as an estimator of scikit-learn: for pipelines, grid searches and cross-validation."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d, estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lrlab import ranking
from lrlab.arrays import Array, Matrix
from lrlab.datasets.dataset import Dataset
from lrlab.fits import calibration
from lrlab.fits.own_files import label_names, max_rank
from lrlab.fits.row_fit import Fit, fit_rows
from lrlab.fits.settings import FitSettings, fit_settings
from lrlab.models.multilabel_problem import pattern
from lrlab.parameters import InputError, Value

CLASS_ITERATIONS = 20
"""Default limit of iterations for classes: rows with one label each are few positives."""
CHECK_X = {"accept_sparse": "csr", "dtype": np.float64}
CHECK_Y = {"accept_sparse": "csr", "dtype": None, "ensure_2d": False, "ensure_all_finite": "allow-nan"}


def is_calibrated(estimator: "LabelEstimator") -> bool:
    """Return whether rows held out have said, or will say in a fit, what the probabilities of labels are."""
    result = getattr(estimator, "result_", None)
    return bool(estimator.tune_by if result is None else result.calibration)


class LabelEstimator(ClassifierMixin, BaseEstimator):
    """A multi-label solver with intercepts and scaled features, as scikit-learn has estimators.

    Labels are a table (n, L) of 0 and 1, dense or sparse, nan where one is unknown; or one class per row (n,), of which
    each has a column then, and the one of the highest score is predicted.

    solver, rank, iterations, intercept, tune_by, seed, max_seconds: as for `lrlab.fit`; feature_scaling: its scaling.
    regularization: the solver's own default where it is None. settings: the other options of the solver.

    After a fit it has `result_`, a `row_fit.Fit`, whose attributes are its own, too: `model`, `rows`, `stop`,
    `summary()` and so on; `classes_`, the classes, or the names of the labels or their numbers; `n_features_in_`.
    """

    def __init__(
        self,
        solver: str = "leml-squared",
        *,
        rank: int = 0,
        regularization: float | None = None,
        iterations: int | None = None,
        intercept: bool = True,
        feature_scaling: str = "auto",
        tune_by: str = "",
        seed: int = 0,
        max_seconds: float = 3600.0,
        settings: Mapping[str, Value] | None = None,
    ) -> None:
        """Keep the settings, which `fit` checks."""
        self.solver, self.rank, self.regularization, self.iterations = solver, rank, regularization, iterations
        self.intercept, self.feature_scaling, self.tune_by = intercept, feature_scaling, tune_by
        self.seed, self.max_seconds, self.settings = seed, max_seconds, settings

    def __getattr__(self, name: str) -> Any:
        """Return what the result of the fit has under a name."""
        if name.startswith("_") or name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        check_is_fitted(self, "result_")
        return getattr(self.result_, name)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> dict[str, Any]:
        result: Fit | None = getattr(self, "result_", None)
        if result is None:
            return {"text/plain": repr(self), "text/html": str(estimator_html_repr(self))}
        return result._repr_mimebundle_()

    def __sklearn_tags__(self) -> Any:
        """Say that features may be sparse, and that rows may have several labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def checked(self) -> FitSettings:
        """Return the settings, checked; InputError where one is wrong."""
        options: dict[str, Any] = dict(self.settings or {})
        if self.regularization is not None:
            options["regularization"] = self.regularization
        return fit_settings(
            self.solver,
            options,
            rank=self.rank,
            iterations=self.iterations,
            max_seconds=self.max_seconds,
            metric=self.tune_by,
            scaling=self.feature_scaling,
            intercept=self.intercept,
            seed=self.seed,
        )

    def take(self, result: Fit) -> Self:
        """Become the estimator that has this result."""
        self.result_, self.n_features_in_ = result, result.columns.d
        self.classes_, self.single_ = np.array(label_names(result.columns)), False
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with labels y (n, L), or classes y (n,); InputError where a setting is wrong."""
        settings = self.checked()
        names = getattr(y, "columns", None)
        X, y = validate_data(self, X, y, validate_separately=(CHECK_X, CHECK_Y))
        if X.shape[0] != y.shape[0]:
            raise InputError("y", f"of as many rows as X, {X.shape[0]}", y.shape[0], "give each row its labels")
        if single := y.ndim == 1 or y.shape[1] == 1:
            y = column_or_1d(y.toarray() if issparse(y) else y, warn=True)
            check_classification_targets(y)
            classes, places = np.unique(y, return_inverse=True)
            data = Dataset(X, csr_array(np.eye(len(classes))[places]), label_names=tuple(map(str, classes)))
            settings = self.for_classes(settings, data)
        else:
            classes = np.arange(y.shape[1]) if names is None else np.array(names)
            data = Dataset(X, *label_tables(y), label_names=tuple(map(str, classes)))
        self.take(fit_rows(data, None, settings))
        self.classes_, self.single_ = classes, single
        return self

    def for_classes(self, settings: FitSettings, data: Dataset) -> FitSettings:
        """Return settings of a fit to classes that are not tuned: all that are not given are as large as is useful.

        Few indicators, of which each row has one, have all ranks but one: half of the ranks, some random projections or
        few passes of stochastic gradients do not tell them apart.
        """
        if settings.metric:
            return settings
        options, ending = dict(settings.options), settings.limits
        options |= {"ratio": 1.0} if "ratio" in options and "ratio" not in settings.given else {}
        ending = ending if self.iterations else ending._replace(max_iter=CLASS_ITERATIONS)
        return settings._replace(rank=settings.rank or max_rank(data), options=tuple(options.items()), limits=ending)

    def decision_function(self, X: Any) -> Array:
        """Return scores of rows, above 0 where predicted: of labels (n, L), less the threshold, or of classes.

        Of two classes it is the lead (n,) of the second, of more their scores (n, classes).
        """
        check_is_fitted(self, "result_")
        X = validate_data(self, X, reset=False, **CHECK_X)
        model = self.result_.model
        scores = ranking.rows_of(model.scores(X), slice(None))
        if not self.single_:
            return scores - model.thresholds
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the labels of rows (n, L), 0 or 1, or their classes (n,)."""
        scores = self.decision_function(X)
        if not self.single_:
            return (scores > 0).astype(int)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(is_calibrated)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of labels (n, L), or of classes (n, classes), calibrated on rows held out by tuning.

        Labels are predicted above thresholds for which most are right, which need not be a probability of 1/2.
        """
        check_is_fitted(self, "result_")
        X = validate_data(self, X, reset=False, **CHECK_X)
        model = self.result_.model
        p = calibration.probabilities(model.calibration, ranking.rows_of(model.scores(X), slice(None)))
        return p / p.sum(axis=1, keepdims=True) if self.single_ else p


def label_tables(y: Matrix) -> tuple[csr_array, csr_array | None]:
    """Return the positives of a table of 0 and 1, and the pattern of what is known, None where all is."""
    values = np.asarray(y.data if issparse(y) else y)
    if values.dtype.kind not in "fiub" or not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InputError("y", "a table of 0 and 1, nan where unknown", "other values", "give each label a column")
    if issparse(y) or not (unknown := np.isnan(y)).any():
        return pattern(y), None
    return pattern(np.where(unknown, 0, y)), csr_array(~unknown)
