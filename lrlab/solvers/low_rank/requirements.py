"""What several solvers of low-rank matrices require, and an option that they share."""

from functools import partial
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.models.low_rank import LowRankSpec
from lrlab.parameters import InputError, Parameter
from lrlab.solver_entry import Options, SolverEntry

Directions = Annotated[
    str,
    Parameter(
        meaning="conjugate: Polak-Ribiere combinations of projected or scaled gradients; gradient: these themselves",
        choices=("conjugate", "gradient"),
    ),
]


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


ranked_entry = partial(SolverEntry, oracle=("rank",), memory=0.6)
