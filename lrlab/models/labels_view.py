"""The first screen of labels: those of the first rows, and a verdict on a run beside label frequencies."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lrlab import ranking
from lrlab.arrays import Array
from lrlab.model_entry import Measured, Outcome, Panel
from lrlab.models.multilabel_problem import label_shares

ROWS, LABELS = 40, 60
"""Most rows and labels that are drawn."""
MOST_BYTES = 128 * 2**20
"""Of data that is drawn for a picture or for label frequencies."""


def measured_rows(spec: Any) -> Measured:
    """Return the labels of the first rows: 1, 0, or nothing where they are not observed."""
    entries = min(spec.observed_entries, spec.n * spec.labels)
    share = entries / (spec.n * spec.labels)
    words = f"{_unknowns(spec)} unknowns, {entries:,} labels: {'all' if share == 1 else f'{share:.2g} of all'}."
    if spec.data_bytes > MOST_BYTES:
        return Measured(words)
    values, _ = _first_look(spec)
    return Measured(f"{words} Blue: relevant, grey: not, empty: not observed.", [_rows_panel(values, "labels")])


def measured_signs(spec: Any) -> Measured:
    """Return the signs of the first samples."""
    signs = round(spec.signs_per_label * spec.d2)
    words = f"{_unknowns(spec)} unknowns, {signs:,} signs in a batch. Blue: 1, orange: −1."
    if spec.data_bytes > MOST_BYTES:
        return Measured(words)
    block = next(spec.build().blocks(0))
    few = min(ROWS, len(block.y))
    if block.labels is None:
        return Measured(words, [_rows_panel(block.y[:few, :LABELS], "bits")])
    values = np.full((few, spec.d2), np.nan)
    values[np.arange(few), block.labels[:few]] = block.y[:few]
    return Measured(words, [_rows_panel(values[:, :LABELS], "bits")])


def _unknowns(spec: Any) -> str:
    return f"{spec.rank * (sum(spec.size) - spec.rank):,}"


def _rows_panel(values: Array, scale: Any) -> Panel:
    return Panel(f"rows 1–{len(values)}, labels 1–{values.shape[1]}", values, scale)


def _corner(Y: csr_array, mask: csr_array | None) -> Array:
    values = Y[:ROWS, :LABELS].toarray().astype(float)
    if mask is not None:
        values[mask[:ROWS, :LABELS].toarray() == 0] = np.nan
    return values


def frequency_scores(spec: Any) -> dict[str, float]:
    """Return `precision_3` and `hamming` of label frequencies alone; nothing where the data is large."""
    return {} if spec.data_bytes > MOST_BYTES else _first_look(spec)[1]


@lru_cache(maxsize=32)
def _first_look(spec: Any) -> tuple[Array, dict[str, float]]:
    """Return the labels of the first rows, and the scores of label frequencies: the data is drawn once for both."""
    problem = spec.build()
    scores = np.broadcast_to(label_shares(problem.Y, problem.mask), problem.Y_test.shape)
    alone = ranking.row_measures(scores, problem.Y_test, ranking.THRESHOLDS["zero-one"], precisions=(3,))
    return _corner(problem.Y, problem.mask), alone


def _beside_frequencies(spec: Any, outcomes: Sequence[Outcome], name: str, title: str, *, largest: bool) -> str:
    """Return the best score beside that of label frequencies alone, or of the commoner sign of each label."""
    scored = [one for one in outcomes if name in one.scores]
    alone = frequency_scores(spec).get(name)
    words = f"label frequencies alone give {title} {alone:.2g}" if alone is not None else ""
    if not scored:
        return f"{words[:1].upper()}{words[1:]}." if words else ""
    best = (max if largest else min)(scored, key=lambda one: one.scores[name])
    running = "" if all(one.over for one in outcomes) else "Running, "
    result = f"{title} {best.scores[name]:.2g} {best.course}"
    result = running + result if running else f"{result[:1].upper()}{result[1:]}"
    return f"{result}{'; ' if words else ''}{words}."


verdict_rows = partial(_beside_frequencies, name="precision_3", title="precision@3", largest=True)
verdict_signs = partial(_beside_frequencies, name="hamming", title="Hamming loss", largest=False)
