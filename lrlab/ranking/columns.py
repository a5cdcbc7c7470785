"""Areas under the ROC curve over many rows: within a label (macro), and over all entries (micro)."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices
from lrlab.ranking.blocks import Average, Scores, areas_of, bisected, blocks

TOGETHER = 4
"""Blocks that are sorted at a time: longer ones are searched fewer times."""
FEW = 32
"""Up to so many positives a label, those of all labels are searched together."""


class Areas(NamedTuple):
    """AUC over all entries at once (micro), nan where all are of one kind, and within labels (L,), nan likewise."""

    micro: float
    by_label: Array

    @property
    def macro(self) -> Average:
        """The mean over the labels that have a positive and a negative."""
        areas = self.by_label[~np.isnan(self.by_label)]
        return Average(float(areas.mean()) if len(areas) else float("nan"), len(areas))


def areas(
    scores: Scores, Y: csr_array, observed: csr_array | None = None, micro: bool = True, by_label: bool = True
) -> Areas:
    """Return both areas, or those wanted, from two passes over the scores.

    The first takes the scores of the positives, which are few; the second sorts each block once for either area.
    """
    parts_by_block = [(block.columns, block.positive) for block in blocks(scores, Y, observed)]
    columns, positive = (np.concatenate(parts) for parts in zip(*parts_by_block, strict=True))
    order = np.lexsort((positive, columns))
    columns, positive, ranked = columns[order], positive[order], np.sort(positive)
    wins, known, whole = np.zeros(Y.shape[1]), np.zeros(Y.shape[1], dtype=int), 0.0
    for block in blocks(scores, Y, observed, TOGETHER) if len(positive) else ():
        known += np.isfinite(block.scores).sum(0)
        if by_label:
            wins += _wins(np.ascontiguousarray(block.scores.T), columns, positive)
        if micro:
            whole += _below(np.sort(block.scores, axis=None), ranked)
    positives, P, N = np.bincount(columns, minlength=Y.shape[1]), len(positive), int(known.sum()) - len(positive)
    values = np.full(Y.shape[1], np.nan)
    values[(positives > 0) & (known > positives)] = areas_of(wins, positives, known - positives)
    return Areas(float((whole - P**2 / 2) / (P * N)) if P and N else float("nan"), values)


def _wins(table: Array, columns: Indices, positive: Array) -> Array:
    """Return, for each row of `table` (L, b), how many of its entries are below the positives of that label."""
    L, table = len(table), np.sort(table, axis=1)
    if len(positive) < FEW * L:
        below, reached = bisected(table, columns, positive)
        return np.bincount(columns, (below + reached) / 2, minlength=L).astype(np.float64, copy=False)
    wins, ends = np.zeros(L), np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=L))])
    for j in np.flatnonzero(np.diff(ends)):
        wins[j] = _below(table[j], positive[ends[j] : ends[j + 1]])
    return wins


def _below(entries: Array, positive: Array) -> float:
    """Return the pairs in which an entry is below a positive, equal ones counting one half; both are sorted.

    The fewer of the two are looked up among the others, from both sides only where they are equal to one.
    """
    turned = len(positive) > len(entries)
    keys, among = (entries, positive) if turned else (positive, entries)
    left = np.searchsorted(among, keys)
    tied = among[np.minimum(left, len(among) - 1)] == keys
    equal = np.searchsorted(among, keys[tied], "right") - left[tied]
    counts = float(left.sum()) + float(equal.sum()) / 2
    return len(keys) * len(among) - counts if turned else counts


def label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the AUC within a label (macro), averaged over the labels that have a positive and a negative."""
    return areas(scores, Y, observed, micro=False).macro


def micro_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> float:
    """Return the AUC over all entries at once (micro); nan where all are of one kind."""
    return areas(scores, Y, observed, by_label=False).micro
