"""The first screen of matrix models: pictures of measurements, matrices and labels, and verdicts on a run."""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import THRESHOLDS, LowRank, rows_of
from lrlab.model_entry import Goal, Measured, Outcome, recovery
from lrlab.models import ranking
from lrlab.models.low_rank_problem import RECOVERED
from lrlab.models.pictures import digit, picture
from lrlab.operators.dense import Dense
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError
from lrlab.protocol import View

NAMED = 12
"""Named rows and columns in the picture of a matrix."""
PERSONS = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gro", "Hugo", "Ines", "Jon", "Kim", "Lea")
FILMS = (
    "Moonbase",
    "Two Weddings",
    "Cold Harbour",
    "Star Freight",
    "The Wrong Aunt",
    "Nine Alibis",
    "Red Comet",
    "Late for Lunch",
    "The Gray Clerk",
    "Orbit Zero",
    "Hotel Laughter",
    "No Witness",
)
"""Invented, as the users are."""
CELLS, REACH, COLORS = 48, 2.0, 8
"""Map of labels: cells along a side, standard deviations from its middle to its edge, and number of colors."""
LABEL_MAP = "A map of labels: colors show the label with the highest score at each point of a plane of features."
ROWS, LABELS = 40, 60
"""Largest numbers of rows and labels in a figure."""
MOST_BYTES = 128 * 2**20
"""Largest data set that lrlab simulates for a picture or for the label-prevalence baseline."""


@lru_cache(maxsize=4)
def factors_of(spec: Any) -> LowRank:
    """Return the truth of a spec, drawn once for all figures of a run."""
    truth: LowRank = spec.factors()
    return truth


def grey_matrix(name: str, size: tuple[int, int], rank: int) -> LowRank:
    """Return the rank-k matrix nearest to an image, of Frobenius norm 1; InputError if the image has a smaller rank."""
    rows, columns = size
    if rows != columns or rows < 4:
        raise InputError("d2", f"d1 = {rows}, 4 or more, if the signal is an image", columns, "take d1 = d2")
    W = lowrank.from_dense(picture(name, rows), rank)
    if W.s[-1] < 1e-6 * W.s[0]:
        raise InputError("rank", "at most the rank of the image", rank, "lower the rank, or choose another image")
    return W._replace(s=W.s / np.linalg.norm(W.s))


def grey_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return a matrix as gray levels, black at 0 and white at the largest entry of the truth."""
    largest, shown = float((truth.left @ truth.V.T).max()), truth if estimate is None else estimate
    return View(np.clip(shown.left @ shown.V.T / largest, 0.0, 1.0), "gray")


def digits(p: int, r: int) -> Array:
    """Return r orthonormal columns (p, r), the nearest ones to the first r centered digits."""
    side = math.isqrt(p)
    if side * side != p or not 4 <= side <= 64 or r > 10:
        expected = "the square of a side in 4..64, and r at most 10, if the weights are digits"
        raise InputError("p", expected, f"{p}, and r = {r}", "take p = 64 and r = 5")
    units = np.stack([digit(k, side).ravel() for k in range(r)], axis=1)
    U, _, Vt = np.linalg.svd(units - units.mean(axis=0), full_matrices=False)
    return U @ Vt


def units_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return L w / alpha for the true hidden units w of a symmetric matrix L, side by side; w for the truth."""
    shown = truth if estimate is None else estimate
    images = shown.left @ (shown.V.T @ truth.U) / truth.s
    side = math.isqrt(len(images))
    wide = math.ceil(math.sqrt(images.shape[1]))
    high = math.ceil(images.shape[1] / wide)
    board = np.full((high * (side + 1) - 1, wide * (side + 1) - 1), np.nan)
    for k, image in enumerate(images.T):
        row, column = k // wide * (side + 1), k % wide * (side + 1)
        board[row : row + side, column : column + side] = image.reshape(side, side)
    return View(board, "signed")


