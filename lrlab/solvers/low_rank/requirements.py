"""Memory that several solvers of low-rank matrices need beyond the data, and an option that they share."""

from functools import partial
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.table_spec import TableSpec
from lrlab.parameters import InputError, Parameter
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank.starts import DEPTH, FORMED, OVERSAMPLED
from lrlab.solvers.methods.matrix_memory import block_bytes, image_rows, number_bytes

Directions = Annotated[
    str,
    Parameter(
        meaning="conjugate: Polak-Ribiere combinations of projected or scaled gradients; gradient: these themselves",
        choices=("conjugate", "gradient"),
    ),
]

BLOCK_BYTES = 2**25
"""Most memory of row blocks of the data that are weighted or multiplied."""


def factors_workspace(spec: LowRankSpec, options: Options) -> int:
    """Return bytes of a dozen images and factors of the estimate, and of matrices of the size of the truth."""
    rows = image_rows(spec) + sum(spec.size)
    return block_bytes(spec, BLOCK_BYTES) + number_bytes(spec) * (12 * spec.given_rank * rows + 8 * spec.measurements)


def moment_workspace(spec: LowRankSpec, options: Options) -> int:
    """Return bytes of the images, and of a matrix d1 x d2 that is formed and decomposed, or of its Krylov space."""
    d1, d2 = spec.size
    krylov = 2 * (spec.given_rank + OVERSAMPLED) * DEPTH * (d1 + d2)
    whole = d1 * d2 <= FORMED or spec.values().get("operator") == "dense"
    return factors_workspace(spec, options) + number_bytes(spec) * (6 * d1 * d2 if whole else krylov)


def decomposed_workspace(spec: TableSpec, options: Options) -> int:
    """Return bytes of tables of intermediate rank, decomposed whole where they are small."""
    n1, n2 = spec.table
    return block_bytes(spec, BLOCK_BYTES) + 64 * spec.measurements + 8 * 8 * min(n1 * n2, 400 * (n1 + n2))


def penalty_note(option: str, weight: float, unit: str, rest: Array, b: Array) -> str:
    """Return what a penalty is and what it leaves of the entries, rest = A(W) - b, in one sentence."""
    left = np.linalg.norm(rest) / (np.linalg.norm(b) or 1.0)
    words = f"The minimum is that with the penalty {option} = {weight:g}{unit}"
    return f"{words}: it leaves a misfit of {left:.2g}, noise among it; a smaller {option} leaves less."


def refuse_features(spec: LowRankSpec, options: Options) -> None:
    """Refuse tables with features, which these solvers do not use."""
    if (got := spec.values().get("features")) == "canonical":
        return
    what = "for this solver, which completes a table without features"
    if spec.drawn:
        raise InputError(
            "features", f"canonical {what}", got, "set features=canonical, or take altmin, which uses features"
        )
    raise InputError("X and Z", f"left out {what}", "features", "leave them out, or take altmin, which uses them")


ranked_entry = partial(SolverEntry, knows=("rank",), workspace=moment_workspace)
