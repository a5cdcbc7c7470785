"""Chooses the solver of labels, or the settings of one, on held-out rows: scikit-learn's folds and samplers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from lrlab import catalog, ranking
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem, default_rank
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import GAINS, PLACES, Predictor
from lrlab.parameters import Value, require_known

HELD_OUT_ROWS, FOLDS = 500, 5
"""Rows that are held out in all, if there are so many, by fifths in turn: few rows compare badly."""
FIRST = ("leml-squared", "binary-relevance")
"""Solvers of which the better one is the default."""
DEFAULTS: tuple[tuple[str, dict[str, Value]], ...] = (
    ("leml-squared", {}),
    ("leml-squared", {"regularization": 10.0}),
    ("binary-relevance", {}),
    ("binary-relevance", {"loss": "logistic"}),
)
"""What is compared if no solver is named."""
MOST_LOGISTIC = 10**8
"""Stored features times labels up to which logistic regressions are among them: they take minutes beyond that."""
SETTINGS = 20
"""Settings that are tried."""
WEIGHTS, RATES, MARGINS = (1e-3, 1e4), (1e-2, 1.0), (0.1, 3.0)
"""Ranges of regularization, and of WSABIE's options, which Yu et al. (2014), section 5, tuned by hand."""
ITERATIONS, FEW_ITERATIONS = 10, 5
"""Most iterations, with a metric and without: accuracy on new rows is often best after 2 to 5."""


def first_places(scores: Any, Y: Any, known: Any, threshold: float, name: str, **places: Any) -> float:
    """Return one of `ranking.row_measures`.

    Unknown labels are ranked among the others: if labels are unknown at random, as many of the positives in the first k
    places are known as of all of them, and settings compare as they would if all were.
    """
    return ranking.row_measures(scores, Y, 0.0, **places)[name]


METRICS: Mapping[str, Any] = {
    **{f"precision@{k}": partial(first_places, name=f"precision_{k}", precisions=(k,)) for k in PLACES},
    **{f"ndcg@{k}": partial(first_places, name=f"ndcg_{k}", gains=(k,)) for k in GAINS},
    "auc": lambda scores, Y, known, threshold: ranking.instance_auc(scores, Y, known).value,
    "micro_auc": lambda scores, Y, known, threshold: ranking.micro_auc(scores, Y, known),
    "macro_auc": lambda scores, Y, known, threshold: ranking.label_auc(scores, Y, known).value,
    "hamming": lambda scores, Y, known, threshold: -ranking.hamming(scores, Y, threshold, known),
}
"""Metrics by which settings are chosen; larger is better."""
METRIC = "macro_auc"


class Candidate(NamedTuple):
    """Settings that were tried: the score on held-out rows, and the iterations at which it is best."""

    solver: str
    options: tuple[tuple[str, Value], ...] = ()
    rank: int = 0
    scaling: str = "auto"
    iterations: int = 0
    score: float = math.nan


def folds(rows: Dataset, seed: int) -> list[tuple[Dataset, Dataset]]:
    """Return rows in two parts, a fifth of them in the second one, as often as makes up HELD_OUT_ROWS."""
    from sklearn.model_selection import KFold

    count = min(FOLDS, rows.n, max(1, math.ceil(FOLDS * HELD_OUT_ROWS / rows.n)))
    parts = KFold(min(FOLDS, rows.n), shuffle=True, random_state=seed).split(np.arange(rows.n))
    return [(rows.rows(learnt), rows.rows(held)) for learnt, held in list(parts)[:count]]


