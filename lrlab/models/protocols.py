"""The data and sizes that solvers may read of a problem, per family of models; never the truth.

Families of one model have no class here: their problem lists what solvers may read.

Arrays are read-only. `checkpoint(fraction)` reports progress inside an iteration and raises Interrupted to end the run.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from lrlab.arrays import Array, Matrix
from lrlab.operators.operator import Operator
from lrlab.protocol import Checkpoint


class SingleIndexData(Protocol):
    """One-bit responses y (n,) in +-1 to measurement vectors X (n, p).

    sparsity: number of non-zero entries of the signal. link: the link function, for solvers that declare it as oracle
    information. contrasts: see `protocol.Problem`. blocks(): (X_k, y_k) in order, for solvers that stream.
    """

    shape: tuple[int, int]
    sparsity: int
    link: Any
    contrasts: Array | None
    checkpoint: Checkpoint

    X: Array
    y: Array

    def blocks(self) -> Iterator[tuple[Array, Array]]: ...  # noqa: D102


class LowRankData(Protocol):
    """Measurements b (m,) of a matrix by a linear operator, and the rank of the matrix."""

    rank: int

    operator: Operator
    b: Array


class PhaseData(Protocol):
    """Magnitudes (m,) or intensities, their squares, of projections A x, A (m, p); data: "magnitude" or "intensity".

    A: an array, or an operator with its products (`operators.coded`).
    noise: its standard deviation, for solvers that declare it as oracle information. y: the measurements.
    counted: whether intensities are photon counts, up to a factor.
    """

    shape: tuple[int, int]
    data: str
    counted: bool
    noise: float
    checkpoint: Checkpoint

    A: Any
    y: Array
    magnitude: Array
    intensity: Array


class LabelData(Protocol):
    """Features X (n, d) and labels Y (n, L), 0 or 1 and sparse; mask: the pattern of observed labels, None for all.

    rank: rank of the linear predictor, for solvers that use it. intercept: whether each label gets one.
    """

    rank: int

    intercept: bool
    X: Matrix
    Y: Matrix
    mask: Matrix | None
