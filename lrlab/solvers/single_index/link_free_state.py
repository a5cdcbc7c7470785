r"""One round of link-free refinement, and how it is shown: with standard errors of the direction b.

With an index z = <x, b> and log-odds eta the efficient score of b in the single-index model is

    s_i x~_i,    s_i = d log P(y_i | z_i) / dz = eta'(z_i) (y_i - p_i),    x~_i = x_i - E[x | z_i]

(Newey & Stoker 1993, "Efficiency of weighted average derivative estimators and index models"; Hardle, Hall & Ichimura
1993, "Optimal smoothing in single-index models"): what is left of x_i has no part in the estimate of the link. For
Gaussian x, and all elliptical ones, E[x | z] is linear in z. With A = sum h_i x~_i x~_i^T,
h_i = eta'(z_i)^2 p_i (1 - p_i), inverted on the tangent space of the sphere at b, b moves by

    u_i = A^+ x~_i s_i / (1 - l_i),    l_i = h_i x~_i^T A^+ x~_i

when row i is left out, to first order, and the covariance is the sum of u_i u_i^T: the sandwich of squared scores,
corrected for leverage (MacKinnon & White 1985, "Some heteroskedasticity-consistent covariance matrix estimators", HC3).
The correction matters where few rows lie on the slope of a steep link, as without noise. There so few rows decide that
the share of a single entry would be noise, and only the total variance, the trace, is taken from that sum; it is spread
over the entries as (sum x~_i x~_i^T)^+ is, to which A is proportional for Gaussian x.
"""

from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from lrlab.arrays import Array, Mask
from lrlab.protocol import Iterate
from lrlab.solvers.methods.sphere import DAMPING
from lrlab.solvers.single_index.cross_fitting import Derivatives
from lrlab.solvers.single_index.link_fit import Fit
from lrlab.solvers.single_index.link_free_moves import Moved
from lrlab.solvers.single_index.link_levels import Levels
from lrlab.solvers.single_index.link_smoothing import IndexLink, LogOdds

# Jumps are tried, and then the link stays, once steps are this share of the error of the direction.
NEARLY_SETTLED = 0.05
# The least residual while links are chosen.
UNDECIDED = 0.01
MOST_ENTRIES = 500
"""Above it A would take more time and memory than the method itself: there are no standard errors."""
TINY = np.finfo(float).tiny
# An information whose inverse is no number.
LEAST_INFORMATION = 1e-100


class State(NamedTuple):
    """One round: B and X B of all columns, entries that may move (p, K + 1), link, derivatives, step to come."""

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

    def iterate(self, X: Array, answers: Array) -> Iterate:
        """Return the state as an iterate, with its standard errors from X (n, p) and answers (n,) in {0, 1}."""
        # Computed where they are looked at: for the last iterate alone in a sweep.
        errors = cache(partial(standard_errors, X, answers, self.b, self.link))
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
        return Iterate(self.b, objective=objective, residual=residual, note=note, standard_errors=errors)


def standard_errors(X: Array, answers: Array, b: Array, link: IndexLink) -> Array | None:
    """Return the standard errors (p,) of a unit vector b, at most 1, and nan for entries that are zero.

    X (n, p); answers (n,) in {0, 1}; link: that of which b is the best direction. None where b has one entry, more than
    500, or not fewer than there are rows, or where the link is flat at all of them.
    """
    support = b != 0
    if not 1 < np.count_nonzero(support) <= min(MOST_ENTRIES, len(X) - 1):
        return None
    own, z = b[support], X @ b
    rows = X if support.all() else X[:, support]
    rest = rows - np.outer(z, z @ rows / max(float(z @ z), TINY))
    eta, slope = link(z)
    chance = expit(eta)
    h = slope * slope * chance * (1.0 - chance)
    if float(h.sum()) < LEAST_INFORMATION:
        return None
    # Information as small as rounding has no inverse that is a number.
    with np.errstate(over="ignore", invalid="ignore"):
        moved = rest @ tangent_inverse((rest * h[:, None]).T @ rest, own)
    if not np.isfinite(moved).all():
        return None
    leverage = h * np.einsum("ij,ij->i", moved, rest)
    scores = slope * (answers - chance) / np.maximum(1.0 - leverage, DAMPING)
    total = float(np.square(scores) @ np.einsum("ij,ij->i", moved, moved))
    shape = tangent_inverse(rest.T @ rest, own).diagonal()
    errors = np.full(len(b), np.nan)
    errors[support] = np.minimum(np.sqrt(total * np.maximum(shape, 0.0) / max(float(shape.sum()), TINY)), 1.0)
    return errors


def tangent_inverse(A: Array, b: Array) -> Array:
    """Return the inverse (s, s) of A on the vectors orthogonal to the unit vector b, A b = 0."""
    size = A.trace() / len(b) + TINY
    along = size * np.outer(b, b)
    regular = A + along + DAMPING * size * np.eye(len(b))
    return cho_solve(cho_factor(regular), np.eye(len(b))) - np.outer(b, b) / (size * (1.0 + DAMPING))
