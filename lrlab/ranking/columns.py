"""Areas under the ROC curve over many rows: within a label (macro), and over all entries (micro)."""

from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array
from lrlab.ranking.blocks import Average, Scores, areas_of, bisected, blocks

COLUMN_BLOCKS = 4
"""Blocks that are sorted at a time where columns are: longer ones are searched fewer times."""
FEW = 32
"""Up to so many positives a label, those of all labels are searched together."""
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
"""Below a score, and not above it: as numpy counts in `searchsorted`."""


def label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the AUC within a label (macro), averaged over the labels that have a positive and a negative."""
    areas = per_label_auc(scores, Y, observed)
    areas = areas[~np.isnan(areas)]
    return Average(float(areas.mean()) if len(areas) else float("nan"), len(areas))


def per_label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Array:
    """Return the AUC within each label (L,), nan for those that do not have a positive and a negative.

    A first pass takes the scores of the positives, which are few; a second one sorts each column of a block once.
    """
    places = [(block.columns, block.positive) for block in blocks(scores, Y, observed)]
    columns, values = (np.concatenate(parts) for parts in zip(*places, strict=True))
    order = np.lexsort((values, columns))
    columns, values = columns[order], values[order]
    L = Y.shape[1]
    positives = np.bincount(columns, minlength=L)
    ends = np.cumsum(positives)
    wins, known = np.zeros(L), np.zeros(L, dtype=int)
    for block in blocks(scores, Y, observed, COLUMN_BLOCKS) if len(values) else ():
        ascending = np.ascontiguousarray(block.scores.T)
        ascending.sort(axis=1)
        known += np.isfinite(block.scores).sum(0)
        if len(values) < FEW * L:
            wins += np.bincount(columns, sum(bisected(ascending, columns, values)) / 2, minlength=L)
            continue
        for j in np.flatnonzero(positives):
            given = values[ends[j] - positives[j] : ends[j]]
            wins[j] += sum(np.searchsorted(ascending[j], given, side).sum() for side in SIDES) / 2
    areas = np.full(L, np.nan)
    areas[(positives > 0) & (known > positives)] = areas_of(wins, positives, known - positives)
    return areas


def micro_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> float:
    """Return the AUC over all entries at once (micro); nan where all are of one kind.

    Every block is sorted once, and the positives once; the fewer of the two are looked up among the others.
    """
    found = [block.positive for block in blocks(scores, Y, observed)]
    positive = np.sort(np.concatenate([np.empty(0), *found]))
    P, wins, known = len(positive), 0.0, 0
    for block in blocks(scores, Y, observed) if P else ():
        entries = np.sort(block.scores.ravel())
        known += int(block.observed.sum())
        if P <= len(entries):
            wins += sum(float(np.searchsorted(entries, positive, side).sum()) for side in SIDES) / 2
        else:
            wins += P * len(entries) - sum(float(np.searchsorted(positive, entries, side).sum()) for side in SIDES) / 2
    return float((wins - P**2 / 2) / (P * (known - P))) if 0 < P < known else float("nan")