def table_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return the first rows and columns of a matrix with names."""
    shown = truth if estimate is None else estimate
    values = shown.left[:NAMED] @ shown.V[:NAMED].T
    return View(values, "signed", PERSONS[: len(values)], FILMS[: values.shape[1]])


@lru_cache(maxsize=16)
def _plane(spec: Any, constant: bool) -> tuple[LowRank, Array]:
    W, axis = spec.truth(), np.linspace(-REACH, REACH, CELLS)
    across, up = np.meshgrid(axis, axis[::-1])
    X = np.stack([across.ravel(), up.ravel()], axis=1) @ W.U[:, :2].T
    if constant:
        X[:, 0] = 1.0
    return W, X


def label_map(spec: Any, estimate: LowRank | None, *, constant: bool) -> View | None:
    """Return the label with the highest score at each point of the plane of the two strongest directions of features.

    constant: whether the first feature is 1. None without two directions, or with more than 2,000 features: it takes
    long.
    """
    if spec.rank < 2 or spec.size[0] > 2000:
        return None
    W, X = _plane(spec, constant)
    scores = rows_of((W if estimate is None else estimate).scores(X), slice(None))
    return View((scores.argmax(axis=1) % COLORS).reshape(CELLS, CELLS).astype(float), "kinds")


def measured_matrix(spec: Any) -> Measured:
    """Return the first measurement of a spec, or a corner of a partially observed matrix."""
    unknowns = f"{spec.degrees_of_freedom:,} degrees of freedom"
    if any(spec.table):
        (rows, columns), m = spec.table, spec.measurements
        words = f"{unknowns}, {m:,} values: {m / (rows * columns):.2g} of the {rows:,} × {columns:,} entries."
        if spec.data_bytes > MOST_BYTES:
            return Measured(words)
        problem = spec.build()
        return Measured(words, corner(problem.operator, problem.b, "observed"))
    words = f"{unknowns}, {spec.measurements:,} values; the image shows one of them."
    one = spec.replace(m=1)
    return Measured(words, _products(one.build()) if one.data_bytes <= MOST_BYTES else {})


def _products(problem: Any, side: int = 48) -> dict[str, View]:
    """Return the first measurement and the ground truth, at most `side` rows and columns of each."""
    operator, W, b = problem.operator, problem.truth, float(problem.b[0])
    rows, columns = (np.linspace(0, size - 1, min(size, side)).round().astype(int) for size in W.shape)
    if isinstance(operator, Dense):
        measurement, name = operator.A[0][np.ix_(rows, columns)], "A₁"
    else:
        measurement = np.outer(operator.X[0][rows], operator.Y[0][columns])
        name = "x₁x₁ᵀ" if operator.symmetric else "x₁y₁ᵀ"
    unknown = "L" if operator.symmetric else "W"
    words = f"{name}, and ⟨{name}, {unknown}⟩ = {b:.3g}".replace("-", "−")
    return {words: View(measurement), unknown: View(W.left[rows] @ W.V[columns].T)}


def corner(operator: Entries, values: Array, name: str, scale: Any = "signed", side: int = 80) -> dict[str, View]:
    """Return the observed entries in at most the first `side` rows and columns of a matrix, by their title."""
    high, wide = (min(size, side) for size in operator.table)
    inside = (operator.rows < high) & (operator.columns < wide)
    table = np.full((high, wide), np.nan)
    table[operator.rows[inside], operator.columns[inside]] = values[inside]
    return {f"{name} in rows 1–{high}, columns 1–{wide}": View(table, scale)}


GOAL = Goal("weakest_error", RECOVERED, noises=3.0)
"""Success with noise: no estimate is more accurate than its data."""


def verdict_matrix(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover W, and the number of measurements per degree of freedom."""
    m, unknowns = spec.measurements, spec.degrees_of_freedom
    counted = f"{m:,} measurements for {unknowns:,} degrees of freedom, {m / unknowns:.3g} for each"
    if m < unknowns:
        counted += ", too few to determine it"
    level = GOAL.level(float(getattr(spec, "noise", 0.0)))
    return recovery(outcomes, "matrix", GOAL.metric, level, counted)


