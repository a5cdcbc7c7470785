"""Metrics of ranked labels: precision@k, nDCG@k, Hamming loss and areas under the ROC curve.

Scores are (n, L): an array, or a function that returns the scores of a slice of rows, so that memory never holds a
large table. Labels are a sparse matrix (n, L) of positives. `observed` is a sparse matrix (n, L) of the known entries,
None if all are known. Unknown entries are neither ranked nor counted.

Precision@k and nDCG@k are expectations over all orders of equal scores, so that the order of labels in a file has no
effect. A pair of equal scores counts one half in every AUC. scikit-learn has the same nDCG and AUC.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices

Scores = Array | Callable[[slice], Array]

THRESHOLDS = {"zero-one": 0.5, "signs": 0.0}
"""Scores above which a label is predicted: halfway between the two numbers that code a label."""
BLOCK_ENTRIES = 2**21
"""Number of scores in a block of rows."""
COLUMN_ENTRIES = 2**23
"""Number of scores in a group of labels, for areas of labels."""


class Average(NamedTuple):
    """A mean over the rows or labels that have the metric (nan if none has), and their number."""

    value: float
    count: int  # type: ignore[assignment]


class Block(NamedTuple):
    """Some rows: scores (b, L), +inf for unknown entries, counts of known entries, and indices of the positives."""

    scores: Array
    observed: Indices
    rows: Indices
    columns: Indices

    @property
    def positive(self) -> Array:
        """Scores of the positive labels."""
        return self.scores[self.rows, self.columns]


def rows_of(scores: Scores, rows: slice) -> Array:
    """Return the scores of some rows."""
    return np.asarray(scores(rows) if callable(scores) else scores[rows], dtype=np.float64)


def known_positives(Y: csr_array, observed: csr_array | None) -> csr_array:
    """Return the pattern of known positives."""
    Y = csr_array(Y, dtype=bool)
    return Y if observed is None else Y.multiply(observed).tocsr()


def blocks(scores: Scores, Y: csr_array, observed: csr_array | None) -> Iterator[Block]:
    """Yield the rows in blocks of about BLOCK_ENTRIES scores; ValueError if a score is not finite."""
    (n, L), Y = Y.shape, known_positives(Y, observed)
    step = max(1, BLOCK_ENTRIES // max(L, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = rows_of(scores, rows)
        if block.shape != (rows.stop - rows.start, L) or not np.isfinite(block).all():
            raise ValueError(f"scores of rows {rows.start}..{rows.stop - 1} must be {L} finite numbers per row")
        known = np.full(len(block), L)
        if observed is not None:
            block = np.where(observed[rows].toarray() != 0, block, np.inf)
            known = np.isfinite(block).sum(1)
        yield Block(block, known, *Y[rows].nonzero())


def areas_of(block: Block) -> Array:
    """Return the AUC of each row (b,), nan for a row that lacks a positive or a negative."""
    ascending, positive = np.sort(block.scores, axis=1), block.positive
    P = np.bincount(block.rows, minlength=len(ascending))
    N, wins = block.observed - P, np.zeros(len(ascending))
    ends = np.concatenate([[0], np.cumsum(P)])
    for i in np.flatnonzero((P > 0) & (N > 0)):
        mine = positive[ends[i] : ends[i + 1]]
        wins[i] = (ascending[i].searchsorted(mine, "left").sum() + ascending[i].searchsorted(mine, "right").sum()) / 2
    both = (P > 0) & (N > 0)
    # The wins include pairs of positives, which sum to P^2 / 2.
    return np.where(both, (wins - P**2 / 2) / np.where(both, P.astype(np.float64) * N, 1.0), np.nan)


def _top(block: Block, k: int) -> Array:
    """Return the k highest known scores of each row in descending order, -inf after the last known one."""
    L = block.scores.shape[1]
    scores = block.scores if (block.observed == L).all() else np.where(np.isinf(block.scores), -np.inf, block.scores)
    return np.sort(np.partition(scores, L - min(k, L), axis=1)[:, L - min(k, L) :], axis=1)[:, ::-1]


def _expected_gain(block: Block, top: Array, discount: Array) -> Array:
    """Return the sum of discount[rank] over the positives of each row, averaged over all orders of equal scores.

    Only the first k = len(discount) ranks count: a positive that ties for ranks s..e-1 gains their mean discount.
    top: at least the k highest scores of each row.
    """
    k = min(len(discount), top.shape[1])
    top, positive = top[:, :k], block.positive
    total = np.concatenate([[0.0], np.cumsum(discount[:k])])
    inside = positive >= top[block.rows, -1]
    rows, positive = block.rows[inside], positive[inside]
    first, last = (above(top[rows], positive[:, None]).sum(1) for above in (np.greater, np.greater_equal))
    tied, at_edge = last - first, positive == top[rows, -1]
    # Equal scores beyond rank k have the same probability of rank k.
    edge, owner = np.unique(rows[at_edge], return_inverse=True)
    tied[at_edge] = (block.scores[edge] == top[edge, -1:]).sum(1)[owner]
    return np.bincount(rows, (total[last] - total[first]) / tied, minlength=len(top)).astype(np.float64, copy=False)


def row_measures(
    scores: Scores,
    Y: csr_array,
    threshold: float,
    observed: csr_array | None = None,
    precisions: Sequence[int] = (),
    gains: Sequence[int] = (),
    areas: bool = False,
) -> dict[str, float]:
    """Return metrics of rows from one pass over the scores.

    precision_k: fraction of positives among the k highest labels, averaged over all rows. The divisor is k even if a
    row has fewer known or positive labels. ndcg_k: discounted gain sum_i 1 / log2(1 + rank) of the positives, relative
    to the best order. It averages over all rows; a row without positives counts 0, as in scikit-learn. hamming:
    fraction of known entries on the wrong side of the threshold. With `areas`, auc and auc_rows: see `instance_auc`.
    """
    n, L = Y.shape
    totals = dict.fromkeys([*(f"precision_{k}" for k in precisions), *(f"ndcg_{k}" for k in gains)], 0.0)
    discounts = {k: 1.0 / np.log2(np.arange(2, min(k, L) + 2)) for k in gains}
    wrong = known = rows = 0
    area, most = 0.0, max((*precisions, *gains), default=0)
    for block in blocks(scores, Y, observed):
        top = _top(block, most) if most else block.scores
        for k in precisions:
            totals[f"precision_{k}"] += float(_expected_gain(block, top, np.ones(k)).sum()) / (k * n)
        for k, discount in discounts.items():
            ideal = np.concatenate([[np.inf], np.cumsum(discount)])
            positives = np.bincount(block.rows, minlength=len(top))
            gain = _expected_gain(block, top, discount) / ideal[np.minimum(positives, len(discount))]
            totals[f"ndcg_{k}"] += float(gain.sum()) / n
        wrong += _wrong(block, threshold)
        known += int(block.observed.sum())
        if areas:
            values = areas_of(block)
            values = values[~np.isnan(values)]
            area, rows = area + float(values.sum()), rows + len(values)
    totals["hamming"] = wrong / known if known else float("nan")
    return totals | ({"auc": area / rows if rows else float("nan"), "auc_rows": rows} if areas else {})


def _wrong(block: Block, threshold: float) -> int:
    """Return the number of known entries on the wrong side of the threshold; unknown ones are +inf."""
    unknown = block.scores.size - int(block.observed.sum())
    above, right = int((block.scores > threshold).sum()) - unknown, int((block.positive > threshold).sum())
    return above - right + len(block.rows) - right


def hamming(scores: Scores, Y: csr_array, threshold: float, observed: csr_array | None = None) -> float:
    """Return the fraction of known entries whose label differs from `score > threshold` (see THRESHOLDS)."""
    return row_measures(scores, Y, threshold, observed)["hamming"]


def instance_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the mean AUC within a row, over the rows with a positive and a negative, and their number."""
    measures = row_measures(scores, Y, 0.0, observed, areas=True)
    return Average(measures["auc"], int(measures["auc_rows"]))


def label_areas(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Array:
    """Return the AUC within each label (L,), nan for a label that lacks a positive or a negative.

    One pass over the scores per group of labels, so that at most COLUMN_ENTRIES scores are in memory.
    """
    (n, L), on = Y.shape, known_positives(Y, observed).tocsc()
    step = max(1, COLUMN_ENTRIES // max(n, 1))
    areas = list[Array]()
    for start in range(0, L, step):
        group = slice(start, start + step)
        width = min(step, L - start)
        parts = [np.zeros((0, width)), *(block.scores[:, group] for block in blocks(scores, Y, observed))]
        table = np.ascontiguousarray(np.concatenate(parts).T)
        areas.append(areas_of(Block(table, np.isfinite(table).sum(1), *on[:, group].T.tocsr().nonzero())))
    return np.concatenate([np.zeros(0), *areas])


def label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the mean AUC within a label (macro), over the labels with a positive and a negative, and their number."""
    areas = label_areas(scores, Y, observed)
    areas = areas[~np.isnan(areas)]
    return Average(float(areas.mean()) if len(areas) else float("nan"), len(areas))
