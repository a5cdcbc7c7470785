"""How well scores rank and decide labels: precision@k, nDCG@k, Hamming loss and areas under the ROC curve.

Scores are (n, L), as an array or as a function from a slice of rows to those rows, so that a large table of scores
never stands in memory. Labels are a sparse matrix (n, L) of positives; `observed` is a sparse matrix (n, L) of the
entries that are known, None where all are. Unobserved entries take no part: they are neither ranked nor counted.

Ties: precision@k and nDCG@k are expectations over all orders of equal scores, so that the order of the labels in a
file never decides; a pair of equal scores counts one half in every AUC. For nDCG and AUC scikit-learn does the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Vector

Scores = Array | Callable[[slice], Array]

THRESHOLDS = {"zero-one": 0.5, "signs": 0.0}
"""Where a score becomes a yes: half way between the two numbers by which a loss codes the labels."""
TOGETHER = 4
"""Blocks that are sorted at a time: longer ones are searched fewer times."""
FEW = 32
"""Up to so many positives a label, those of all labels are searched together."""

BLOCK_ENTRIES = 2**21
"""Scores that are computed at a time."""


class Average(NamedTuple):
    """A mean over those rows or labels for which a measure exists, and how many they are (nan over none)."""

    value: float
    count: int  # type: ignore[assignment]


class Block(NamedTuple):
    """Some rows: scores (b, L) with +inf where unobserved, how many are observed, and the places of the positives."""

    scores: Array
    observed: Indices
    rows: Indices
    columns: Indices

    @property
    def positive(self) -> Array:
        """The scores of the positive labels."""
        return self.scores[self.rows, self.columns]


def rows_of(scores: Scores, rows: slice) -> Array:
    """Return the scores of some rows."""
    return np.asarray(scores(rows) if callable(scores) else scores[rows], dtype=np.float64)


def row_blocks(scores: Scores, n: int, L: int, together: int = 1) -> Iterator[tuple[slice, Array]]:
    """Yield slices of the n rows, in order, with their scores (b, L): so many blocks at a time."""
    step = max(1, together * BLOCK_ENTRIES // max(L, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, rows_of(scores, rows)


def blocks(scores: Scores, Y: csr_array, observed: csr_array | None, together: int = 1) -> Iterator[Block]:
    """Yield the rows in blocks, so many of BLOCK_ENTRIES at a time; ValueError where a score is not finite."""
    n, L = Y.shape
    Y = csr_array(Y, dtype=bool) if observed is None else csr_array(Y, dtype=bool).multiply(observed).tocsr()
    for rows, block in row_blocks(scores, n, L, together):
        if block.shape != (rows.stop - rows.start, L) or not np.isfinite(block).all():
            raise ValueError(f"scores of rows {rows.start}..{rows.stop - 1} must be {L} finite numbers a row")
        known = np.full(len(block), L)
        if observed is not None:
            block = np.where(observed[rows].toarray() != 0, block, np.inf)
            known = np.isfinite(block).sum(1)
        yield Block(block, known, *Y[rows].nonzero())


def bisected(ascending: Array, rows: Indices, values: Array) -> tuple[Indices, Indices]:
    """Return how many entries of a sorted row are below each value, and how many are not above it."""
    n = ascending.shape[1]
    counts = []
    for reached in (np.less, np.less_equal):
        low, high = np.zeros(len(rows), dtype=np.intp), np.full(len(rows), n)
        for _ in range(n.bit_length()):
            middle = (low + high) // 2
            further = reached(ascending[rows, np.minimum(middle, n - 1)], values) & (low < high)
            low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
        counts.append(low)
    return counts[0], counts[1]


def areas_of(wins: Vector, positives: Indices, negatives: Indices) -> Array:
    """Return the areas where there are both kinds: pairs among positives, which `wins` holds too, count P^2 / 2."""
    both = (positives > 0) & (negatives > 0)
    P, N = positives[both].astype(np.float64), negatives[both]
    return (wins[both] - P**2 / 2) / (P * N)


def _top(block: Block, k: int) -> Array:
    """Return the k highest known scores of each row, descending; -inf where there are fewer."""
    L = block.scores.shape[1]
    scores = block.scores if (block.observed == L).all() else np.where(np.isinf(block.scores), -np.inf, block.scores)
    return np.sort(np.partition(scores, L - min(k, L), axis=1)[:, L - min(k, L) :], axis=1)[:, ::-1]


def _expected_gain(block: Block, top: Array, discount: Array) -> Array:
    """Return a row's expected sum of discount[place] over its positives, equal scores being in random order.

    Only the first k = len(discount) places count: a positive that ties with places s..e-1 gains their mean discount.
    top: at least the k highest scores of each row.
    """
    k = min(len(discount), top.shape[1])
    top, positive = top[:, :k], block.positive
    total = np.concatenate([[0.0], np.cumsum(discount[:k])])
    inside = positive >= top[block.rows, -1]
    rows, positive = block.rows[inside], positive[inside]
    first, last = (above(top[rows], positive[:, None]).sum(1) for above in (np.greater, np.greater_equal))
    tied, at_edge = last - first, positive == top[rows, -1]
    # Equal scores beyond the k-th place share its chance.
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
    """Return measures of the rows from one pass over the scores.

    precision_k: share of positives among the k labels of highest score, averaged over all rows; the divisor is k also
    where fewer labels are known or positive. ndcg_k: discounted gain sum_i 1 / log2(1 + place) of the positives,
    relative to the best order, over all rows; one without positives counts 0, as in scikit-learn. hamming; and with
    areas auc and auc_rows, as `instance_auc` says.
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
            values = _rowareas(block)
            area, rows = area + float(values.sum()), rows + len(values)
    totals["hamming"] = wrong / known if known else float("nan")
    return totals | ({"auc": area / rows if rows else float("nan"), "auc_rows": rows} if areas else {})


def _wrong(block: Block, threshold: float) -> int:
    """Return how many known entries are on the wrong side of the threshold; unknown ones are +inf."""
    unknown = block.scores.size - int(block.observed.sum())
    above, right = int((block.scores > threshold).sum()) - unknown, int((block.positive > threshold).sum())
    return above - right + len(block.rows) - right


def _rowareas(block: Block) -> Array:
    """Return the AUC of those rows that have a positive and a negative."""
    below, reached = bisected(np.sort(block.scores, axis=1), block.rows, block.positive)
    n = len(block.scores)
    positives = np.bincount(block.rows, minlength=n)
    return areas_of(np.bincount(block.rows, (below + reached) / 2, minlength=n), positives, block.observed - positives)


def hamming(scores: Scores, Y: csr_array, threshold: float, observed: csr_array | None = None) -> float:
    """Return the share of known entries whose label differs from `score > threshold` (see THRESHOLDS)."""
    return row_measures(scores, Y, threshold, observed)["hamming"]


def instance_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the AUC within a row, averaged over the rows that have a positive and a negative, and their number."""
    measures = row_measures(scores, Y, 0.0, observed, areas=True)
    return Average(measures["auc"], int(measures["auc_rows"]))


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
