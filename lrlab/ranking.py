"""How well scores rank and decide labels: precision@k, nDCG@k, Hamming loss and areas under the ROC curve.

Scores are (n, L), as an array or as a function from a slice of rows to those rows, so that a large table of scores
never stands in memory. Labels are a sparse matrix (n, L) of positives; `observed` is a sparse matrix (n, L) of the
entries that are known, None where all are. Unobserved entries take no part: they are neither ranked nor counted.

Ties: precision@k and nDCG@k are expectations over all orders of equal scores, so that the order of the labels in a
file never decides; a pair of equal scores counts one half in every AUC. For nDCG and AUC scikit-learn does the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Vector

Scores = Array | Callable[[slice], Array]

BLOCK_ENTRIES = 2**21
"""Scores that are computed at a time."""

SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
"""Below a score, and not above it: as numpy counts in `searchsorted`."""

THRESHOLDS = {"zero-one": 0.5, "signs": 0.0}
"""Where a score becomes a yes: half way between the two numbers by which a loss codes the labels."""


class Average(NamedTuple):
    """A mean over those rows or labels for which a measure exists, and how many they are (nan over none)."""

    value: float
    count: int  # type: ignore[assignment]


class _Block(NamedTuple):
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


def row_blocks(scores: Scores, n: int, L: int) -> Iterator[tuple[slice, Array]]:
    """Yield slices of the n rows, in order, with their scores (b, L)."""
    step = max(1, BLOCK_ENTRIES // max(L, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, rows_of(scores, rows)


def _blocks(scores: Scores, Y: csr_array, observed: csr_array | None) -> Iterator[_Block]:
    n, L = Y.shape
    Y = csr_array(Y, dtype=bool) if observed is None else csr_array(Y, dtype=bool).multiply(observed).tocsr()
    for rows, block in row_blocks(scores, n, L):
        if block.shape != (rows.stop - rows.start, L) or not np.isfinite(block).all():
            raise ValueError(f"scores of rows {rows.start}..{rows.stop - 1} must be {L} finite numbers a row")
        known = np.full(len(block), L)
        if observed is not None:
            block = np.where(observed[rows].toarray() != 0, block, np.inf)
            known = np.isfinite(block).sum(1)
        yield _Block(block, known, *Y[rows].nonzero())


def _grouped(groups: Indices, values: Array) -> Vector:
    """Return keys that sort by group and then by value: numpy orders complex numbers by their real part first."""
    keys = np.empty(len(values), dtype=complex)
    keys.real, keys.imag = groups, values
    return keys


def _expected_gain(block: _Block, discount: Array) -> Array:
    """Return a row's expected sum of discount[place] over its positives, equal scores being in random order.

    Only the first k = len(discount) places count: a positive that ties with places s..e-1 gains their mean discount.
    """
    scores = np.where(np.isinf(block.scores), -np.inf, block.scores)
    k = min(len(discount), scores.shape[1])
    top = -np.sort(np.partition(-scores, k - 1, axis=1)[:, :k], axis=1)
    total = np.concatenate([[0.0], np.cumsum(discount[:k])])
    positive = block.positive
    inside = positive >= top[block.rows, -1]
    rows, positive = block.rows[inside], positive[inside]
    ascending, keys = _grouped(np.repeat(np.arange(len(top)), k), top[:, ::-1].ravel()), _grouped(rows, positive)
    last, first = ((rows + 1) * k - np.searchsorted(ascending, keys, side) for side in SIDES)
    boundary = (scores == top[:, -1:]).sum(1)[rows]
    tied = np.where(positive == top[rows, -1], boundary, last - first)
    return np.bincount(rows, (total[last] - total[first]) / tied, minlength=len(scores)).astype(np.float64, copy=False)


def precision_at(
    scores: Scores, Y: csr_array, ks: Sequence[int] = (1, 3, 5), observed: csr_array | None = None
) -> dict[int, float]:
    """Return the share of positives among the k labels of highest score, averaged over all rows, for each k.

    The divisor is k for every row, also where fewer labels than k are known or positive.
    """
    totals = dict.fromkeys(ks, 0.0)
    for block in _blocks(scores, Y, observed):
        for k in totals:
            totals[k] += float(_expected_gain(block, np.ones(k)).sum())
    return {k: total / (k * Y.shape[0]) for k, total in totals.items()}


def ndcg_at(scores: Scores, Y: csr_array, k: int, observed: csr_array | None = None) -> float:
    """Return the discounted gain sum_i 1 / log2(1 + place) of the positives, relative to the best order, over all rows.

    A row without positives counts 0, as in scikit-learn.
    """
    k = min(k, Y.shape[1])
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.concatenate([[np.inf], np.cumsum(discount)])
    total = 0.0
    for block in _blocks(scores, Y, observed):
        positives = np.bincount(block.rows, minlength=len(block.scores))
        total += float((_expected_gain(block, discount) / ideal[np.minimum(positives, k)]).sum())
    return total / Y.shape[0]


def hamming(scores: Scores, Y: csr_array, threshold: float, observed: csr_array | None = None) -> float:
    """Return the share of known entries whose label differs from `score > threshold` (see THRESHOLDS)."""
    wrong = known = 0
    for block in _blocks(scores, Y, observed):
        truth = np.zeros(block.scores.shape, dtype=bool)
        truth[block.rows, block.columns] = True
        wrong += int((((block.scores > threshold) != truth) & np.isfinite(block.scores)).sum())
        known += int(block.observed.sum())
    return wrong / known if known else float("nan")


def instance_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the AUC within a row, averaged over the rows that have a positive and a negative, and their number."""
    total, count = 0.0, 0
    for block in _blocks(scores, Y, observed):
        n, L = block.scores.shape
        ascending = _grouped(np.repeat(np.arange(n), L), np.sort(block.scores, axis=1).ravel())
        keys = _grouped(block.rows, block.positive)
        below, reached = (np.searchsorted(ascending, keys, side) - block.rows * L for side in SIDES)
        wins = np.bincount(block.rows, (below + reached) / 2, minlength=n)
        positives = np.bincount(block.rows, minlength=n)
        areas = _areas(wins, positives, block.observed - positives)
        total, count = total + float(areas.sum()), count + len(areas)
    return Average(total / count if count else float("nan"), count)


