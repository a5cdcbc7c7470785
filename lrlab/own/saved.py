"""Writes what was recovered from own measurements: npz with all of it, or CSV with its table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab.arrays import Vector
from lrlab.lowrank import LowRank
from lrlab.own.files import Measurements
from lrlab.own.tables import OwnTableProblem
from lrlab.runs.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


def save(path: Path, trace: Trace, given: Measurements) -> None:
    """Write what a trace has recovered."""
    if path.suffix == ".csv":
        recovered_table(trace, given).to_csv(
            path, index=isinstance(trace.problem, OwnTableProblem) and bool(given.rows)
        )
        return
    what: Any = trace.estimate
    arrays: dict[str, Vector] = what._asdict() if isinstance(what, LowRank) else {"estimate": what}
    if isinstance(trace.problem, OwnTableProblem):
        arrays["completed"] = trace.problem.completed(what)
    if trace.intervals is not None:
        arrays |= {
            "low": trace.intervals.low,
            "high": trace.intervals.high,
            "standardised": trace.problem.standardised(what),
        }
    np.savez_compressed(path, allow_pickle=False, **arrays, names=np.array(given.names), rows=np.array(given.rows))


def recovered_table(trace: Trace, given: Measurements) -> "pd.DataFrame":
    """Return what a trace has recovered as a table.

    Of a direction: column, direction, the same in columns of deviation 1 in the rows that the solver was given, and
    the ends of its 95% interval there. Else the completed table, the matrix, the image, or the signal.
    """
    import pandas as pd

    problem: Any = trace.problem
    what: Any = trace.estimate
    if isinstance(problem, OwnTableProblem):
        completed = problem.completed(what)
        return pd.DataFrame(completed, index=list(given.rows) or None, columns=list(given.names) or None)
    if isinstance(what, LowRank):
        return pd.DataFrame(what.dense())
    if hasattr(problem, "frame"):
        return direction_table(trace, given)
    if np.ndim(what) == 2:
        return pd.DataFrame(np.abs(what))
    return pd.DataFrame({"real": np.real(what), "imaginary": np.imag(what)})


def direction_table(trace: Trace, given: Measurements) -> "pd.DataFrame":
    """Return the direction of one-bit answers, a row a column; one that does not vary is left out."""
    import pandas as pd

    problem: Any = trace.problem
    what: Any = trace.estimate
    names = given.names or tuple(str(place + 1) for place in range(len(what)))
    sizes: dict[str, Any] = {"direction": what, "standardised": problem.standardised(what)}
    if trace.intervals is not None:
        sizes |= {"low": trace.intervals.low, "high": trace.intervals.high}
    used = np.isfinite(sizes["standardised"])
    return pd.DataFrame({"column": names, **sizes})[used].reset_index(drop=True)