def measured_rows(spec: Any) -> Measured:
    """Return the labels of the first rows: 1, 0, or nan if unobserved."""
    entries = min(spec.observed_entries, spec.n * spec.labels)
    share = entries / (spec.n * spec.labels)
    words = (
        f"{_unknowns(spec)} degrees of freedom, {entries:,} labels: {'all' if share == 1 else f'{share:.2g} of all'}."
    )
    if spec.data_bytes > MOST_BYTES:
        return Measured(words)
    values, _ = _first_look(spec)
    return Measured(f"{words} Blue: relevant, gray: not, empty: not observed.", _rows(values, "labels"))


def measured_signs(spec: Any) -> Measured:
    """Return the signs of the first samples."""
    signs = round(spec.signs_per_label * spec.d2)
    words = f"{_unknowns(spec)} degrees of freedom, {signs:,} signs in a batch. Blue: 1, orange: −1."
    if spec.data_bytes > MOST_BYTES:
        return Measured(words)
    block = next(spec.build().blocks(0))
    few = min(ROWS, len(block.y))
    if block.labels is None:
        return Measured(words, _rows(block.y[:few, :LABELS], "bits"))
    values = np.full((few, spec.d2), np.nan)
    values[np.arange(few), block.labels[:few]] = block.y[:few]
    return Measured(words, _rows(values[:, :LABELS], "bits"))


def _unknowns(spec: Any) -> str:
    return f"{spec.rank * (sum(spec.size) - spec.rank):,}"


def _rows(values: Array, scale: Any) -> dict[str, View]:
    return {f"rows 1–{len(values)}, labels 1–{values.shape[1]}": View(values, scale)}


def frequency_scores(spec: Any) -> dict[str, float]:
    """Return `precision_3` and `hamming` of the label-prevalence baseline; nothing for large data."""
    return {} if spec.data_bytes > MOST_BYTES else _first_look(spec)[1]


@lru_cache(maxsize=32)
def _first_look(spec: Any) -> tuple[Array, dict[str, float]]:
    """Return the labels of the first rows and the metrics of the baseline from one simulation."""
    problem = spec.build()
    scores = np.broadcast_to(ranking.label_shares(problem.Y, problem.mask), problem.Y_test.shape)
    alone = ranking.row_measures(scores, problem.Y_test, THRESHOLDS["zero-one"], precisions=(3,))
    values = problem.Y[:ROWS, :LABELS].toarray().astype(float)
    if problem.mask is not None:
        values[problem.mask[:ROWS, :LABELS].toarray() == 0] = np.nan
    return values, alone


def _beside_frequencies(spec: Any, outcomes: Sequence[Outcome], name: str, title: str, *, largest: bool) -> str:
    """Return the best metric, and that metric for the label-prevalence baseline."""
    scored = [one for one in outcomes if name in one.scores]
    alone = frequency_scores(spec).get(name)
    words = f"the label-prevalence baseline gives {title} {alone:.2g}" if alone is not None else ""
    if not scored:
        return f"{words[:1].upper()}{words[1:]}." if words else ""
    best = (max if largest else min)(scored, key=lambda one: one.scores[name])
    running = "" if all(one.over for one in outcomes) else "Running, "
    result = f"{title} {best.scores[name]:.2g} {best.course}"
    result = running + result if running else f"{result[:1].upper()}{result[1:]}"
    return f"{result}{'; ' if words else ''}{words}."


verdict_rows = partial(_beside_frequencies, name="precision_3", title="precision@3", largest=True)
verdict_signs = partial(_beside_frequencies, name="hamming", title="Hamming loss", largest=False)