def label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Average:
    """Return the AUC within a label (macro), averaged over the labels that have a positive and a negative."""
    areas = per_label_auc(scores, Y, observed)
    areas = areas[~np.isnan(areas)]
    return Average(float(areas.mean()) if len(areas) else float("nan"), len(areas))


def per_label_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> Array:
    """Return the AUC within each label (L,), nan for those that do not have a positive and a negative."""
    return _pooled(scores, Y, observed, lambda columns: columns, Y.shape[1])


def micro_auc(scores: Scores, Y: csr_array, observed: csr_array | None = None) -> float:
    """Return the AUC over all entries at once (micro); nan where all are of one kind."""
    return float(_pooled(scores, Y, observed, np.zeros_like, 1)[0])


def _pooled(
    scores: Scores, Y: csr_array, observed: csr_array | None, group: Callable[[Indices], Indices], groups: int
) -> Array:
    """Return the AUC of every group of columns, nan where it does not have both kinds.

    A first pass sorts the positives of each group, which are few; a second one counts, for every known entry, the
    positives above it, so that no more than a block of scores is in memory.
    """
    keys = [_grouped(group(block.columns), block.positive) for block in _blocks(scores, Y, observed)]
    ascending = np.sort(np.concatenate([np.empty(0, dtype=complex), *keys]))
    positives = np.bincount(ascending.real.astype(int), minlength=groups)
    starts = np.cumsum(positives) - positives
    wins, known = np.zeros(groups), np.zeros(groups, dtype=int)
    for block in _blocks(scores, Y, observed) if len(ascending) else ():
        rows, columns = np.nonzero(np.isfinite(block.scores))
        owner = group(columns)
        entries = _grouped(owner, block.scores[rows, columns])
        below = sum(np.searchsorted(ascending, entries, side) - starts[owner] for side in SIDES)
        wins += np.bincount(owner, positives[owner] - below / 2, minlength=groups)
        known += np.bincount(owner, minlength=groups)
    areas = np.full(groups, np.nan)
    areas[(positives > 0) & (known > positives)] = _areas(wins, positives, known - positives)
    return areas


def _areas(wins: Vector, positives: Indices, negatives: Indices) -> Array:
    """Return the areas where there are both kinds: pairs among positives, which `wins` holds too, count P^2 / 2."""
    both = (positives > 0) & (negatives > 0)
    P, N = positives[both].astype(np.float64), negatives[both]
    return (wins[both] - P**2 / 2) / (P * N)
