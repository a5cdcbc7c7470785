"""Your rows with labels as a problem: held-out rows score the predictors of all multi-label solvers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array, issparse

from lrlab import lowrank, ranking
from lrlab.arrays import Array, Mask, Matrix, Vector
from lrlab.data.dataset import Dataset, dataset_of, table_arrays, table_of
from lrlab.data.scaling import MEANING, SCALINGS, Scaling, spread_remark
from lrlab.data.spec import Arrays, Comparison, DataSpec
from lrlab.model_entry import Measure
from lrlab.models.label_rows import drawn_pattern
from lrlab.models.multilabel import FAMILY
from lrlab.models.multilabel_problem import MultilabelProblem, Predictor, label_shares, measured, only_observed
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, Stop, proceed
from lrlab.solvers.multilabel.affine import Affine

MOST_AREAS = 10**7
"""Most scores of held-out rows for the AUC of labels: beyond that, sorting takes longer than an iteration."""
NAMES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
MACRO = {
    "macro_auc": Measure("AUC of a label", "mean area under the ROC curve over labels, on held-out rows", rising=True)
}


def label_arrays(y: Any, X: Any, Z: Any = None) -> dict[str, Vector]:
    """Return the arrays of labels y and features X, or of a Dataset y, or of two (training and test rows)."""
    rows, test = y if isinstance(y, tuple) else (y, None)
    if not isinstance(rows, Dataset):
        rows = dataset_of(X, y)
    if rows.n < 2:
        # The words that scikit-learn's own checks look for.
        raise InputError("rows", "at least 2, to hold some out", f"{rows.n} sample", "give more rows")
    parts = [rows, *([test] if test else [])]
    if any(one.observed is not None for one in parts):
        parts = [
            one if one.observed is not None else replace(one, observed=csr_array(np.ones(one.Y.shape, dtype=bool)))
            for one in parts
        ]
    arrays = {"y": np.zeros(sum(one.n for one in parts))}
    for name in ("X", "Y", "observed"):
        tables = [getattr(one, name) for one in parts]
        whole = tables[0]
        if len(tables) > 1 and whole is not None:
            whole = sparse.vstack(tables, format="csr") if issparse(whole) else np.vstack(tables)
        arrays |= table_arrays(name, whole)
    return arrays | ({"out": np.arange(len(arrays["y"])) >= rows.n} if test else {})


def default_rank(most: int) -> int:
    """Return the default rank: half of the largest possible one, at most 100."""
    return min(max(1, most // 2), 100)


class LabelPredictor(NamedTuple):
    """A predictor of labels for your rows (n, d): the estimate of a solver, and the scaling of features."""

    estimate: Predictor
    scaling: Scaling

    @property
    def threshold(self) -> float:
        """The score above which the predictor assigns a label."""
        return self.estimate.threshold

    def scores(self, X: Matrix) -> Array:
        """Return the scores (n, L) of rows X (n, d)."""
        return ranking.rows_of(self.estimate.scores(self.scaling.applied(X)), slice(None))


class LabelProblem(MultilabelProblem):
    """Training rows and held-out rows, whose unknown labels do not count.

    mask_test (n_test, L): the pattern of known held-out labels, None if all are known. intercept: whether predictors
    have an intercept per label. scaling: the scaling of X and X_test.
    """

    mask_test: csr_array | None = None
    scaling = Scaling()

    @classmethod
    def between(
        cls, given: Dataset, fresh: Dataset, rank: int, *, intercept: bool = True, scaling: str = "auto"
    ) -> "LabelProblem":
        """Return the problem of given rows to learn from and fresh rows to predict."""
        units = Scaling.of(given.X, scaling)
        X, X_test = (units.applied(data.X) for data in (given, fresh))
        problem = cls.of(X, given.Y, given.observed, X_test, fresh.Y, rank)
        problem.mask_test, problem.intercept, problem.scaling = fresh.observed, intercept, units
        return problem

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return metrics on held-out rows including `macro_auc`, or on training rows without them."""
        held_out = self.Y_test.shape[0] > 0
        X, Y, mask = (self.X_test, self.Y_test, self.mask_test) if held_out else (self.X, self.Y, self.mask)
        scores = measured(estimate, X, Y, mask)
        if Y.shape[0] * Y.shape[1] <= MOST_AREAS:
            scores["macro_auc"] = ranking.label_auc(estimate.scores(X), Y, mask).value
        return scores

    def compared(self, estimate: LabelPredictor) -> Comparison:
        """Return the AUC within held-out rows, a bound on its sampling error, and the label-prevalence baseline."""
        scores = ranking.instance_auc(estimate.estimate.scores(self.X_test), self.Y_test, self.mask_test)
        # Two more rows of either kind keep a perfect score of few rows uncertain.
        mean = (scores.value * scores.count + 2.0) / (scores.count + 4.0) if scores.count else np.nan
        error = np.sqrt(mean * (1.0 - mean) / (scores.count + 4.0))
        return Comparison("AUC of a row", scores.value, 1.96 * float(error), self.baseline()["auc"], rising=True)

    def recovered(self, estimate: Predictor) -> LabelPredictor:
        """Return the predictor of rows in your units."""
        return LabelPredictor(estimate, self.scaling)

    def baseline(self) -> dict[str, float]:
        """Return the metrics of the label-prevalence baseline, the same for all rows."""
        d, L = self.X.shape[1], self.Y.shape[1]
        prevalences: Any = Affine.at(lowrank.zero((d, L), 1), label_shares(self.Y, self.mask))
        return self.score(prevalences)


