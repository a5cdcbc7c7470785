"""Your samples with labels as a problem, the choice of solvers and settings on held-out samples, and saved models.

Held-out samples evaluate the predictors of all multi-label solvers. scikit-learn has the folds and samplers.

The file of a model is numpy's .npz without pickles. It has arrays `lrlab_model` (version of the format), `kind` (class
of the estimate), `sizes` (number of features, number of labels, first index of each in files, 1 for sparse features),
`feature_names` and `label_names` if known, `estimate_...` (arrays of the estimate), and `scaling` and `units` of the
features.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

from lrlab import catalog
from lrlab.arrays import Array, Mask, Matrix, Vector
from lrlab.data.arrays import LARGEST, numbers
from lrlab.data.dataset import MEANING, SCALINGS, Dataset, dataset_of, in_units, units_of
from lrlab.data.files import COLUMN_BYTES, LIMIT_BYTES, LISTS, Source, names_of, read_arrays
from lrlab.data.spec import Arrays, Comparison, DataProblem, DataSpec
from lrlab.lowrank import LowRank, rows_of
from lrlab.model_entry import Measure
from lrlab.models import ranking
from lrlab.models.multilabel import FAMILY, GAINS, PLACES, Multilabel, MultilabelProblem, Predictor, measured
from lrlab.parameters import InputError, Parameter, Value, counted, require_known
from lrlab.protocol import Checkpoint, Limits, Stop, proceed
from lrlab.runs.job import Job, make_job
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.labels import Signed
from lrlab.solvers.multilabel.predictors import Affine, KernelRank

MOST_AREAS = 10**7
"""Most scores of held-out samples for the AUC of labels: beyond that, sorting takes longer than an iteration."""
NAMES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
MACRO = Measure("AUC of a label", "mean area under the ROC curve over labels, on held-out samples", rising=True)
FIRST = ("leml", "binary-relevance")
"""Solvers that compete if you name none."""
Settings = dict[str, Value]
DEFAULTS: tuple[tuple[str, Settings, int], ...] = (
    ("binary-relevance", {"loss": "logistic"}, 1),
    ("leml", {"regularization": 30.0}, 3),
)
"""Settings that compete if you name no solver, with the most iterations of each. The first wins a tie."""
MARGIN = 0.005
"""Lead on held-out rows that the second of DEFAULTS needs: few rows compare badly."""
MOST_LOGISTIC = 10**8
"""Most stored features times labels for logistic regressions, which take minutes beyond that."""
SETTINGS, ITERATIONS = 20, 10
"""Number of settings that lrlab tries by a metric, and the most iterations of each."""
RANGES = {"regularization": (1e-3, 1e4), "rate": (1e-2, 1.0), "margin": (0.1, 3.0)}
"""Ranges of settings. Yu et al. (2014), section 5, tuned WSABIE by hand."""
METRIC = "macro_auc"
METRICS = (*(f"precision@{k}" for k in PLACES), *(f"ndcg@{k}" for k in GAINS), "auc", METRIC, "hamming")
"""Metrics that can choose settings."""
VERSION = 2
KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (LowRank, Signed, Affine, KernelRank, Compressed)}
"""Classes of estimates that a file can name; lrlab constructs no other class from a file."""
ESTIMATE = "estimate_"
PARTS = ("lrlab_model", "kind", "sizes", "scaling", "units", *LISTS)


@dataclass(frozen=True, eq=False)
class LabelModel:
    """A predictor of labels for your rows (n, d): the estimate of a solver, and the units of features before it.

    columns: the columns of its training samples, a Dataset without rows.
    """

    estimate: Predictor = field(repr=False)
    units: Array = field(repr=False)
    columns: Dataset = field(repr=False)

    @property
    def threshold(self) -> float:
        """The score above which the model assigns a label."""
        return self.estimate.threshold

    def scores(self, X: Matrix) -> Array:
        """Return the scores (n, L) of unscaled rows X (n, d)."""
        return rows_of(self.estimate.scores(in_units(X, self.units)), slice(None))

    def predict(self, X: Matrix, k: int) -> pd.DataFrame:
        """Return the k best labels of each row: `row`, `place` (both from 1), `label`, `score`, `predicted`."""
        scores = self.scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rows, places = (index.ravel() + 1 for index in np.indices(order.shape))
        best = np.take_along_axis(scores, order, axis=1).ravel()
        labels, predicted = np.array(self.columns.names)[order].ravel(), best > self.threshold
        return pd.DataFrame({"row": rows, "place": places, "label": labels, "score": best, "predicted": predicted})

    def arrays(self) -> dict[str, Vector]:
        """Return the arrays of a file; InputError if a file cannot hold this estimate."""
        columns, kind = self.columns, type(self.estimate).__name__
        if kind not in KINDS:
            raise InputError("estimate", f"one of {', '.join(KINDS)} to be saved", kind, "take another solver")
        return {
            **{"lrlab_model": np.array(VERSION), "kind": np.array(kind)},
            **{"scaling": np.array("deviations" if self.units.size else "none"), "units": self.units},
            "sizes": np.array([columns.d, columns.L, *columns.counts_from, issparse(columns.X)]),
            **{name: np.array(words) for name in LISTS if (words := getattr(columns, name)) is not None},
            **{ESTIMATE + name: part for name, part in self.estimate.arrays().items()},
        }


def save_model(path: str | PathLike[str] | IO[bytes], model: LabelModel) -> None:
    """Write a model so that `load_model` returns the same one."""
    np.savez_compressed(path, allow_pickle=False, **model.arrays())


def load_model(path: str | PathLike[str]) -> LabelModel:
    """Read a model; one InputError for a foreign, newer or damaged file, or one beyond the limit of memory."""
    source = Source(Path(path), "model .npz")
    arrays = read_arrays(source, lambda name: name in PARTS or name.startswith(ESTIMATE))
    with source.whole("a model of this version that `fit --save` has written", "fit and save it again"):
        if (version := str(arrays.get("lrlab_model", "unknown"))) != str(VERSION):
            raise ValueError(f"version {version}")
        if str(arrays.get("scaling")) == "rows":
            raise ValueError("scaling by rows, which lrlab no longer supports")
        if arrays["sizes"].shape != (5,):
            raise ValueError("sizes that no model has")
        d, L, feature, label, is_sparse = map(int, arrays["sizes"])
        if not (0 < d < 2**31 and 0 < L < 2**31) or COLUMN_BYTES * (d + L) > LIMIT_BYTES:
            raise ValueError(f"sizes {d} and {L} beyond the limit of memory")
        parts = {name.removeprefix(ESTIMATE): part for name, part in arrays.items() if name.startswith(ESTIMATE)}
        for name, part in parts.items():
            if part.dtype.kind not in "fiub" or not (np.abs(part.astype(float)) <= LARGEST).all():
                raise ValueError(f"{name}, an estimate of other than numbers below {LARGEST:g}")
        if arrays["units"].shape not in ((0,), (d,)) or not (arrays["units"] > 0).all():
            raise ValueError(f"{arrays['units'].size} units for {d} features")
        row = csr_array((1, d)) if is_sparse else np.zeros((1, d))
        names, label_names = (names_of(arrays, name) for name in LISTS)
        columns = Dataset(row[:0], csr_array((0, L)), None, names, label_names, (feature, label))
        model = LabelModel(KINDS[str(arrays["kind"])].restored(parts), arrays["units"], columns)
        # Scoring an empty row fails unless all parts fit each other.
        scores = model.scores(row)
        if scores.shape != (1, L) or not np.isfinite(scores).all():
            raise ValueError(f"scores of a shape {scores.shape} for {L} labels")
        return model


def default_rank(rows: Dataset) -> int:
    """Return the default rank: half of the largest possible one, at most 100."""
    return min(max(1, min(rows.d, rows.L) // 2), 100)


class LabelProblem(DataProblem, MultilabelProblem):
    """Given samples to learn from, and fresh, held-out samples to predict, whose unknown labels do not count.

    mask_test (n_test, L): the pattern of known held-out labels, None if all are known. intercept: whether predictors
    have an intercept per label. units (d,): divisors of X and X_test, (0,) for none. columns: the columns of the rows.
    """

    def __init__(
        self, given: Dataset, fresh: Dataset, rank: int, intercept: bool = True, scaling: str = "auto"
    ) -> None:
        self.units, self.intercept = units_of(given.X, scaling), intercept
        X, X_test = (in_units(data.X, self.units) for data in (given, fresh))
        super().__init__(X, given.Y, given.observed, X_test, fresh.Y, rank)
        self.mask_test, self.columns = fresh.observed, given.rows(slice(0, 0))

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
        prevalences = np.broadcast_to(ranking.label_shares(self.Y, self.mask), self.Y_test.shape)
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
        columns = {"label": self.columns.names, "positive training samples": on, "AUC on held-out samples": areas}
        return pd.DataFrame(columns)


@dataclass(frozen=True, kw_only=True)
class LabelsSpec(DataSpec):
    """Rows with features and labels, some held out."""

    models = (Multilabel,)
    free: ClassVar[tuple[str, ...]] = ("rank",)
    sizes: ClassVar[tuple[str, ...]] = ("n", "d", "labels", "observed")
    data_metrics = {name: FAMILY.measures[name] for name in NAMES} | {METRIC: MACRO}
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
            rows = dataset_of(X if issparse(X) else numbers("X", X, 2), y)
            if issparse(X) and rows.X.nnz:
                numbers("X", rows.X.data, 1)
        if rows.n < 2:
            # The words that scikit-learn's own checks look for.
            raise InputError("rows", "at least 2, to hold some out", f"{rows.n} sample", "give more rows")
        if rows.observed is not None and not rows.observed.nnz:
            raise InputError("y", "of labels that are known in part", "only unknown ones", "give the known labels")
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
        return LabelProblem(*self.tables(), int(self.values()["rank"]), self.intercept, self.scaling)

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        rows = arrays["rows"]
        known = 1.0 if rows.observed is None else max(1e-4, rows.observed.sum() / (rows.n * rows.L))
        sizes = {"n": int(given.sum()), "d": rows.d, "labels": rows.L, "observed": min(1.0, known)}
        # Your rows have any number of labels.
        return {**sizes, "per_row": 0, "rank": default_rank(rows)}


def metric_of(name: str, estimate: Predictor, X: Matrix, Y: csr_array, known: csr_array | None) -> float:
    """Return a metric of METRICS on rows X, its negative if smaller is better.

    precision@k and ndcg@k rank unknown labels too. If labels are unknown at random, the first k ranks have the same
    known fraction as all positives, and settings compare as if all labels were known.
    """
    if name == METRIC:
        return ranking.label_auc(estimate.scores(X), Y, known)
    value = measured(estimate, X, Y, None if "@" in name else known)[name.replace("@", "_")]
    return -value if name == "hamming" else value


def mean_scores(
    spec: Any, folds: Sequence[tuple[Dataset, Dataset]], metric: str, solver: str, options: Settings, iterations: int
) -> pd.Series:
    """Return the mean score on held-out rows after each iteration of a solver. options: also a `rank`."""
    scores, given = np.full((len(folds), iterations), math.nan), dict(options)
    entry, rank = catalog.solver(solver, Multilabel.model), int(given.pop("rank", 0))
    settled = dict(entry.settle(given).options)
    for line, (rows, held) in zip(scores, folds, strict=True):
        problem = LabelProblem(rows, held, rank or default_rank(rows), spec.intercept, spec.scaling)
        iterates = entry.run(problem, **settled, rng=np.random.default_rng(spec.seed))
        for k, iterate in zip(range(iterations), iterates, strict=False):
            # The last score counts after the solver has ended.
            line[k:] = metric_of(metric, iterate.estimate, problem.X_test, problem.Y_test, problem.mask_test)
    # A fold without labels of both kinds has no AUC, and does not count.
    return pd.DataFrame(scores).mean().fillna(0.0)


def sampled(solver: str, given: Settings, rows: Dataset, seed: int) -> list[Settings]:
    """Return the given options, and copies with random values of other settings, uniform in the logarithm."""
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import ParameterSampler

    known, most = catalog.solver(solver, Multilabel.model).options, min(rows.d, rows.L)
    free: dict[str, Any] = {}
    if "fitted_rank" in known and "rank" not in given and most > 1:
        free["rank"] = randint(max(1, most // 5), most + 1)
    for name, (low, high) in RANGES.items():
        if name in known and name not in given:
            free[name] = loguniform(max(low, known[name].low), min(high, known[name].high))
    sampler = ParameterSampler(free, max(2, min(SETTINGS, rows.n // 5)), random_state=seed) if free else ()
    return [given, *({**given, **one} for one in sampler)]


def label_job(spec: Any, solver: str, settings: dict[str, Any], metric: str, rank: int) -> Job:
    """Return the job on labels; held-out samples choose the solver, or the settings by a metric, that you do not give.

    metric: one of METRICS; without it DEFAULTS compete. rank: the rank that you give, or 0.
    """
    if solver and not metric:
        # Metrics on new samples are often best after 2 to 5 iterations.
        return make_job(spec, solver, **{"max_iter": 5, **settings})
    limits = {name: settings.pop(name) for name in Limits._fields if name in settings}
    rows, most, names = spec.tables()[0], int(limits.get("max_iter", 0)), (solver,) if solver else FIRST
    for name in names:
        # This raises errors in the settings before any run.
        make_job(spec, name, **settings)
    given = {**settings, **({"rank": rank} if rank else {})}
    if metric:
        require_known(metric, METRICS, what="metric")
        tries = [(name, one, most or ITERATIONS) for name in names for one in sampled(name, given, rows, spec.seed)]
    else:
        large = (rows.X.nnz if issparse(rows.X) else rows.X.size) * rows.L > MOST_LOGISTIC
        usual = DEFAULTS[1:] if large else DEFAULTS
        tries = [(name, {**own, **given}, min(limit, most or limit)) for name, own, limit in usual]
    folds = folds_of(rows, spec.seed, 500 if metric else 200)
    results = [mean_scores(spec, folds, metric or METRIC, *one) for one in tries]
    best = int(np.argmax([one.max() for one in results]))
    best = best if metric or results[best].max() > results[0].max() + MARGIN else 0
    (chosen, options, _), iterations = tries[best], int(results[best].argmax()) + 1
    own = "".join(f", {name} {value:.3g}" for name, value in options.items() if isinstance(value, float))
    score = f"{metric or METRIC} {results[best].max():.4g} on held-out samples"
    words = f"{score} chose {chosen}, {counted(iterations, 'iteration')}{own}."
    spec = spec.replace(chosen=words, rank=options.get("rank", spec.values()["rank"]))
    options = {name: value for name, value in options.items() if name != "rank"}
    return make_job(spec, chosen, **{**options, **limits, "max_iter": iterations})


def folds_of(rows: Dataset, seed: int, least: int) -> list[tuple[Dataset, Dataset]]:
    """Return samples to learn from and a held-out fifth, up to five times, until at least so many are held out."""
    from sklearn.model_selection import KFold

    count = min(5, rows.n, math.ceil(5 * least / rows.n))
    folds = KFold(min(5, rows.n), shuffle=True, random_state=seed).split(np.arange(rows.n))
    return [(rows.rows(learned), rows.rows(held)) for learned, held in islice(folds, count)]
