"""Links given by a formula in z, checked to stay within -1..1."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.theory import formula
from lrlab.theory.links import Link
from lrlab.theory.smoothing import base_moments, smoothed

READY = {
    "sin z": "sin(z)",
    "sin 2z": "sin(2*z)",
    "cos 2z": "cos(2*z)",
    "cubic": "max(-1, min(1, (z^3 - 3*z)/2))",
    "three levels": "(z > 1) - (z < -1)",
    "offset band": "2*(z > 0.5)*(z < 1.5) - 1",
    "bump": "2*exp(-z^2) - 1",
}
"""Names that stand for formulas."""

REACH = 100.0
"""lrlab checks a formula for |z| up to this, ten standard deviations of the noisiest index; it is constant beyond."""
FEWER = 1001


@lru_cache(maxsize=256)
def checked(text: str) -> formula.Formula:
    """Return the formula of a text or of a name in READY; InputError if it is invalid or leaves -1..1."""
    parsed = formula.parse(READY.get(text, text))
    grid = _grid()
    values = parsed(grid)
    wrong = ~(np.abs(values) <= 1.0 + 1e-9)
    if wrong.any():
        # The place that is nearest to 0 is the one that matters most.
        worst = np.flatnonzero(wrong)[np.argmin(np.abs(grid[wrong]))]
        what = f"{values[worst]:.10g} at z = {grid[worst]:.4g}"
        remedy = "scale it, or bound it: max(-1, min(1, ...))"
        raise InputError("link", f"finite and within -1..1 for |z| <= {REACH:g}", what, remedy)
    return parsed


@dataclass(frozen=True)
class FormulaLink(Link):
    """A link whose f0 is a formula in z, see `theory.formula`."""

    text: str = "sin 2z"

    def sharp(self, index: Array) -> Array:  # noqa: D102
        values = checked(self.text)(np.clip(index, -REACH, REACH))
        return np.clip(np.nan_to_num(values), -1.0, 1.0)

    def smooth(self, index: Array) -> Array:  # noqa: D102
        return smoothed(FormulaLink(text=self.text), index, self.noise)[0] if self.noise > 0 else self.sharp(index)

    def breakpoints(self) -> tuple[float, ...]:  # noqa: D102
        return breakpoints(self.text)

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        m0, m1, m2 = base_moments(self, (lambda z: np.ones_like(z), lambda z: z, np.square))
        return m0, m1, m2


@lru_cache(maxsize=256)
def breakpoints(text: str) -> tuple[float, ...]:
    """Return possible jumps and kinks of a formula within the reach: the changes of sign of its switches."""
    grid, places = _grid(), list[float]()
    for switch in checked(text).switches:
        g = formula.Formula(switch, ())
        places += _sign_changes(g, grid)
        values = g(grid)
        size, one_sign = np.abs(values), (values[1:-1] * values[:-2] > 0) & (values[1:-1] * values[2:] > 0)
        # Two changes of sign may hide between neighbors: search near the smallest sizes.
        low = 1 + np.flatnonzero(one_sign & (size[1:-1] <= size[:-2]) & (size[1:-1] < size[2:]))
        for node in low[np.argsort(np.abs(grid[low]))][:FEWER]:
            places += _sign_changes(g, np.linspace(grid[node - 1], grid[node + 1], FEWER))
    return tuple(sorted(set(places)))


def _sign_changes(g: formula.Formula, grid: Array) -> list[float]:
    signs = np.sign(g(grid))
    at = np.flatnonzero(signs[:-1] != signs[1:])
    left, right, before = grid[at], grid[at + 1], signs[at]
    for _ in range(60):
        middle = (left + right) / 2.0
        same = np.sign(g(middle)) == before
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return [float(place) for place in right]


@lru_cache(maxsize=1)
def _grid() -> Array:
    return np.arange(-round(REACH * 1000), round(REACH * 1000) + 1) * 0.001
