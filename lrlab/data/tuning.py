"""Chooses the solver of labels, or its settings, on held-out rows, with scikit-learn's folds and samplers."""

import math
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
"""Solvers that compete if you name none."""
DEFAULTS: tuple[tuple[str, dict[str, Value], int], ...] = (
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


def metric_of(name: str, scores: Any, Y: Any, known: Any, threshold: float) -> float:
    """Return a metric of METRICS, its negative if smaller is better.

    precision@k and ndcg@k rank unknown labels too. If labels are unknown at random, the first k ranks have the same
    known fraction as all positives, and settings compare as if all labels were known.
    """
    if name == METRIC:
        return ranking.label_auc(scores, Y, known).value
    kind, _, k = name.partition("@")
    if k:
        places: dict[str, Any] = {"precisions" if kind == "precision" else "gains": (int(k),)}
        return ranking.row_measures(scores, Y, 0.0, **places)[f"{kind}_{k}"]
    return (-1 if name == "hamming" else 1) * ranking.row_measures(scores, Y, threshold, known)[name]


class Candidate(NamedTuple):
    """Settings to try; after a trial the score on held-out rows, and the iterations that give it."""

    solver: str = ""
    options: tuple[tuple[str, Value], ...] = ()
    rank: int = 0
    scaling: str = "auto"
    iterations: int = 0
    score: float = math.nan

    def tried(self, parts: list[tuple[Dataset, Dataset]], metric: str, seed: int, intercept: bool) -> "Candidate":
        """Return the candidate with its best mean score on held-out rows, and the iterations that give it."""
        scores = np.full((len(parts), self.iterations), math.nan)
        entry = catalog.solver(self.solver, Multilabel.model)
        for line, part in zip(scores, parts, strict=True):
            rank = self.rank or default_rank(min(part[0].d, part[0].L))
            problem = LabelProblem.between(*part, rank, intercept=intercept, scaling=self.scaling)
            options = dict(entry.settle(dict(self.options)).options)
            iterates = entry.run(problem, **options, rng=np.random.default_rng(seed))
            for k, iterate in zip(range(self.iterations), iterates, strict=False):
                found = iterate.estimate
                at = found.scores(problem.X_test), problem.Y_test, problem.mask_test, found.threshold
                # The last score counts after the solver has ended.
                line[k:] = metric_of(metric, *at)
        known = ~np.isnan(scores)
        # A fold without labels of both kinds has no AUC.
        means = np.where(known, scores, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return self._replace(iterations=int(np.argmax(means)) + 1, score=float(means.max()))


def folds(rows: Dataset, seed: int, wanted: int) -> list[tuple[Dataset, Dataset]]:
    """Return pairs of training rows and a fifth of held-out rows, as many pairs as hold out `wanted` rows in all."""
    from sklearn.model_selection import KFold

    parts = KFold(min(5, rows.n), shuffle=True, random_state=seed).split(np.arange(rows.n))
    count = min(5, rows.n, max(1, math.ceil(5 * wanted / rows.n)))
    return [(rows.rows(learnt), rows.rows(held)) for learnt, held in list(parts)[:count]]


def sampled(first: Candidate, rows: Dataset, seed: int) -> list[Candidate]:
    """Return a candidate, and copies with random values of settings that you do not give, uniform in the logarithm."""
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import ParameterSampler

    known, most = catalog.solver(first.solver, Multilabel.model).options, min(rows.d, rows.L)
    free: dict[str, Any] = {"scaling": ["auto", "rows"] if first.scaling == "auto" else [first.scaling]}
    if "fitted_rank" in known and not first.rank and most > 1:
        free["rank"] = randint(max(1, most // 5), most + 1)
    for name, (low, high) in RANGES.items():
        if name in known and name not in dict(first.options):
            free[name] = loguniform(max(low, known[name].low), min(high, known[name].high))
    lists = len(free) == 1
    count = len(free["scaling"]) if lists else max(2, min(SETTINGS, rows.n // 5))
    candidates = [first]
    for one in ParameterSampler(free, count, random_state=seed):
        options = {**dict(first.options), **{name: float(value) for name, value in one.items() if name in RANGES}}
        rank = int(one.get("rank", first.rank))
        candidates.append(first._replace(options=tuple(options.items()), rank=rank, scaling=str(one["scaling"])))
    return list(dict.fromkeys(candidates))


def tuned(rows: Dataset, given: Candidate, *, intercept: bool = True, metric: str = "", seed: int = 0) -> Candidate:
    """Return the best settings for rows on held-out rows, and their best number of iterations.

    given: the settings that you give, and the most iterations. metric: one of METRICS; without it DEFAULTS compete.
    """
    if metric:
        require_known(metric, METRICS, what="metric")
        given = given._replace(iterations=given.iterations or ITERATIONS)
        names = (given.solver,) if given.solver else FIRST
        candidates = [one for name in names for one in sampled(given._replace(solver=name), rows, seed)]
        parts = folds(rows, seed, 500)
        return max((one.tried(parts, metric, seed, intercept) for one in candidates), key=lambda one: one.score)
    large = (rows.X.nnz if issparse(rows.X) else rows.X.size) * rows.L > MOST_LOGISTIC
    parts, results = folds(rows, seed, 200), list[Candidate]()
    for name, settings, most in DEFAULTS[1:] if large else DEFAULTS:
        options = tuple({**settings, **dict(given.options)}.items())
        one = given._replace(solver=name, options=options, iterations=min(most, given.iterations or most))
        results.append(one.tried(parts, METRIC, seed, intercept))
    return next((one for one in results[1:] if one.score > results[0].score + MARGIN), results[0])
