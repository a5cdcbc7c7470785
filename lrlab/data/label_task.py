"""Your samples with labels as a problem: held-out samples evaluate the predictors of all multi-label solvers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab.arrays import Array, Mask, Vector
from lrlab.data.dataset import MEANING, SCALINGS, Dataset, dataset_of, in_units, units_of
from lrlab.data.label_models import LabelModel
from lrlab.data.spec import Arrays, Comparison, DataProblem, DataSpec
from lrlab.model_entry import Measure
from lrlab.models import ranking
from lrlab.models.multilabel import FAMILY, Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem, Predictor, label_shares, measured
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, Stop, proceed

MOST_AREAS = 10**7
"""Most scores of held-out samples for the AUC of labels: beyond that, sorting takes longer than an iteration."""
NAMES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
MACRO = {
    "macro_auc": Measure(
        "AUC of a label", "mean area under the ROC curve over labels, on held-out samples", rising=True
    )
}


def default_rank(rows: Dataset) -> int:
    """Return the default rank: half of the largest possible one, at most 100."""
    return min(max(1, min(rows.d, rows.L) // 2), 100)


class LabelProblem(DataProblem, MultilabelProblem):
    """Training samples and held-out samples, whose unknown labels do not count.

    mask_test (n_test, L): the pattern of known held-out labels, None if all are known. intercept: whether predictors
    have an intercept per label. units (d,): divisors of X and X_test, (0,) for none. columns: the columns of the rows.
    """

    mask_test: csr_array | None = None
    units: Array
    columns: Dataset

    @classmethod
    def between(
        cls, given: Dataset, fresh: Dataset, rank: int, *, intercept: bool = True, scaling: str = "auto"
    ) -> "LabelProblem":
        """Return the problem of given rows to learn from and fresh rows to predict."""
        units = units_of(given.X, scaling)
        X, X_test = (in_units(data.X, units) for data in (given, fresh))
        problem = cls.of(X, given.Y, given.observed, X_test, fresh.Y, rank)
        problem.mask_test, problem.intercept, problem.units = fresh.observed, intercept, units
        problem.columns = given.rows(slice(0, 0))
        return problem

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return metrics on held-out samples including `macro_auc`, or on training samples without them."""
        held_out = self.Y_test.shape[0] > 0
        X, Y, mask = (self.X_test, self.Y_test, self.mask_test) if held_out else (self.X, self.Y, self.mask)
        scores = measured(estimate, X, Y, mask)
        if Y.shape[0] * Y.shape[1] <= MOST_AREAS:
            scores["macro_auc"] = ranking.label_auc(estimate.scores(X), Y, mask)
        return scores

    def compared(self, estimate: LabelModel) -> Comparison:
        """Return the AUC within held-out samples, a bound on its sampling error, and the label-prevalence baseline."""
        prevalences = np.broadcast_to(label_shares(self.Y, self.mask), self.Y_test.shape)
        ours, base = (
            ranking.row_measures(scores, self.Y_test, 0.0, self.mask_test)
            for scores in (estimate.estimate.scores(self.X_test), prevalences)
        )
        auc, rows = ours["auc"], int(ours["auc_rows"])
        # Two more rows of either kind keep a perfect score of few rows uncertain.
        mean = (auc * rows + 2.0) / (rows + 4.0) if rows else np.nan
        error = np.sqrt(mean * (1.0 - mean) / (rows + 4.0))
        return Comparison("AUC of a sample", auc, 1.96 * float(error), base["auc"], rising=True)

    def recovered(self, estimate: Predictor) -> LabelModel:
        """Return the predictor of rows in your units."""
        return LabelModel(estimate, self.units, self.columns)

    def parts(self, trace: Any) -> Mapping[str, Vector]:
        """Return the prevalence of each label in the training samples, the most frequent first."""
        return {"label prevalence": np.sort(np.asarray(self.Y.mean(axis=0)).ravel())[::-1][None]}

    def table(self, trace: Any, names: Sequence[str], rows: Sequence[str]) -> pd.DataFrame:
        """Return the positive training samples of each label, and its AUC on held-out samples."""
        areas = ranking.label_areas(trace.estimate.estimate.scores(self.X_test), self.Y_test, self.mask_test)
        on = np.asarray(self.Y.sum(axis=0)).ravel().astype(int)
        return pd.DataFrame(
            {"label": self.columns.names, "positive training samples": on, "AUC on held-out samples": areas}
        )


@dataclass(frozen=True, kw_only=True)
class LabelsSpec(DataSpec):
    """Rows with features and labels, some held out."""

    models = (Multilabel,)
    free: ClassVar[tuple[str, ...]] = ("rank",)
    sizes: ClassVar[tuple[str, ...]] = ("n", "d", "labels", "observed")
    data_metrics = {name: FAMILY.measures[name] for name in NAMES} | MACRO
    watched, usual = False, "leml"

    n: Annotated[int, Parameter(meaning="number of samples", low=1, high=1e9)] = 2
    d: Annotated[int, Parameter(meaning="number of features", low=1, high=1e9)] = 1
    labels: Annotated[int, Parameter(meaning="number of labels", symbol="L", low=1, high=1e9)] = 1
    chosen: Annotated[str, Parameter(meaning="choice of held-out samples", hidden=True)] = ""
    intercept: Annotated[bool, Parameter(meaning="unpenalized intercept per label")] = True
    scaling: Annotated[str, Parameter(meaning=MEANING, choices=SCALINGS)] = "auto"

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return the arrays of labels y and features X, or of a Dataset y, or of two (training and test samples)."""
        rows, test = y if isinstance(y, tuple) else (y, None)
        if not isinstance(rows, Dataset):
            rows = dataset_of(X, y)
        if rows.n < 2:
            # The words that scikit-learn's own checks look for.
            raise InputError("rows", "at least 2, to hold some out", f"{rows.n} sample", "give more rows")
        count = rows.n + (test.n if test else 0)
        given_test = {"test": test, "out": np.arange(count) >= rows.n} if test else {}
        return {"y": np.zeros(count), "rows": rows, **given_test}

    @property
    def data_bytes(self) -> int:
        """Memory of the given rows, the scaled rows, the problem's copy, and a block of scores."""
        return 3 * self.packed.nbytes + 2**26

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return the choice of held-out samples."""
        return self.chosen

    def ending(self, stop: Stop | None) -> str:
        """Return the ending; metrics on new samples are often best after a few iterations."""
        if stop is not Stop.MAX_ITER:
            return super().ending(stop)
        return "Ended after the chosen number of iterations." if self.chosen else "Stopped at the iteration limit."

    def tables(self) -> tuple[Dataset, Dataset]:
        """Return training samples and held-out samples."""
        rows, test = self.arrays["rows"], self.arrays.get("test")
        return (rows, test) if test else (rows.rows(np.flatnonzero(~self.held)), rows.rows(np.flatnonzero(self.held)))

    def build(self, checkpoint: Checkpoint = proceed) -> LabelProblem:  # noqa: D102
        rank = int(self.values()["rank"])
        return LabelProblem.between(*self.tables(), rank, intercept=self.intercept, scaling=self.scaling)

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        rows = arrays["rows"]
        given = ~arrays["out"] if "out" in arrays else given
        known = 1.0 if rows.observed is None else max(1e-4, rows.observed.sum() / (rows.n * rows.L))
        sizes = {"n": int(given.sum()), "d": rows.d, "labels": rows.L, "observed": min(1.0, known)}
        # Your rows have any number of labels.
        return {**sizes, "per_row": 0, "rank": default_rank(rows)}
