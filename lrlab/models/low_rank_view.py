"""The first screen of low-rank matrices: one measurement, or the table's observed entries, and a verdict on a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lrlab.model_entry import Measured, Outcome, Panel, recovery
from lrlab.operators.dense import Dense
from lrlab.operators.entries import Entries

SIDE, TABLE_SIDE = 48, 80
"""Most rows and columns of a matrix, and of a table, that are drawn."""
MOST_BYTES = 128 * 2**20
"""Of data that is drawn for a picture."""
RECOVERED = 0.05
"""Relative spectral error below which W counts as recovered."""


def measured(spec: Any) -> Measured:
    """Return the first measurement of a spec, or, of a table, a corner of it."""
    unknowns = f"{spec.degrees_of_freedom:,} unknowns"
    if hasattr(spec, "table"):
        (rows, columns), m = spec.table, spec.measurements
        words = f"{unknowns}, {m:,} numbers: {m / (rows * columns):.2g} of the {rows:,} × {columns:,} entries."
        return Measured(words, _corner(spec) if spec.data_bytes <= MOST_BYTES else ())
    words = f"{unknowns}, {spec.measurements:,} numbers; the picture shows one of them."
    one = spec.replace(m=1)
    return Measured(words, _products(one.build()) if one.data_bytes <= MOST_BYTES else ())


def _products(problem: Any) -> list[Panel]:
    operator, W, b = problem.operator, problem.truth, float(problem.b[0])
    rows, columns = (np.linspace(0, size - 1, min(size, SIDE)).round().astype(int) for size in W.shape)
    symmetric = getattr(operator, "symmetric", False)
    name = "L" if symmetric else "W"
    truth = W.left[rows] @ W.V[columns].T
    if isinstance(operator, Dense):
        return [Panel(f"A₁, and ⟨A₁, W⟩ = {b:.3g}", operator.A[0][np.ix_(rows, columns)]), Panel("W", truth)]
    result = f"x₁ᵀ {name} {'x' if symmetric else 'y'}₁ = {b:.3g}"
    return [
        Panel("x₁", operator.X[0][rows, None], place="left"),
        Panel("x₁" if symmetric else "y₁", operator.Y[0][None, columns], place="top"),
        Panel(result, truth),
    ]


def _corner(spec: Any) -> list[Panel]:
    problem = spec.build()
    operator: Entries = problem.operator
    high, wide = (min(size, TABLE_SIDE) for size in spec.table)
    inside = (operator.rows < high) & (operator.columns < wide)
    values = np.full((high, wide), np.nan)
    values[operator.rows[inside], operator.columns[inside]] = problem.b[inside]
    return [Panel(f"observed in rows 1–{high}, columns 1–{wide}", values)]


def verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover W, and how many measurements there are for each degree of freedom."""
    m, unknowns = spec.measurements, spec.degrees_of_freedom
    counted = f"{m:,} numbers for {unknowns:,} unknowns, {m / unknowns:.3g} times the degrees of freedom"
    if m < unknowns:
        counted += ", too few for any method"
    return recovery(outcomes, "matrix", "spectral_error", RECOVERED, counted)