@dataclass(frozen=True, kw_only=True)
class LabelsSpec(DataSpec):
    """Rows with features and labels, some held out."""

    free: ClassVar[tuple[str, ...]] = ("rank",)
    sizes: ClassVar[tuple[str, ...]] = ("n", "d", "labels", "observed")
    data_metrics = {name: FAMILY.measures[name] for name in NAMES} | MACRO
    watched = False

    n: Annotated[int, Parameter(meaning="number of rows", low=1, high=1e9)] = 2
    d: Annotated[int, Parameter(meaning="number of features", low=1, high=1e9)] = 1
    labels: Annotated[int, Parameter(meaning="number of labels", symbol="L", low=1, high=1e9)] = 1
    per_row: Annotated[int, Parameter(meaning="labels per row, about", low=0, high=1e9, hidden=True)] = 0
    spread: Annotated[str, Parameter(meaning="effect of features of unlike size", hidden=True)] = ""
    chosen: Annotated[str, Parameter(meaning="choice of held-out rows", hidden=True)] = ""
    intercept: Annotated[bool, Parameter(meaning="unpenalized intercept per label")] = True
    scaling: Annotated[str, Parameter(meaning=MEANING, choices=SCALINGS)] = "auto"

    def check(self) -> None:
        """Raise InputError for a rank above the size of the table."""
        least = min(self.d, self.labels)
        if int(self.values()["rank"]) > least:
            expected = f"in 1..min(features, labels) = {least}"
            raise InputError("rank", expected, self.values()["rank"], "lower the rank")

    @property
    def data_bytes(self) -> int:
        """Memory of the given rows, the scaled rows, the problem's copy, and a block of scores."""
        return 3 * self.given_bytes + 2**26

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return the choice of held-out rows, and a remark on features of unlike size."""
        return " ".join(filter(None, [self.chosen, self.spread]))

    def ending(self, stop: Stop | None) -> str:
        """Return the ending; metrics on new rows are often best after a few iterations."""
        if stop is not Stop.MAX_ITER:
            return super().ending(stop)
        return "Ended after the chosen number of iterations." if self.chosen else "Stopped at the iteration limit."

    def tables(self) -> tuple[Dataset, Dataset]:
        """Return training rows and held-out rows."""
        rows = Dataset(*(table_of(self.arrays, name) for name in ("X", "Y", "observed")))
        return rows.rows(np.flatnonzero(~self.held)), rows.rows(np.flatnonzero(self.held))

    def build(self, checkpoint: Checkpoint = proceed) -> LabelProblem:  # noqa: D102
        rank = int(self.values()["rank"])
        return LabelProblem.between(*self.tables(), rank, intercept=self.intercept, scaling=self.scaling)

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        X, Y, observed = (table_of(arrays, name) for name in ("X", "Y", "observed"))
        given = ~arrays["out"] if "out" in arrays else given
        d, L = X.shape[1], Y.shape[1]
        known = 1.0 if observed is None else max(1e-4, observed.sum() / (Y.shape[0] * L))
        density = min(1.0, max(1e-5, X.nnz / (X.shape[0] * d))) if issparse(X) else 1.0
        return {
            **{"n": int(given.sum()), "d": d, "labels": L, "rank": default_rank(min(d, L))},
            **{"observed": min(1.0, known), "density": density, "per_row": round(Y.nnz / Y.shape[0])},
            "spread": "" if settings["scaling"] in ("deviations", "auto") else spread_remark(X),
        }


def hide(data: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the rows with a random fraction of their known labels."""
    if fraction == 1:
        return data
    if not 0 < fraction < 1:
        raise InputError("observed", "a fraction above 0, at most 1", fraction, "give observed such a value, as 0.2")
    drawn = drawn_pattern(np.random.default_rng(seed), data.Y.shape, fraction)
    known = drawn if data.observed is None else csr_array(drawn.multiply(data.observed))
    return replace(data, Y=only_observed(data.Y, known), observed=known)
