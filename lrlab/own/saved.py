"""Writes what was recovered from own measurements: npz with all of it, or CSV with its table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab.arrays import Array, Vector
from lrlab.linalg import unit
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
    what: Any = trace.recovered
    estimate: Any = trace.estimate
    arrays: dict[str, Vector] = what._asdict() if isinstance(what, LowRank) else {"estimate": what}
    if isinstance(trace.problem, OwnTableProblem):
        arrays["completed"] = trace.problem.completed(estimate)
    if trace.intervals is not None:
        arrays |= {"low": trace.intervals.low, "high": trace.intervals.high, "standardised": unit(estimate)}
    np.savez_compressed(path, allow_pickle=False, **arrays, names=np.array(given.names), rows=np.array(given.rows))


def recovered_table(trace: Trace, given: Measurements) -> "pd.DataFrame":
    """Return what a trace has recovered as a table.

    Of a direction: column, direction in units of standard deviations (of other frames: in those of the frame), the ends
    of its 95% interval where there are such. Else the completed table, the matrix, the image, or the signal.
    """
    import pandas as pd

    problem: Any = trace.problem
    what: Any = trace.recovered
    estimate: Any = trace.estimate
    if isinstance(problem, OwnTableProblem):
        completed = problem.completed(estimate)
        return pd.DataFrame(completed, index=list(given.rows) or None, columns=list(given.names) or None)
    if isinstance(what, LowRank):
        return pd.DataFrame(what.dense())
    if hasattr(problem, "frame"):
        return direction_table(trace, given)
    if np.ndim(what) == 2:
        return pd.DataFrame(np.abs(what))
    return pd.DataFrame({"real": np.real(what), "imaginary": np.imag(what)})


def direction_table(trace: Trace, given: Measurements) -> "pd.DataFrame":
    """Return the direction of one-bit answers, a row a column that varies."""
    import pandas as pd

    what: Any = trace.recovered
    estimate: Any = trace.estimate
    names = given.names or tuple(str(place + 1) for place in range(len(what)))
    used = np.abs(trace.problem.frame.T).sum(axis=1) > 0
    columns: dict[str, Array | list[str]] = {
        "column": [name for name, use in zip(names, used, strict=True) if use],
        "direction": what[used],
    }
    if trace.job.spec.values()["scaling"] != "whitened":
        columns["standardised"] = unit(estimate)
        if trace.intervals is not None:
            columns |= {"low": trace.intervals.low, "high": trace.intervals.high}
    return pd.DataFrame(columns)