def best(rows: Dataset, candidates: Sequence[Candidate], metric: str, seed: int, intercept: bool = True) -> Candidate:
    """Return the candidate that predicts held-out rows best, of equal ones the first, with its iterations."""
    parts, tried = folds(rows, seed), list[Candidate]()
    for one in candidates:
        rank = one.rank or default_rank(min(rows.d, rows.L))
        problems = [LabelProblem.between(*part, rank, intercept=intercept, scaling=one.scaling) for part in parts]
        scores = np.array([list(scored(problem, one, metric, seed)) for problem in problems])
        known = ~np.isnan(scores)
        # An AUC needs labels of both kinds, which a fold need not have.
        means = np.where(known, scores, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        place = int(np.argmax(means))
        tried.append(one._replace(iterations=place + 1, score=float(means[place])))
    return max(tried, key=lambda one: one.score)


def scored(problem: LabelProblem, one: Candidate, metric: str, seed: int) -> Iterator[float]:
    """Yield the score of each iterate; one that has ended stays as it is."""
    entry, last = catalog.solver(one.solver, Multilabel.model), math.nan
    options = dict(entry.settle(dict(one.options)).options)
    iterates = entry.run(problem, **options, rng=np.random.default_rng(seed))
    for _ in range(one.iterations):
        iterate = next(iterates, None)
        if iterate is not None:
            last = score_of(problem, iterate.estimate, metric)
        yield last


def score_of(problem: LabelProblem, estimate: Predictor, metric: str) -> float:
    """Return the score of an estimate on the rows that are held out."""
    scores = estimate.scores(problem.X_test)
    return float(METRICS[metric](scores, problem.Y_test, problem.mask_test, estimate.threshold))


def sampled(
    solver: str, options: Mapping[str, Value], rank: int, scaling: str, rows: Dataset, seed: int
) -> list[Candidate]:
    """Return the settings of a fit that is not tuned, and others: numbers that are not given, drawn by logarithms."""
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import ParameterSampler

    known = catalog.solver(solver, Multilabel.model).options
    free: dict[str, Any] = {"scaling": ["auto", "rows"] if scaling == "auto" else [scaling]}
    most = min(rows.d, rows.L)
    if "fitted_rank" in known and not rank and most > 1:
        free["rank"] = randint(max(1, most // 5), most + 1)
    for name, (low, high) in (("regularization", WEIGHTS), ("rate", RATES), ("margin", MARGINS)):
        if name in known and name not in options:
            free[name] = loguniform(max(low, known[name].low), min(high, known[name].high))
    first = Candidate(solver, tuple(options.items()), rank, scaling)
    if len(free) == 1 and len(free["scaling"]) == 1:
        return [first]
    count = max(2, min(SETTINGS, rows.n // 5))
    drawn = ParameterSampler(free, count, random_state=seed) if len(free) > 1 else [{"scaling": "rows"}]
    others = []
    for one in drawn:
        own = {name: float(value) for name, value in one.items() if name not in ("rank", "scaling")}
        at = int(one.get("rank", rank))
        others.append(first._replace(options=tuple({**options, **own}.items()), rank=at, scaling=str(one["scaling"])))
    return [first, *others]


def tuned(
    rows: Dataset,
    solver: str = "",
    options: Mapping[str, Value] | None = None,
    *,
    rank: int = 0,
    scaling: str = "auto",
    intercept: bool = True,
    metric: str = "",
    iterations: int = 0,
    seed: int = 0,
) -> Candidate:
    """Return the settings to fit rows with: those given, or by a metric on held-out rows those that are best there.

    Without a solver it is the better one of FIRST. iterations: the most there are; those that are best are chosen.
    """
    if metric:
        require_known(metric, METRICS, what="metric")
    given = dict(options or {})
    if metric:
        names = (solver,) if solver else FIRST
        candidates = [one for name in names for one in sampled(name, given, rank, scaling, rows, seed)]
    elif solver:
        candidates = [Candidate(solver, tuple(given.items()), rank, scaling)]
    else:
        entries = rows.X.nnz if issparse(rows.X) else rows.X.size
        defaults = [one for one in DEFAULTS if one[1].get("loss") != "logistic" or entries * rows.L <= MOST_LOGISTIC]
        candidates = [Candidate(name, tuple({**own, **given}.items()), rank, scaling) for name, own in defaults]
    most = iterations or (ITERATIONS if metric else FEW_ITERATIONS)
    candidates = [one._replace(iterations=most) for one in candidates]
    if len(candidates) == 1 and not metric:
        return candidates[0]
    return best(rows, candidates, metric or METRIC, seed, intercept)
