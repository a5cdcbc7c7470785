"""What solvers share that complete a matrix with missing entries without features, some of them by a penalty."""

from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.solver_entry import Options


def penalty_note(option: str, weight: float, unit: str, rest: Array, b: Array) -> str:
    """Return one sentence on a penalty and the residual norm that it leaves, rest = A(W) - b."""
    left = np.linalg.norm(rest) / (np.linalg.norm(b) or 1.0)
    words = f"This is the minimum with the penalty {option} = {weight:g}{unit}"
    return f"{words}: it leaves a relative residual norm of {left:.2g}, noise among it; a smaller {option} leaves less."


def refuse_features(spec: Any, options: Options) -> None:
    """Refuse a matrix with features, which these solvers do not use."""
    if (got := spec.values().get("features")) == "canonical":
        return
    what, other = "for this solver, which completes a table without features", "or take altmin, which uses"
    if spec.synthetic:
        raise InputError("features", f"canonical {what}", got, f"set features=canonical, {other} features")
    raise InputError("X and Z", f"left out {what}", "features", f"leave them out, {other} them")
