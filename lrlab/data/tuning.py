"""Jobs on labels: chooses the solver, or its settings, on held-out samples, with scikit-learn's folds and samplers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from lrlab import catalog
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem, default_rank
from lrlab.models import ranking
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import GAINS, PLACES
from lrlab.parameters import Value, require_known
from lrlab.protocol import Limits
from lrlab.runs.job import Job, make_job

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
        return ranking.label_auc(scores, Y, known)
    kind, _, k = name.partition("@")
    if k:
        places: dict[str, Any] = {"precisions" if kind == "precision" else "gains": (int(k),)}
        return ranking.row_measures(scores, Y, 0.0, **places)[f"{kind}_{k}"]
    return (-1 if name == "hamming" else 1) * ranking.row_measures(scores, Y, threshold, known)[name]


class Candidate(NamedTuple):
    """Settings to try, rank 0 for the default; after a trial the best mean score, and the iterations that give it."""

    solver: str
    options: Mapping[str, Value]
    rank: int
    iterations: int
    score: float = math.nan

    def tried(self, parts: Sequence[tuple[Dataset, Dataset]], metric: str, seed: int, **look: Any) -> "Candidate":
        """Return the candidate with its best mean score on held-out rows, and the iterations that give it."""
        scores = np.full((len(parts), self.iterations), math.nan)
        entry = catalog.solver(self.solver, Multilabel.model)
        options = dict(entry.settle(dict(self.options)).options)
        for line, (rows, held) in zip(scores, parts, strict=True):
            problem = LabelProblem.between(rows, held, self.rank or default_rank(rows), **look)
            iterates = entry.run(problem, **options, rng=np.random.default_rng(seed))
            for k, iterate in zip(range(self.iterations), iterates, strict=False):
                at = iterate.estimate.scores(problem.X_test), problem.Y_test, problem.mask_test
                # The last score counts after the solver has ended.
                line[k:] = metric_of(metric, *at, iterate.estimate.threshold)
        # A fold without labels of both kinds has no AUC, and does not count.
        means = pd.DataFrame(scores).mean().fillna(0.0)
        return self._replace(iterations=int(means.argmax()) + 1, score=float(means.max()))


def sampled(first: Candidate, rows: Dataset, seed: int) -> list[Candidate]:
    """Return a candidate, and copies with random values of settings that you do not give, uniform in the logarithm."""
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import ParameterSampler

    known, most = catalog.solver(first.solver, Multilabel.model).options, min(rows.d, rows.L)
    free: dict[str, Any] = {}
    if "fitted_rank" in known and not first.rank and most > 1:
        free["rank"] = randint(max(1, most // 5), most + 1)
    for name, (low, high) in RANGES.items():
        if name in known and name not in first.options:
            free[name] = loguniform(max(low, known[name].low), min(high, known[name].high))
    candidates = [first]
    for one in ParameterSampler(free, max(2, min(SETTINGS, rows.n // 5)), random_state=seed) if free else ():
        rank = int(one.pop("rank", first.rank))
        values = {name: float(value) for name, value in one.items()}
        candidates.append(first._replace(options={**first.options, **values}, rank=rank))
    return candidates


def label_job(spec: Any, solver: str, settings: dict[str, Any], metric: str, rank: int) -> Job:
    """Return the job on labels; held-out samples choose the solver, or the settings by a metric, that you do not give.

    rank: the rank that you give, or 0.
    """
    if solver and not metric:
        # Metrics on new samples are often best after 2 to 5 iterations.
        return make_job(spec, solver, **{"max_iter": 5, **settings})
    limits = {name: settings.pop(name) for name in Limits._fields if name in settings}
    for name in (solver,) if solver else FIRST:
        # This raises errors in the settings before any run.
        make_job(spec, name, **settings)
    given = Candidate(solver, settings, rank, int(limits.get("max_iter", 0)))
    best = tuned(spec, given, metric)
    own = "".join(f", {name} {value:.3g}" for name, value in best.options.items() if isinstance(value, float))
    score = f"{metric or METRIC} {best.score:.4g} on held-out samples"
    words = f"{score} chose {best.solver}, {best.iterations} iterations{own}."
    spec = spec.replace(chosen=words, **({"rank": best.rank} if best.rank else {}))
    return make_job(spec, best.solver, **{**best.options, **limits, "max_iter": best.iterations})


def tuned(spec: Any, given: Candidate, metric: str) -> Candidate:
    """Return the best settings on held-out rows for the training rows of a spec, and their best number of iterations.

    given: the settings that you give, "" for no solver, and the most iterations, 0 for the default. metric: one of
    METRICS; without it DEFAULTS compete.
    """
    from sklearn.model_selection import KFold

    rows, seed, look = spec.tables()[0], spec.seed, {"intercept": spec.intercept, "scaling": spec.scaling}
    if metric:
        require_known(metric, METRICS, what="metric")
        names = (given.solver,) if given.solver else FIRST
        first = [given._replace(solver=name, iterations=given.iterations or ITERATIONS) for name in names]
        candidates = [one for start in first for one in sampled(start, rows, seed)]
    else:
        large = (rows.X.nnz if issparse(rows.X) else rows.X.size) * rows.L > MOST_LOGISTIC
        candidates = [
            Candidate(name, {**settings, **given.options}, given.rank, min(most, given.iterations or most))
            for name, settings, most in (DEFAULTS[1:] if large else DEFAULTS)
        ]
    # Each part holds out a fifth of the samples; all parts together hold out at least 500 or 200, if there are so many.
    count = min(5, rows.n, math.ceil(5 * (500 if metric else 200) / rows.n))
    splits = list(KFold(min(5, rows.n), shuffle=True, random_state=seed).split(np.arange(rows.n)))[:count]
    parts = [(rows.rows(learned), rows.rows(held)) for learned, held in splits]
    results = [one.tried(parts, metric or METRIC, seed, **look) for one in candidates]
    best = max(results, key=lambda one: one.score)
    return best if metric or best.score > results[0].score + MARGIN else results[0]
