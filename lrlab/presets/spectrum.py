"""Presets of kind `spectrum`: top eigenvalues of the pairwise moments along an axis, a panel a model.

TOML: trials; spec (for all panels); panels with title, model, spec, axis, values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.spectrum import eigenvalues
from lrlab.presets.result import Panel, Plan, Result, panel_spec
from lrlab.runs.axes import axes
from lrlab.spectra import pairwise

FINE = 121
DEVIATIONS = ("top_deviation", "second_deviation", "population_top_deviation", "population_second_deviation")


def plan(content: Mapping[str, Any], trials: int | None = None) -> Plan:
    """Return the trials of all panels as one job."""
    tasks, owners = [], []
    for panel in content["panels"]:
        spec = panel_spec(content, panel)
        own = pairwise.spectrum_draws(spec, panel["axis"], panel["values"], trials or content["trials"])
        tasks += own
        owners += [panel["title"]] * len(own)

    def finish(results: Sequence[list[pairwise.Row]]) -> Result:
        rows = [{"panel": owner, **row} for owner, own in zip(owners, results, strict=True) for row in own]
        drawn = pd.DataFrame(rows)
        made = [_panel(content, panel, drawn[drawn["panel"] == panel["title"]]) for panel in content["panels"]]
        return Result([p for p, _ in made], pd.concat([table for _, table in made], ignore_index=True), drawn)

    return Plan(pairwise.pairwise_spectrum, tasks, finish)


def _panel(content: Mapping[str, Any], panel: Mapping[str, Any], drawn: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    spec, axis, values = panel_spec(content, panel), panel["axis"], panel["values"]
    points = pairwise.informative(pairwise.compare(drawn, pairwise.predictions(spec, axis, values)))
    grid = np.linspace(min(values), max(values), FINE)
    curve = pairwise.informative(pairwise.predictions(spec, axis, grid))
    figure = eigenvalues(points, curve, axis_title=axes(type(spec))[axis])
    largest = {name: float(points.loc[points[name].abs().idxmax(), name]) for name in DEVIATIONS}
    caption = (
        "Mean of the trials against the prediction at this n/p: the largest eigenvalue lies within "
        f"{abs(largest['top_deviation']):.1%}, the second within {abs(largest['second_deviation']):.1%}. "
        f"The population curve is off by up to {abs(largest['population_top_deviation']):.0%} and "
        f"{abs(largest['population_second_deviation']):.0%}."
    )
    rows = [{"level": "panel", "axis": axis, "trials": points["trials"].sum(), **largest}]
    table = pd.concat([pd.DataFrame(rows), points.assign(level="point")], ignore_index=True)
    table.insert(1, "panel", panel["title"])
    table.insert(2, "model", spec.model)
    return Panel(panel["title"], figure, caption), table
