"""Scores by which settings of label fits are chosen on rows held out."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab import ranking
from lrlab.models.multilabel_problem import GAINS, PLACES, Predictor
from lrlab.models.own_rows import OwnProblem

VANISHED = 1e-2
"""Deviation of the scores of a single label, as a share of the label's own, below which they say nothing of it."""


class Metric(NamedTuple):
    """A score by which settings are chosen.

    value(scores, positives that are known, pattern of what is known or None, threshold); better: +1 where larger is
    better, else -1. Precision and nDCG rank all labels; only known positives count.
    """

    value: Callable[..., float]
    better: int = 1


def first_places(scores: ranking.Scores, Y: csr_array, *_: Any, name: str, **places: Any) -> float:
    """Return one of `ranking.row_measures`."""
    return ranking.row_measures(scores, Y, 0.0, **places)[name]


# Unknown labels are ranked among the others: where labels are unknown at random, so many of the true positives in the
# first k places are known as of all of them, and settings compare as they would if all were. Ranked among the known
# alone, where they are a fifth, third is about fifteenth of all: an easier problem, for which more regularisation is
# best. For the same reason, and for tables of scores that no memory holds, scikit-learn's metrics do not serve here.
METRICS: Mapping[str, Metric] = {
    **{f"precision@{k}": Metric(partial(first_places, name=f"precision_{k}", precisions=(k,))) for k in PLACES},
    **{f"ndcg@{k}": Metric(partial(first_places, name=f"ndcg_{k}", gains=(k,))) for k in GAINS},
    "auc": Metric(lambda scores, Y, known, threshold: ranking.instance_auc(scores, Y, known).value),
    "micro_auc": Metric(lambda scores, Y, known, threshold: ranking.micro_auc(scores, Y, known)),
    "macro_auc": Metric(lambda scores, Y, known, threshold: ranking.label_auc(scores, Y, known).value),
    "hamming": Metric(lambda scores, Y, known, threshold: ranking.hamming(scores, Y, threshold, known), better=-1),
}
METRIC = "ndcg@5"
"""The default metric: of those of the first places it has the least noise."""
BY_LABEL = ("macro_auc", "micro_auc", "hamming")
"""Metrics that tell settings apart where there is a single label, which the rankings of a row do not."""


def validation_score(problem: OwnProblem, estimate: Predictor, metric: Metric) -> float:
    """Return the score of an estimate on the rows that are held out.

    Of a single label, scores that hardly differ count as equal: their order is what an unfinished run has left of none.
    """
    scores: ranking.Scores = estimate.scores(problem.X_test)
    if problem.Y_test.shape[1] == 1:
        values = ranking.rows_of(scores, slice(None))
        if values.std() <= VANISHED * problem.Y_test.toarray().std():
            scores = np.full_like(values, values.mean())
    return float(metric.value(scores, problem.Y_test, problem.mask_test, estimate.threshold))
