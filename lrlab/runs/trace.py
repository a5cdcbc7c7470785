"""The trace of a run: scores of its iterates, a thinned history of estimates, and why it ended."""

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab.arrays import Intervals
from lrlab.catalog import family
from lrlab.linalg import unit
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, counted
from lrlab.protocol import Estimate, Iterate, Stop, parts
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.solvers.single_index.index_links import IndexLink

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, float]

MAX_ESTIMATES = 200
MEAN = "predicted_overlap"
"""Name of the mean overlap over draws of problems of this size."""


def single(estimate: Estimate) -> Estimate:
    """Return the estimate in single precision: enough for figures, at half the memory."""
    with np.errstate(over="ignore"):
        half = [part.astype(np.complex64 if np.iscomplexobj(part) else np.float32) for part in parts(estimate)]
    for part in half:
        if not np.isfinite(part).all():
            # Of an estimate that diverges: its largest entries stay finite.
            np.nan_to_num(part, copy=False)
    return type(estimate)(*half) if isinstance(estimate, tuple) else half[0]


@dataclass(repr=False)
class Trace:
    """The results of one run.

    rows: one per iterate: iteration, seconds (solver time), objective, residual (nan if the solver has none) and the
    problem's scores. history: (iteration, estimate) of at most 200 iterates, evenly thinned, in single precision.
    stop: why it ended. note: a decision of the solver. intervals: of the entries of the estimate, scaled to unit
    length, if the solver has them. seconds: how long a run took that ended before its first iterate.
    """

    job: Job
    rows: list[Row] = field(default_factory=list)
    history: list[tuple[int, Estimate]] = field(default_factory=list)
    estimate: Estimate | None = None
    stop: Stop | None = None
    note: str = ""
    stride: int = 1
    intervals: Intervals | None = None
    seconds: float = 0.0

    def record(self, row: Row, iterate: Iterate, intervals: Intervals | None) -> None:
        """Add an iterate."""
        self.rows.append(row)
        self.estimate, self.intervals = iterate.estimate, intervals
        self.note = " ".join(part for part in (iterate.note, intervals.note if intervals else "") if part)
        iteration = int(row["iteration"])
        if self.job.spec.watched and (iteration - 1) % self.stride == 0:
            self.history.append((iteration, single(iterate.estimate)))
        if len(self.history) > MAX_ESTIMATES:
            self.history, self.stride = self.history[::2], 2 * self.stride

    def __repr__(self) -> str:
        """Return solver, model, error and ending in one line."""
        last, goal = self.rows[-1] if self.rows else {}, family(self.job.spec.model).goal.metric
        name = "error" if "error" in last else goal
        scored = f"{name} {last[name]:.3g}, " if name in last else ""
        scored += counted(self.iterations, "iteration")
        return f"<Trace of {self.job.solver} on {self.job.spec!r}: {scored}. {self.ending}>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the problem, which is built anew from its spec."""
        return {name: value for name, value in vars(self).items() if name != "problem"}

    @property
    def iterations(self) -> int:
        """Number of the last iterate that was scored; 0 before the first."""
        return int(self.rows[-1]["iteration"]) if self.rows else 0

    @property
    def table(self) -> "pd.DataFrame":
        """The rows as a table."""
        # Imported on first use: the shell and the workers do without its 60 MB.
        import pandas as pd

        return pd.DataFrame(self.rows)

    @cached_property
    def problem(self) -> Any:
        """The problem, built anew from its spec."""
        return self.job.spec.build()

    @property
    def recovered(self) -> Any:
        """The estimate, by its name in older scripts."""
        return self.estimate

    @property
    def link(self) -> IndexLink:
        """The link along the estimate of a single-index model: `table`, a curve with its band, and `log_odds(X)`."""
        if not isinstance(self.job.spec, SingleIndexSpec) or self.estimate is None:
            raise InputError("link", "that of a direction", self.job.spec.model, "take a single-index model")
        # An estimate on your data is in the units of the given rows.
        rows = getattr(self.problem, "given", self.problem.X)
        return IndexLink.fitted(rows, self.problem.y, self.estimate)

    @property
    def metrics(self) -> Row:
        """The scores of the last iterate, and the predictions of theory."""
        last = self.rows[-1] if self.rows else {}
        scores = {k: v for k, v in last.items() if k not in ("iteration", "seconds")}
        return {**scores, **theory.predictions(self.job)}

    @property
    def ending(self) -> str:
        """The sentence of the stop, without the advice to go on if theory knows that this leads nowhere."""
        if own := self.job.spec.ending(self.stop):
            return own
        limited, unknowns = self.stop is Stop.MAX_ITER, self.job.spec.degrees_of_freedom
        of_sizes = theory.predictions(self.job, sampled=False) if limited else {}
        if of_sizes.get("limit_overlap") == 0.0:
            # Small problems are often recovered far below the threshold of large ones.
            here = f"; at this n and p it is {of_sizes[MEAN]:.2g} on average" if MEAN in of_sizes else ""
            words = f"at this n/p, since the overlap of this method tends to 0 asymptotically{here}"
            return f"Stopped at the iteration limit. More iterations do not help {words}."
        if limited and self.job.spec.measurements < unknowns:
            return (
                "Stopped at the iteration limit. More iterations do not help: the data do not determine the estimate."
            )
        if self.stop is Stop.TIMEOUT and not self.rows:
            ran = f"after {self.seconds:.3g} s, before the first iterate"
            return str(self.stop.value).replace("at the time limit", f"at the time limit {ran}")
        return self.stop.value if self.stop else ""

    @property
    def swing(self) -> str:
        """A sentence if the error rose to more than three times its least value before, and later fell by half."""
        errors = np.array([row.get("error", np.nan) for row in self.rows])
        before, after = np.fmin.accumulate(errors), np.fmin.accumulate(errors[::-1])[::-1]
        # Small errors rise and fall by rounding, which misleads nobody.
        rose = np.where((errors > 3.0 * before) & (errors > 0.1) & (after < errors / 2.0), errors, 0.0)
        if not rose.any():
            return ""
        at = int(np.argmax(rose))
        iteration = self.rows[at]["iteration"]
        return f"The error rose from {before[at]:.2g} to {errors[at]:.2g} at iteration {iteration:.0f}, and fell again."

    def figure(self, measure: str = "", time: str = "iteration", *, log_x: bool = False, log_y: bool = True) -> Any:
        """Return the figure of a metric of this run, with theory; see `lrlab.compare`."""
        # By its public name: figures stand above runs.
        return import_module("lrlab").compare([self], measure, time, log_x=log_x, log_y=log_y)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        return import_module("lrlab").mimebundle(self)

    def summary(self) -> dict[str, Any]:
        """Return all of it as plain values, as `solve --json` prints it."""
        spec = self.job.spec
        said = self.ending, self.note, self.swing, spec.remark, spec.judgement(self.rows[-1] if self.rows else {})
        return {
            "model": spec.model,
            "spec": spec.public_values(),
            "solver": self.job.solver,
            "options": {**dict(self.job.options), **self.job.limits._asdict()},
            "stop": self.stop.name if self.stop else None,
            "message": " ".join(part for part in said if part),
            "iterations": len(self.rows),
            "seconds": self.rows[-1]["seconds"] if self.rows else self.seconds,
            "metrics": self.metrics,
            **({"intervals": self.interval_rows} if self.intervals else {}),
            "trace": self.rows,
        }

    @property
    def interval_rows(self) -> list[dict[str, float | None]]:
        """The last estimate, scaled to unit length, entry by entry, with the ends of its 95% interval or None.

        Of your data: the direction in columns of standard deviation 1 in these rows.
        """
        if self.intervals is None or self.estimate is None:
            return []
        entries = unit(self.estimate) if self.job.spec.synthetic else self.problem.standardized(self.estimate)
        return [
            {"estimate": float(b), "low": float(low), "high": float(high)}
            if np.isfinite(low)
            else {"estimate": float(b), "low": None, "high": None}
            for b, low, high in zip(entries, *self.intervals[:2], strict=True)
        ]
