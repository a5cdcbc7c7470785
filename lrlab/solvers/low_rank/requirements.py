"""Memory that several solvers of low-rank matrices need beyond the data, and an option that they share."""

from functools import partial
from typing import Annotated

from lrlab.models.low_rank import LowRankSpec
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
