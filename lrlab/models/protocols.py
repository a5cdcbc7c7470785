"""The data and sizes that solvers may read of a problem, per family of models; never the truth.

Arrays are read-only. `checkpoint(fraction)` reports progress inside an iteration and raises Interrupted to end the run.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from lrlab.arrays import Array, Matrix
from lrlab.losses import Loss
from lrlab.operators.entries import Entries
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


class BitEntries(Protocol):
    """Bits y (m,) in +-1 of entries of a matrix, y_ij = sign(M_ij + width e_ij).

    rank, trace_norm: of the matrix. largest: magnitude of its largest entry. likelihood: of a bit given its margin y_ij
    M_ij / width.
    """

    rank: int
    trace_norm: float
    largest: float
    width: float
    likelihood: Loss

    operator: Entries
    y: Array


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


class SignStream(LabelData, Protocol):
    """Batches of samples with signs of labels; as `LabelData` it is the first batch.

    size: (d1, d2), features and labels. fresh: whether every batch is new. signs_per_label: mean number of signs per
    label in a batch. batches: their numbers in order; blocks(batch): its samples in order; table(batch): all of them as
    `LabelData`.
    """

    size: tuple[int, int]
    fresh: bool
    signs_per_label: float

    batches: Iterator[int]

    def blocks(self, batch: int) -> Iterator[Any]: ...  # noqa: D102
    def table(self, batch: int) -> Any: ...  # noqa: D102
