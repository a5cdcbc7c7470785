"""One round of link-free refinement, and how it is shown."""

from functools import cache, partial
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Intervals, Mask
from lrlab.protocol import Iterate
from lrlab.solvers.single_index.cross_fitting import Derivatives
from lrlab.solvers.single_index.interval_requirements import LEAST_INFORMATION
from lrlab.solvers.single_index.link_fit import Fit
from lrlab.solvers.single_index.link_free_intervals import intervals
from lrlab.solvers.single_index.link_free_moves import Moved
from lrlab.solvers.single_index.link_levels import Levels
from lrlab.solvers.single_index.link_smoothing import LogOdds

# Jumps are tried, and then the link stays, once steps are this share of the error of the direction.
NEARLY_SETTLED = 0.05
# The least residual while links are chosen.
UNDECIDED = 0.01


class State(NamedTuple):
    """One round: B and X B of all columns, entries that may move (p, K + 1), link, derivatives, step to come.

    refined: the state whose intervals are shown, where this direction is not the best one under its link.
    """

    B: Array
    Z: Array
    free: Mask
    fit: Fit
    link: LogOdds | Levels
    at: Derivatives
    step: Array
    exchanges: Array
    start: str
    choosing: bool
    trying: str = ""
    refined: "State | None" = None

    @property
    def b(self) -> Array:
        """The direction fitted to all data (p,)."""
        return self.B[:, -1]

    @property
    def moved(self) -> Moved:
        """The directions with their indices and losses."""
        return Moved(self.B, self.Z, self.at.loss)

    @property
    def nearly_settled(self) -> bool:
        """Whether the choices are made and the steps are small against the error of the direction."""
        if self.choosing or self.exchanges.any():
            return False
        error = np.sqrt(self.free[:, -1].sum() / max(float(self.at.weights[:, -1].sum()), LEAST_INFORMATION))
        return bool(np.linalg.norm(self.step[:, -1]) < NEARLY_SETTLED * error)

    def widened(self, own: Mask) -> "State":
        """Return the state of these entries (p,) of many, with zeros elsewhere."""
        B, step = (np.zeros((len(own), part.shape[1])) for part in (self.B, self.step))
        free = np.zeros(B.shape, dtype=bool)
        B[own], step[own], free[own] = self.B, self.step, self.free
        return self._replace(B=B, free=free, step=step)

    def intervals(self, X: Array, answers: Array) -> Intervals:
        """Return the intervals of the entries, or of those of the refined direction where this one is a start."""
        if self.refined is not None:
            known = self.refined.intervals(X, answers)
            words = "" if np.isnan(known.low).all() else " The intervals are those of the refined direction."
            return known._replace(note=f"{known.note}{words}".strip())
        return intervals(X, answers, self.b, self.link, self.fit, minimal=self.choosing or self.nearly_settled)

    def iterate(self, X: Array, answers: Array) -> Iterate:
        """Return the state as an iterate, with its intervals from X (n, p) and answers (n,) in {0, 1}."""
        # Computed where they are looked at: for the last iterate alone in a sweep.
        ends = cache(partial(self.intervals, X, answers))
        sparse = f", {np.count_nonzero(self.b)} entries" if np.count_nonzero(self.b) < len(self.b) else ""
        link = f"Log-odds: {self.fit.smoothness.name}, {self.fit.parameters:.1f} effective parameters"
        link = f"Link: {self.link.name}" if isinstance(self.link, Levels) else link
        note = f"{self.start} {link}, loss on held-out answers {self.fit.mean_held_out:.3g}{sparse}."
        residual = max(float(np.linalg.norm(self.step[:, -1])), float(self.exchanges[-1]))
        if self.choosing:
            # A direction that stands still under one link may move under the next.
            residual = max(residual, UNDECIDED)
        if self.trying:
            # Not solved while another link may be better.
            residual, note = max(residual, 1.0), f"{note} Trying {self.trying}."
        objective = float(self.at.loss[-1]) / len(self.Z)
        return Iterate(self.b, objective=objective, residual=residual, note=note, intervals=ends)
