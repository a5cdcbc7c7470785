"""Metrics of ranked labels: precision@k, nDCG@k, Hamming loss and areas under the ROC curve.

Scores are (n, L): an array, or a function that returns the scores of a slice of rows, so that memory never holds a
large table. Labels are a sparse matrix (n, L) of positives. `observed` is a sparse matrix (n, L) of the known entries,
None if all are known. Unknown entries are neither ranked nor counted.

Precision@k and nDCG@k are expectations over all orders of equal scores, so that the order of labels in a file has no
effect. A pair of equal scores counts one half in every AUC. scikit-learn has the same nDCG and AUC.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Scores
from lrlab.lowrank import rows_of

BLOCK_ENTRIES = 2**21
"""Number of scores in a block of rows."""
COLUMN_ENTRIES = 2**23
"""Number of scores in a group of labels, for areas of labels."""


class Block(NamedTuple):
    """Scores of some rows (b, L), +inf for unknown entries, and the rank of each positive among the known ones.

    known (b,): number of known entries per row. rows, values: row and score of each positive. below, upto: numbers of
    known scores in its row that are smaller, and that are not larger.
    """

    scores: Array
    known: Indices
    rows: Indices
    values: Array
    below: Indices
    upto: Indices

    @classmethod
    def of(cls, scores: Array, rows: Indices, columns: Indices) -> Self:
        """Return the block of scores whose positives have these indices, in the order of rows."""
        ascending, values = np.sort(scores, axis=1), scores[rows, columns]
        below, upto = np.empty_like(rows), np.empty_like(rows)
        ends = np.searchsorted(rows, np.arange(len(scores) + 1))
        for i in np.flatnonzero(np.diff(ends)):
            cut = slice(ends[i], ends[i + 1])
            below[cut] = ascending[i].searchsorted(values[cut], "left")
            upto[cut] = ascending[i].searchsorted(values[cut], "right")
        return cls(scores, np.isfinite(scores).sum(axis=1), rows, values, below, upto)

    @property
    def positives(self) -> Indices:
        """Number of positives per row (b,)."""
        return np.bincount(self.rows, minlength=len(self.scores))

    @property
    def areas(self) -> Array:
        """AUC of each row (b,), nan for a row that lacks a positive or a negative."""
        P = self.positives.astype(np.float64)
        pairs = P * (self.known - P)
        # The sum includes pairs of positives: P^2 / 2.
        wins = np.bincount(self.rows, (self.below + self.upto) / 2.0, minlength=len(P)) - P**2 / 2.0
        return np.divide(wins, pairs, out=np.full(len(P), np.nan), where=pairs > 0)

    def gain(self, discount: Array) -> Array:
        """Return the sum of discount[rank] over the positives of each row (b,), averaged over orders of equal scores.

        A positive that ties for ranks s..e-1 gains their mean discount, 0 beyond the last one.
        """
        total, known = np.concatenate([[0.0], np.cumsum(discount)]), self.known[self.rows]
        first, last = (total[np.minimum(known - ends, len(discount))] for ends in (self.upto, self.below))
        sums = np.bincount(self.rows, (last - first) / (self.upto - self.below), minlength=len(self.scores))
        return sums.astype(np.float64, copy=False)

    def wrong(self, threshold: float) -> int:
        """Return the number of known entries on the wrong side of the threshold."""
        unknown = self.scores.size - int(self.known.sum())
        above, right = int((self.scores > threshold).sum()) - unknown, int((self.values > threshold).sum())
        return above - right + len(self.rows) - right


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
        if observed is not None:
            block = np.where(observed[rows].toarray() != 0, block, np.inf)
        yield Block.of(block, *Y[rows].nonzero())


def row_measures(
    scores: Scores,
    Y: csr_array,
    threshold: float,
    observed: csr_array | None = None,
    precisions: Sequence[int] = (),
    gains: Sequence[int] = (),
) -> dict[str, float]:
    """Return metrics of rows from one pass over the scores.

    precision_k: fraction of positives among the k highest labels, averaged over all rows. The divisor is k even if a
    row has fewer known or positive labels. ndcg_k: discounted gain sum_i 1 / log2(1 + rank) of the positives, relative
    to the best order. It averages over all rows; a row without positives counts 0, as in scikit-learn. hamming:
    fraction of known entries on the wrong side of the threshold. auc, auc_rows: the mean AUC within a row over the rows
    with a positive and a negative, and their number.
    """
    n, L = Y.shape
    totals = dict.fromkeys([*(f"precision_{k}" for k in precisions), *(f"ndcg_{k}" for k in gains)], 0.0)
    wrong = known = rows = 0
    area = 0.0
    for block in blocks(scores, Y, observed):
        for k in precisions:
            totals[f"precision_{k}"] += float(block.gain(np.ones(k)).sum()) / (k * n)
        for k in gains:
            discount = 1.0 / np.log2(np.arange(2, min(k, L) + 2))
            ideal = np.concatenate([[np.inf], np.cumsum(discount)])[np.minimum(block.positives, len(discount))]
            totals[f"ndcg_{k}"] += float((block.gain(discount) / ideal).sum()) / n
        wrong, known = wrong + block.wrong(threshold), known + int(block.known.sum())
        areas = block.areas
        area, rows = area + float(np.nansum(areas)), rows + int(np.isfinite(areas).sum())
    totals["hamming"] = wrong / known if known else float("nan")
    return totals | {"auc": area / rows if rows else float("nan"), "auc_rows": rows}


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
        areas.append(Block.of(table, *on[:, group].T.tocsr().nonzero()).areas)
    return np.concatenate([np.zeros(0), *areas])


def label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> float:
    """Return the mean AUC within a label (macro) over the labels with a positive and a negative; nan if none has."""
    areas = label_areas(scores, Y, observed)
    areas = areas[~np.isnan(areas)]
    return float(areas.mean()) if len(areas) else float("nan")


def label_shares(Y: csr_array, known: csr_array | None) -> Array:
    """Return the fraction of observed rows with each label (L,), 0 for a label without observations."""
    on = Y.sum(axis=0)
    observed = np.full(len(on), Y.shape[0]) if known is None else known.sum(axis=0)
    return np.divide(on, observed, out=np.zeros(len(on)), where=observed > 0)
