"""Chooses the solver of labels, or the settings of one, on held-out rows: scikit-learn's folds and samplers."""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from lrlab import catalog, ranking
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem, default_rank
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import GAINS, PLACES
from lrlab.parameters import Value, require_known

FIRST = ("leml", "binary-relevance")
"""Solvers of which the better one is the default."""
DEFAULTS: tuple[tuple[str, dict[str, Value], int], ...] = (
    ("binary-relevance", {"loss": "logistic"}, 1),
    ("leml", {"regularization": 30.0}, 3),
)
"""What is compared if no solver is named, with the most iterations of each; the first one if none is better."""
MARGIN = 0.005
"""Lead on held-out rows by which the second one of DEFAULTS replaces the first: few rows compare badly."""
MOST_LOGISTIC = 10**8
"""Stored features times labels up to which logistic regressions are compared: they take minutes beyond that."""
SETTINGS, ITERATIONS = 20, 10
"""Settings that a metric tries, and the most iterations of each."""
RANGES = {"regularization": (1e-3, 1e4), "rate": (1e-2, 1.0), "margin": (0.1, 3.0)}
"""Ranges of settings; those of WSABIE were tuned by hand in Yu et al. (2014), section 5."""


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


def folds(rows: Dataset, seed: int, wanted: int) -> list[tuple[Dataset, Dataset]]:
    """Return rows in two parts, a fifth of them in the second one, until so many are held out in all."""
    from sklearn.model_selection import KFold

    parts = KFold(min(5, rows.n), shuffle=True, random_state=seed).split(np.arange(rows.n))
    count = min(5, rows.n, max(1, math.ceil(5 * wanted / rows.n)))
    return [(rows.rows(learnt), rows.rows(held)) for learnt, held in list(parts)[:count]]


def tried(one: Candidate, parts: list[tuple[Dataset, Dataset]], metric: str, seed: int, intercept: bool) -> Candidate:
    """Return a candidate with its mean score on held-out rows, at the iterations where that is best."""
    scores = np.array([list(_scores(one, part, metric, seed, intercept)) for part in parts])
    known = ~np.isnan(scores)
    # An AUC needs labels of both kinds, which a fold need not have.
    means = np.where(known, scores, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    place = int(np.argmax(means))
    return one._replace(iterations=place + 1, score=float(means[place]))


def _scores(one: Candidate, part: tuple[Dataset, Dataset], metric: str, seed: int, intercept: bool) -> Iterator[float]:
    """Yield the score of each iterate; one that has ended stays as it is."""
    rank = one.rank or default_rank(min(part[0].d, part[0].L))
    problem = LabelProblem.between(*part, rank, intercept=intercept, scaling=one.scaling)
    entry, last = catalog.solver(one.solver, Multilabel.model), math.nan
    iterates = entry.run(problem, **dict(entry.settle(dict(one.options)).options), rng=np.random.default_rng(seed))
    for _ in range(one.iterations):
        if (iterate := next(iterates, None)) is not None:
            scores = iterate.estimate.scores(problem.X_test)
            last = float(METRICS[metric](scores, problem.Y_test, problem.mask_test, iterate.estimate.threshold))
        yield last


def sampled(
    solver: str, options: Mapping[str, Value], rank: int, scaling: str, rows: Dataset, seed: int
) -> list[Candidate]:
    """Return the settings of a fit that is not tuned, and random values, by logarithms, of those that are not given."""
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import ParameterSampler

    known = catalog.solver(solver, Multilabel.model).options
    free: dict[str, Any] = {"scaling": ["auto", "rows"] if scaling == "auto" else [scaling]}
    most = min(rows.d, rows.L)
    if "fitted_rank" in known and not rank and most > 1:
        free["rank"] = randint(max(1, most // 5), most + 1)
    for name, (low, high) in RANGES.items():
        if name in known and name not in options:
            free[name] = loguniform(max(low, known[name].low), min(high, known[name].high))
    first = Candidate(solver, tuple(options.items()), rank, scaling)
    if len(free) == 1 and len(free["scaling"]) == 1:
        return [first]
    count = max(2, min(SETTINGS, rows.n // 5))
    drawn = ParameterSampler(free, count, random_state=seed) if len(free) > 1 else [{"scaling": "rows"}]
    others = []
    for one in drawn:
        given = {name: float(value) for name, value in one.items() if name not in ("rank", "scaling")}
        at = int(one.get("rank", rank))
        others.append(first._replace(options=tuple({**options, **given}.items()), rank=at, scaling=str(one["scaling"])))
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
    """Return the settings to fit rows with: those that are best on held-out rows by a metric.

    With neither a solver nor a metric, the defaults are compared. iterations: the most of each; the best number is
    chosen.
    """
    given = dict(options or {})
    if metric:
        require_known(metric, METRICS, what="metric")
        names = (solver,) if solver else FIRST
        drawn = [one for name in names for one in sampled(name, given, rank, scaling, rows, seed)]
        parts = folds(rows, seed, 500)
        drawn = [one._replace(iterations=iterations or ITERATIONS) for one in drawn]
        return max((tried(one, parts, metric, seed, intercept) for one in drawn), key=lambda one: one.score)
    large = (rows.X.nnz if issparse(rows.X) else rows.X.size) * rows.L > MOST_LOGISTIC
    candidates = [
        Candidate(name, tuple({**own, **given}.items()), rank, scaling, min(most, iterations or most))
        for name, own, most in (DEFAULTS[1:] if large else DEFAULTS)
    ]
    parts = folds(rows, seed, 200)
    first, *others = (tried(one, parts, METRIC, seed, intercept) for one in candidates)
    return next((one for one in others if one.score > first.score + MARGIN), first)
