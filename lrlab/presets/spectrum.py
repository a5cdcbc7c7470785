"""Presets of kind `spectrum`: the two largest eigenvalues of the pairwise moments along an axis, a panel per model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lrlab.figures.spectrum import eigenvalues, recoverable
from lrlab.models.axes import axes
from lrlab.presets import claims
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import axis_of
from lrlab.presets.result import Panel, Plan, Result, panel_table
from lrlab.protocol import Spec
from lrlab.spectra import Draw, Row, pairwise
from lrlab.sweeps.definition import Sweep

EIGENVALUES = ("largest", "second", "gap")
"""The series: the two largest eigenvalues, and their difference."""
CURVE_POINTS, BAND_STEP = 121, 5
"""Points of the curve, and how many of them per point of the band."""
DEVIATIONS = ("top_deviation", "second_deviation", "population_top_deviation", "population_second_deviation")


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the draws of all panels as one job."""
    items, made = list[tuple[str, Draw]](), []
    for panel in preset.panels:
        spec, (axis, given) = preset.spec(panel), axis_of(preset, panel)
        values = Sweep(spec=spec, axes={axis: given}, solvers=("pairwise-moment",)).grid[axis]
        own = pairwise.spectrum_draws(spec, axis, values, trials or preset.content["trials"])
        items += [(panel["title"], draw) for draw in own]
        made.append((panel["title"], spec, axis, values))
    # A growing figure has one draw per point first.
    items.sort(key=lambda item: item[1].trial)

    def finish(results: Sequence[list[Row] | None]) -> Result:
        rows = [{"panel": owner, **row} for (owner, _), own in zip(items, results, strict=True) for row in own or ()]
        table = pd.DataFrame(rows)
        parts = [_panel(preset, *panel, own) for panel in made if len(own := table[table["panel"] == panel[0]])]
        return Result([panel for panel, _ in parts], pd.concat([own for _, own in parts], ignore_index=True), table)

    return Plan(pairwise.pairwise_spectrum, [draw for _, draw in items], finish)


def _panel(
    preset: Preset, title: str, spec: Spec, axis: str, values: Sequence[float], rows: pd.DataFrame
) -> tuple[Panel, pd.DataFrame]:
    """Return a panel and its rows of the table."""
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
    judged = claims.verdicts(preset, title, _samples(points, rows))
    table = panel_table(title, spec.model, points, [summary, *claims.rows(judged)])
    return Panel(title, figure, caption + claims.caption(judged), judged), table


def _samples(points: pd.DataFrame, rows: pd.DataFrame) -> Samples:
    """Return both eigenvalues, and their difference, of each draw's informative moment."""
    own = rows.merge(points[["at", "moment"]], on=["at", "moment"])
    wide = own.set_index(["at", "trial", "rank"])["value"].unstack().set_axis(EIGENVALUES[:2], axis=1).reset_index()
    wide[EIGENVALUES[2]] = wide[EIGENVALUES[0]] - wide[EIGENVALUES[1]]
    return samples_of(wide.melt(["at", "trial"], EIGENVALUES, "series", "value"), "at", "value")
