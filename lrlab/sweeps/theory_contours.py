"""Contours that theory predicts over the plane of a sweep at the sizes of its cells, from the draws that are known."""

import math

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.runs import theory
from lrlab.sweeps.definition import Cell, Sweep
from lrlab.sweeps.theory_regions import inside, outlines


def contours(sweep: Sweep, *, half: bool = False) -> pd.DataFrame:
    """Return points x, y of where each solver's prediction passes the level of the contour, named in `line`.

    Beside the contour of a mean they are of predicted means; half: beside that of a share of trials they are of
    medians, which pass the level where half of the draws do. Between cells predictions are interpolated, along an axis
    of equal quotients over its logarithm. Pieces are parted by a row of nan. Nothing is drawn here: cells of which no
    draws are remembered (`theory.missing_draws`) are left out, so lines end there.
    """
    rule, rows = sweep.contour, list[tuple[str, float, float]]()
    score = f"predicted_{rule.metric}{'_median' if half else ''}"
    for solver in sweep.solvers if len(sweep.grid) == 2 else ():
        x, y, field = _field(sweep, [cell for cell in sweep.cells if cell.solver == solver], score)
        points = inside(outlines(field - rule.level, x, y), x, y)
        apart = f", {sweep.titles[solver]}" if len(sweep.solvers) > 1 else ""
        name = f"{'half of trials predicted' if half else 'predicted'}: {rule.at.words}{apart}"
        # A lone point is no line.
        rows += [(name, *point) for point in points] if sum(math.isfinite(u) for u, _ in points) > 1 else []
    return pd.DataFrame(rows, columns=["line", "x", "y"])


def _field(sweep: Sweep, cells: list[Cell], score: str) -> tuple[Array, Array, Array]:
    """Return the values of both axes, and a prediction (columns, rows) at them; nan where none is known."""
    x, y = (np.array(sorted(map(float, values))) for values in sweep.grid.values())
    field = np.full((len(x), len(y)), math.nan)
    for cell in cells:
        if cell.job is not None:
            i, j = (int(np.argmin(np.abs(v - at))) for v, at in zip((x, y), cell.axes.values(), strict=True))
            field[i, j] = theory.remembered(cell.job).get(score, math.nan)
    return x, y, field
