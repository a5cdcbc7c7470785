"""Statistics of single labels: how often each is on, their correlations, and the metrics of predictions of each."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lrlab import ranking
from lrlab.arrays import Array, Indices
from lrlab.datasets import Dataset
from lrlab.fits.fitted_model import FittedModel

MAX_LABELS = 24
"""Labels whose correlations are computed: the most frequent ones."""


class LabelCorrelations(NamedTuple):
    """The most frequent labels, by their places, and their correlations (phi), nan where a label does not vary."""

    places: Indices
    phi: Array


def label_counts(data: Dataset) -> Indices:
    """Return how often each label is on."""
    return np.bincount(data.Y.indices, minlength=data.L)


def imbalance(counts: Indices) -> float:
    """Return the mean over labels that are on of how many times as frequent the most frequent one is; nan of none."""
    present = counts[counts > 0]
    return float(np.mean(present.max() / present)) if len(present) else np.nan


def label_correlations(data: Dataset, most: int = MAX_LABELS) -> LabelCorrelations:
    """Return the correlations of the most frequent labels, each over the rows where both of a pair are known."""
    places = np.argsort(-label_counts(data), kind="stable")[:most]
    Y = data.Y[:, places].toarray()
    known = Y >= 0 if data.observed is None else data.observed[:, places].toarray()
    return LabelCorrelations(places, pd.DataFrame(np.where(known, Y, np.nan)).corr().to_numpy())


def metrics_by_label(model: FittedModel, data: Dataset) -> pd.DataFrame:
    """Return one row per label: where it is known, on, predicted; confusion; precision, recall, AUC, nan if none."""
    scores, thresholds = model.scores(data.X), model.thresholds
    known, on, predicted, hits = np.zeros((4, data.L), dtype=int)
    for rows, block in ranking.row_blocks(scores, data.n, data.L):
        truth = data.Y[rows].toarray() != 0
        observed = np.ones_like(truth) if data.observed is None else data.observed[rows].toarray()
        positive = observed & (block > thresholds)
        for count, table in ((known, observed), (on, truth), (predicted, positive), (hits, positive & truth)):
            count += table.sum(axis=0)
    nothing = np.full(data.L, np.nan)
    return pd.DataFrame(
        {
            "label": model.label_names,
            "known": known,
            "on": on,
            "predicted": predicted,
            "true_positives": hits,
            "false_positives": predicted - hits,
            "false_negatives": on - hits,
            "true_negatives": known - on - predicted + hits,
            "precision": np.divide(hits, predicted, out=nothing.copy(), where=predicted > 0),
            "recall": np.divide(hits, on, out=nothing.copy(), where=on > 0),
            "auc": ranking.areas(scores, data.Y, data.observed, micro=False).by_label,
        }
    )
