"""Maps of phase transitions: contours of several solvers on one map, or one map per solver."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure, grid
from lrlab.figures.map_layers import INFERRED, Layers, Scale
from lrlab.figures.recovery import Recovery
from lrlab.sweeps.theory import Region

Maps = Mapping[str, pd.DataFrame]


class Score(NamedTuple):
    """The score of a map: name, ends of the colors (None: the data's), level and name of the contour, colors."""

    name: str
    low: float | None = 0.0
    high: float | None = 1.0
    level: float | None = 0.5
    contour: str = "half succeed"
    colors: Any = theme.SEQUENTIAL


def transition(
    maps: Maps,
    x: Scale,
    y: Scale,
    score: Score,
    *,
    columns: int = 0,
    lines: pd.DataFrame | None = None,
    regions: Sequence[Region] = (),
    fits: pd.DataFrame | None = None,
    looks: Mapping[str, Recovery] = MappingProxyType({}),
) -> Figure:
    """Return the map of the first solver in colors with the contours of all, or `columns` maps per row, one per solver.

    maps: by solver, one row per point: x, y, value (nan if unknown), trials, inferred (predicted from other points);
    and for the text on hover successes, low and high (nan without a success rule) and spread. lines: named points line,
    x, y of theory, each line's points in order, apart by a row of nan; with `columns` a line named "..., solver"
    appears only on that solver's map. regions: of theory. fits: solver, x, half, low, high: the points of 50% success.
    looks: the solvers' styles, if fixed. A point's customdata begins with x, y and the solver.
    """
    apart, columns = columns > 0, min(columns, len(maps)) or 1
    rows = math.ceil(len(maps) / columns) if apart else 1
    gaps = {"horizontal_spacing": 0.06, "vertical_spacing": 0.22 / rows}
    figure = grid(rows, columns, titles=list(maps), **gaps) if apart else grid(1, 1)
    layers = Layers(figure, x, y)
    colors = dict.fromkeys(maps, theme.PALETTE[1]) if apart else theme.colors(list(maps))
    colors |= {solver: look.color for solver, look in looks.items()}
    for k, (solver, cells) in enumerate(maps.items()) if apart else [(0, next(iter(maps.items())))]:
        place = {"row": k // columns + 1, "col": k % columns + 1}
        layers.cells(solver, cells, _cell_texts(cells, score.name) if apart else _together(maps, score), place)
        layers.regions(regions, place)
        shown = [solver] if apart else list(maps)
        for one in shown if score.level is not None else ():
            name = score.contour if apart else f"{score.contour}, {one}"
            dash = looks[one].dash if one in looks and not apart else "solid"
            layers.contour(maps[one], score.level or 0.0, name, colors[one], place, dash)
        if lines is not None:
            others = [
                name for name in lines["line"].unique() if apart and ", " in name and not name.endswith(f", {solver}")
            ]
            layers.theory(lines[~lines["line"].isin(others)], place)
        for one, points in () if fits is None else fits.groupby("solver", sort=False):
            if one in shown:
                layers.midpoints(points, str(one), colors[str(one)], place)
        layers.axes(place, below=apart and k + columns < len(maps), left=k % columns > 0)
    return _styled(figure, x, y, score, height=140 + 310 * rows if apart else 540)


def _together(maps: Maps, score: Score) -> list[str]:
    """Return the text of each cell of the first solver, with the results of all solvers."""
    places, texts = (
        list(zip(*(next(iter(maps.values()))[axis].tolist() for axis in "xy"), strict=True)),
        defaultdict(list),
    )
    for solver, cells in maps.items():
        for x, y, text in zip(cells["x"].tolist(), cells["y"].tolist(), _cell_texts(cells, score.name), strict=True):
            texts[x, y].append(f"{solver}: {text}")
    return ["<br>".join(texts[place]) for place in places]


def _cell_texts(cells: pd.DataFrame, score: str) -> list[str]:
    """Return the text of each cell: its successes with their interval, or its mean with its spread."""
    columns = (cells[name].tolist() for name in ("trials", "value", "successes", "low", "high", "spread"))
    return [_text(score, *cell) for cell in zip(*columns, strict=True)]


def _text(score: str, trials: int, value: float, successes: float, low: float, high: float, spread: float) -> str:
    if not trials:
        return f"{score} {value:.3g}, {INFERRED}" if math.isfinite(value) else "not measured"
    if math.isfinite(successes):
        return f"{successes:.0f} of {trials} succeed, 95% interval {low:.2f} to {high:.2f}"
    return f"{score} {value:.4g}{f' ± {spread:.2g}' if math.isfinite(spread) else ''}, {trials} trials"


def _styled(figure: Figure, x: Scale, y: Scale, score: Score, height: int) -> Figure:
    bar = {"title": {"text": score.name, "side": "right", "font": {"size": 13}}, "thickness": 12, "outlinewidth": 0}
    look = {"colorscale": score.colors, "cmin": score.low, "cmax": score.high, "colorbar": bar}
    return theme.style(figure.update_layout(coloraxis=look), height=height, revision=f"{x.title} {y.title}")
