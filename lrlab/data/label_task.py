"""Your rows with labels as the source of a problem: held-out rows score the predictors of all multi-label solvers."""

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
"""Scores of held-out rows beyond which the AUC of labels is left out: sorting takes longer than an iteration."""
NAMES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
MACRO = {
    "macro_auc": Measure("AUC of a label", "mean area under the ROC curve over labels, on held-out rows", rising=True)
}


def label_arrays(y: Any, X: Any, Z: Any = None) -> dict[str, Vector]:
    """Return the arrays of rows: a Dataset, or two of them (to learn from, to test on), or labels y and features X."""
    rows, test = y if isinstance(y, tuple) else (y, None)
    if not isinstance(rows, Dataset):
        rows = dataset_of(X, y)
    if rows.n < 2:
        # The words that scikit-learn's own checks look for.
        raise InputError("rows", "at least 2, for some are held out", f"{rows.n} sample", "give more rows")
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
    """Return the rank if none is given: half of the largest possible one, and at most 100."""
    return min(max(1, most // 2), 100)


class LabelPredictor(NamedTuple):
    """A predictor of labels of rows (n, d) as they are given: the estimate of a solver, and the scaling of features."""

    estimate: Predictor
    scaling: Scaling

    @property
    def threshold(self) -> float:
        """The score above which a label is predicted."""
        return self.estimate.threshold

    def scores(self, X: Matrix) -> Array:
        """Return the scores (n, L) of rows X (n, d)."""
        return ranking.rows_of(self.estimate.scores(self.scaling.applied(X)), slice(None))


class LabelProblem(MultilabelProblem):
    """Rows of which some are held out; unknown labels of these do not count.

    mask_test (n_test, L): the pattern of held-out labels that are known, or None if all are. intercept: whether
    predictors have an intercept for each label. scaling: that of X and X_test.
    """

    mask_test: csr_array | None = None
    scaling = Scaling()

    @classmethod
    def between(
        cls, given: Dataset, fresh: Dataset, rank: int, *, intercept: bool = True, scaling: str = "auto"
    ) -> "LabelProblem":
        """Return the problem of learning from some rows the labels of others."""
        units = Scaling.of(given.X, scaling)
        X, X_test = (units.applied(data.X) for data in (given, fresh))
        problem = cls.of(X, given.Y, given.observed, X_test, fresh.Y, rank)
        problem.mask_test, problem.intercept, problem.scaling = fresh.observed, intercept, units
        return problem

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return scores of held-out rows, `macro_auc` among them; of training rows if none are held out."""
        held_out = self.Y_test.shape[0] > 0
        X, Y, mask = (self.X_test, self.Y_test, self.mask_test) if held_out else (self.X, self.Y, self.mask)
        scores = measured(estimate, X, Y, mask)
        if Y.shape[0] * Y.shape[1] <= MOST_AREAS:
            scores["macro_auc"] = ranking.label_auc(estimate.scores(X), Y, mask).value
        return scores

    def compared(self, estimate: LabelPredictor) -> Comparison:
        """Return the AUC of held-out rows beside 1/2, with a bound on its sampling error: rows are independent."""
        scores = ranking.instance_auc(estimate.estimate.scores(self.X_test), self.Y_test, self.mask_test)
        # Two rows of either kind more, so that a perfect score of few rows is not certain.
        mean = (scores.value * scores.count + 2.0) / (scores.count + 4.0) if scores.count else np.nan
        error = np.sqrt(mean * (1.0 - mean) / (scores.count + 4.0))
        return Comparison("AUC of a row", scores.value, 1.96 * float(error), self.baseline()["auc"], rising=True)

    def recovered(self, estimate: Predictor) -> LabelPredictor:
        """Return the predictor of rows in the units of the given features."""
        return LabelPredictor(estimate, self.scaling)

    def baseline(self) -> dict[str, float]:
        """Return the scores of label prevalences, the same for all rows."""
        d, L = self.X.shape[1], self.Y.shape[1]
        prevalences: Any = Affine.at(lowrank.zero((d, L), 1), label_shares(self.Y, self.mask))
        return self.score(prevalences)


@dataclass(frozen=True, kw_only=True)
class LabelsSpec(DataSpec):
    """Rows with features and labels, of which some are held out."""

    free: ClassVar[tuple[str, ...]] = ("rank",)
    sizes: ClassVar[tuple[str, ...]] = ("n", "d", "labels", "observed")
    data_metrics = {name: FAMILY.measures[name] for name in NAMES} | MACRO
    watched = False

    n: Annotated[int, Parameter(meaning="number of rows", low=1, high=1e9)] = 2
    d: Annotated[int, Parameter(meaning="number of features", low=1, high=1e9)] = 1
    labels: Annotated[int, Parameter(meaning="number of labels", symbol="L", low=1, high=1e9)] = 1
    per_row: Annotated[int, Parameter(meaning="labels of a row, about", low=0, high=1e9, hidden=True)] = 0
    spread: Annotated[str, Parameter(meaning="effect of features of unlike size", hidden=True)] = ""
    chosen: Annotated[str, Parameter(meaning="choice by held-out rows", hidden=True)] = ""
    intercept: Annotated[bool, Parameter(meaning="whether each label has an intercept, which is not penalized")] = True
    scaling: Annotated[str, Parameter(meaning=MEANING, choices=SCALINGS)] = "auto"

    def check(self) -> None:
        """Refuse ranks that no such table has."""
        least = min(self.d, self.labels)
        if int(self.values()["rank"]) > least:
            expected = f"in 1..min(features, labels) = {least}"
            raise InputError("rank", expected, self.values()["rank"], "lower the rank")

    @property
    def data_bytes(self) -> int:
        """Memory of the rows as they are given, scaled, and as the problem holds them, and a block of scores."""
        return 3 * self.given_bytes + 2**26

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Say what held-out rows have chosen, and what features of unlike size cost."""
        return " ".join(filter(None, [self.chosen, self.spread]))

    def ending(self, stop: Stop | None) -> str:
        """Return what a limit of iterations means: accuracy on new rows is often best after a few."""
        if stop is not Stop.MAX_ITER:
            return super().ending(stop)
        return "Ended after the chosen number of iterations." if self.chosen else "Stopped at the iteration limit."

    def tables(self) -> tuple[Dataset, Dataset]:
        """Return the rows to learn from and those that are held out."""
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
    """Return the rows with a random fraction of their known labels, without replacement."""
    if fraction == 1:
        return data
    if not 0 < fraction < 1:
        raise InputError("observed", "a fraction above 0, at most 1", fraction, "give observed such a value, as 0.2")
    drawn = drawn_pattern(np.random.default_rng(seed), data.Y.shape, fraction)
    known = drawn if data.observed is None else csr_array(drawn.multiply(data.observed))
    return replace(data, Y=only_observed(data.Y, known), observed=known)
