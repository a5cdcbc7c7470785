"""Presets of kind `spectrum`: the two largest eigenvalues of the pairwise moments along an axis, a panel per model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.spectrum import eigenvalues, recoverable
from lrlab.models.axes import axes
from lrlab.presets import claims
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import samples_of
from lrlab.presets.items import axis_of
from lrlab.presets.result import Panel, Plan
from lrlab.protocol import Spec
from lrlab.spectra import Draw, Row, pairwise

EIGENVALUES = ("largest", "second", "gap")
"""The series: the two largest eigenvalues, and their difference."""
CURVE_POINTS, BAND_STEP = 121, 5
"""Points of the curve, and how many of them per point of the band."""
DEVIATIONS = ("top_deviation", "second_deviation", "population_top_deviation", "population_second_deviation")


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the draws of all panels."""
    labelled, shown = list[tuple[Row, int, Draw]](), dict[Any, tuple[Spec, str, Sequence[float]]]()
    for panel in preset.panels:
        spec, (axis, values) = preset.spec(panel), axis_of(preset, panel)
        draws = pairwise.spectrum_draws(spec, axis, values, trials or preset.content["trials"])
        labelled += [({"panel": panel["title"]}, draw.trial, draw) for draw in draws]
        shown[panel["title"]] = spec, axis, values

    def draw(rows: pd.DataFrame) -> Any:
        parts = rows.groupby("panel", sort=False)
        return zip(*(_panel(preset, str(title), *shown[title], own) for title, own in parts), strict=True)

    return Plan(pairwise.pairwise_spectrum, labelled, draw, list(shown))


def _panel(
    preset: Preset, title: str, spec: Spec, axis: str, values: Sequence[float], rows: pd.DataFrame
) -> tuple[Panel, pd.DataFrame]:
    """Return a panel and its points, after a summary."""
    points = pairwise.of_moment(pairwise.compare(rows, pairwise.predictions(spec, axis, values)))
    grid = np.linspace(min(values), max(values), CURVE_POINTS).tolist()
    curve = pairwise.of_moment(pairwise.predictions(spec, axis, grid))
    bands = pairwise.bands(spec, axis, grid[::BAND_STEP])
    figure = eigenvalues(points, curve, bands, axis_title=axes(type(spec))[axis])
    largest = {name: float(points.loc[points[name].abs().idxmax(), name]) for name in DEVIATIONS}
    caption = (
        "Mean of the trials against the prediction at this n/p: the largest eigenvalue lies within "
        f"{abs(largest['top_deviation']):.1%}, the second within {abs(largest['second_deviation']):.1%}. "
        f"The population curve is off by up to {abs(largest['population_top_deviation']):.0%} and "
        f"{abs(largest['population_second_deviation']):.0%}."
    )
    summary = {"level": "panel", "axis": axis, "trials": points["trials"].sum(), **largest}
    ends = [end for part in recoverable(curve) for end in part if min(values) < end < max(values)]
    if len(at_ends := pairwise.bands(spec, axis, ends)):
        summary["threshold_overlap"] = at_ends["mean_overlap"].max()
        words = " and ".join(f"{overlap:.2f}" for overlap in at_ends["mean_overlap"])
        caption += " At the ends of the gap between the dashed curves, samples at this n and p have a mean overlap of "
        caption += f"{words}, not 0."
    own = rows.merge(points[["at", "moment"]], on=["at", "moment"])
    wide = own.set_index(["at", "trial", "rank"])["value"].unstack().set_axis(EIGENVALUES[:2], axis=1).reset_index()
    wide[EIGENVALUES[2]] = wide[EIGENVALUES[0]] - wide[EIGENVALUES[1]]
    samples = samples_of(wide.melt(["at", "trial"], EIGENVALUES, "series", "value"), "at", "value")
    judged = claims.verdicts(preset, title, samples)
    table = pd.concat([pd.DataFrame([summary]), points.assign(level="point")])
    about = {"model": spec.model}
    return Panel(title, figure, caption, judged, about), table.assign(panel=title, **about)
