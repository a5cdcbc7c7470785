"""Multi-label solvers as an estimator of scikit-learn: for pipelines, grid searches and cross-validation."""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lrlab.arrays import Array
from lrlab.data.dataset import Dataset
from lrlab.data.estimators import OwnEstimator, Settings
from lrlab.data.label_task import dataset_of
from lrlab.parameters import InputError

CHECK_X = {"accept_sparse": "csr", "dtype": np.float64}
CHECK_Y = {"accept_sparse": "csr", "dtype": None, "ensure_2d": False, "ensure_all_finite": "allow-nan"}
CLASSES = {"solver": "binary-relevance", "max_iter": 20}
"""What a fit to classes takes if nothing is said: few indicators, one per row, have all ranks but one."""


class LabelEstimator(ClassifierMixin, OwnEstimator):
    """A multi-label solver with intercepts and scaled features.

    Labels are a table (n, L) of 0 and 1, dense or sparse, nan if one is unknown; or one class per row (n,), of which
    each has a column then, and the one of the highest score is predicted.

    solver: empty takes the better one of leml-squared and binary-relevance on held-out rows, and for classes
    binary-relevance. rank: 0 takes half of the largest possible one, at most 100. regularization: the solver's own
    default if it is None. tune_by: a metric by which settings that are not given are chosen on held-out rows. Others as
    of `OwnEstimator`. For probabilities wrap it in scikit-learn's CalibratedClassifierCV.
    """

    measured = "multilabel"

    def __init__(
        self,
        solver: str = "",
        *,
        rank: int = 0,
        regularization: float | None = None,
        iterations: int | None = None,
        intercept: bool = True,
        feature_scaling: str = "auto",
        tune_by: str = "",
        seed: int = 0,
        max_seconds: float = 3600.0,
        settings: Settings = None,
    ) -> None:
        """Store the settings, which `fit` checks."""
        self.solver, self.rank, self.regularization, self.iterations = solver, rank, regularization, iterations
        self.intercept, self.feature_scaling, self.tune_by = intercept, feature_scaling, tune_by
        self.seed, self.max_seconds, self.settings = seed, max_seconds, settings

    def __sklearn_tags__(self) -> Any:
        """Say that features may be sparse, and that rows may have several labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d) with labels y (n, L), or classes y (n,)."""
        names = getattr(y, "columns", None)
        X, y = validate_data(self, X, y, validate_separately=(CHECK_X, CHECK_Y))
        if X.shape[0] != y.shape[0]:
            raise InputError("y", f"of as many rows as X, {X.shape[0]}", y.shape[0], "give each row its labels")
        options: dict[str, object] = {"intercept": self.intercept, "scaling": self.feature_scaling}
        options |= {"rank": self.rank} if self.rank else {}
        options |= {} if self.regularization is None else {"regularization": self.regularization}
        options |= {} if self.iterations is None else {"max_iter": self.iterations}
        self.single_ = y.ndim == 1 or y.shape[1] == 1
        if self.single_:
            y = column_or_1d(y.toarray() if issparse(y) else y, warn=True)
            assert_all_finite(y)
            check_classification_targets(y)
            self.classes_, places = np.unique(y, return_inverse=True)
            data = Dataset(X, csr_array(np.eye(len(self.classes_))[places]))
            options = {"rank": min(X.shape[1], len(self.classes_)), **options}
            if not (self.solver or self.tune_by):
                options = {**CLASSES, **options}
            elif self.iterations is None:
                options = {"max_iter": CLASSES["max_iter"], **options}
        else:
            self.classes_, data = np.arange(y.shape[1]) if names is None else np.array(names), dataset_of(X, y)
        self.run(data, **options, **({"tune_by": self.tune_by} if self.tune_by else {}))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return scores of rows, above 0 if predicted: of labels (n, L), less the threshold, or of classes.

        Of two classes it is the lead (n,) of the second, of more their scores (n, classes).
        """
        check_is_fitted(self, "trace_")
        X = validate_data(self, X, reset=False, **CHECK_X)
        found: Any = self.trace_.estimate
        scores: Array = found.scores(X)
        if not self.single_:
            return scores - found.threshold
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the labels of rows (n, L), 0 or 1, or their classes (n,)."""
        scores = self.decision_function(X)
        if not self.single_:
            return (scores > 0).astype(int)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])
