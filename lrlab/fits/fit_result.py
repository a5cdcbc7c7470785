"""The result of a fit: the scores of every iterate, the last estimate, and why it ended."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.fits.given import run_given
from lrlab.parameters import require_known
from lrlab.protocol import Iterate, Limits, Stop
from lrlab.solver_entry import SolverEntry

Row = dict[str, float]
TIMES = ("iteration", "seconds")
MOST_MARKERS = 40
CHOSEN = "Ended after as many iterations as were chosen on held-out data."
LIMIT = "Stopped at the limit of iterations: raise it where scores still improve."
"""What is said of a limit of fits, which need not go on until a tolerance is reached."""
Following = Callable[[int, int, float], None]
"""Called after each iteration with its number, the most iterations, and the seconds since the first began."""


@dataclass(kw_only=True)
class FitResult:
    """One row per iteration (iteration, seconds, scores), the last estimate, and why it ended."""

    solver: str
    options: Mapping[str, Any]
    rows: list[Row] = field(default_factory=list, repr=False)
    estimate: Any = field(default=None, repr=False)
    stop: Stop | None = None
    notes: tuple[str, ...] = ()

    def fill(
        self,
        problem: Any,
        entry: SolverEntry,
        options: Mapping[str, Any],
        ending: Limits,
        seed: int,
        following: Following = lambda iteration, iterations, seconds: None,
    ) -> None:
        """Run a solver to its end, with the scores of each iterate."""
        started = time.perf_counter()

        def watch(row: Row, iterate: Iterate) -> None:
            following(int(row["iteration"]), ending.max_iter, time.perf_counter() - started)

        trace = run_given(problem, entry, options, ending, seed, watch)
        own = ("objective", "residual")
        self.rows = [{name: value for name, value in row.items() if name not in own} for row in trace.rows]
        self.estimate, self.stop = trace.estimate, trace.stop

    def figure(self, measure: str = "") -> Any:
        """Return the figure of a score over the iterations, by default of the first one: a figure of plotly.

        InputError where there is no such score.
        """
        return self._curve(measure).readable()

    def _curve(self, measure: str = "") -> Figure:
        scores = tuple(name for name in (self.rows or [{}])[-1] if name not in TIMES)
        require_known(measure or next(iter(scores), ""), scores, what="measure")
        shown = measure or scores[0]
        figure = Figure().add_scatter(
            x=[row["iteration"] for row in self.rows],
            y=[row[shown] for row in self.rows],
            mode="lines+markers" if len(self.rows) < MOST_MARKERS else "lines",
            name=self.solver,
        )
        return theme.style(figure, "iteration", shown)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> dict[str, Any]:
        last = (self.rows or [{}])[-1]
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in last.items() if name not in TIMES)
        remarks = " ".join((self.message, str(self.extra_values.get("remark", "")), *self.notes))
        words = f"{self.solver}: {numbers or 'no test rows'}", remarks
        return {"text/plain": " ".join(words), **(self._curve().mimebundle(*words) if numbers else {})}

    def summary(self) -> dict[str, Any]:
        """Return it as plain values, as `fit --json` prints it: the scores of the last iteration, and all of them."""
        last = self.rows[-1] if self.rows else {}
        return {
            "solver": self.solver,
            "options": dict(self.options),
            **{name: value for name, value in last.items() if name != "iteration"},
            **self.extra_values,
            **({"notes": list(self.notes)} if self.notes else {}),
            "iterations": len(self.rows),
            "stop": self.stop.name if self.stop else None,
            "message": self.message,
            "trace": self.rows,
        }

    @property
    def chosen(self) -> bool:
        """Whether held-out data chose the iterations."""
        return False

    @property
    def message(self) -> str:
        """Why it ended, in a sentence."""
        if self.stop is Stop.MAX_ITER:
            return CHOSEN if self.chosen else LIMIT
        return self.stop.value if self.stop else ""

    @property
    def extra_values(self) -> dict[str, Any]:
        """Values of the summary beside the scores."""
        return {}
