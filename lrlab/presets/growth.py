"""Presets of kind `growth`: processor time and peak memory of runs against sizes, and their exponents beside formulas.

A panel has one axis, and names its series (`only`), for sizes of a model are those of its solvers alone. Time is that
of the solver, its data drawn before, for a fixed number of iterations (`settings`: tol = 0, max_iter); memory is the
peak of what is allocated while the data is drawn and the solver runs. A series has the exponents of the formula in
`claimed` (time) and `memory`, by axis, judged as in `scaling`.
"""

import tracemalloc
from typing import Any

import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import InputError
from lrlab.presets.cases import axis_of, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import samples_of
from lrlab.presets.result import Panel, Plan, Verdict, panel_table
from lrlab.presets.scaling import exponent_lines
from lrlab.protocol import Iterate
from lrlab.runs.run import Newest, run_job
from lrlab.runs.trial import Trial, run_trial

QUANTITIES = {"claimed": ("processor", "processor seconds"), "memory": ("megabytes", "peak memory, MB")}


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs of all panels as one job."""
    for number, panel in enumerate(preset.panels):
        with preset.source.locate(("panels", number)):
            if len(axis_of(preset, ("panels", number))[1]) < 3:
                raise InputError("axes", "at least three values, for an interval", panel["axes"], "add values")
    return plan_cases(preset, trials, panel_by_panel(_panel), measured)


class Peak(Newest):
    """The newest iterate, and the most memory, in bytes, that was allocated until it was there, its score left out."""

    size: int = 0

    def hold(self, iteration: int, seconds: float, iterate: Iterate) -> None:
        """Take an iterate in the place of the one before."""
        super().hold(iteration, seconds, iterate)
        self.size = tracemalloc.get_traced_memory()[1]


def measured(trial: Trial) -> list[dict[str, float]]:
    """Return the processor seconds of the solver of a trial, and the peak memory of a second run in megabytes."""
    seconds, peak = run_trial(trial).seconds, Peak()
    tracemalloc.start()
    try:
        run_job(trial.seeded, newest=peak)
    finally:
        tracemalloc.stop()
    return [{"trial": trial.number, "processor": seconds, "megabytes": peak.size / 1e6}]


def _panel(preset: Preset, number: int, rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    panel, path = preset.panels[number], ("panels", number)
    axis, spec = axis_of(preset, path)[0], preset.spec(path)
    points = {key: _points(rows, axis, column) for key, (column, _) in QUANTITIES.items()}
    title = axes(type(spec))[axis]
    figure = draw(points["claimed"], axis_title=title, value_title=QUANTITIES["claimed"][1], log_x=True, log_y=True)
    lines, sentences, judged = list[dict[str, Any]](), list[str](), list[Verdict]()
    for key, (column, words) in QUANTITIES.items():
        samples = samples_of(rows, axis, column)
        own, said, verdicts = exponent_lines(preset, axis, samples, panel["only"], key, "formula")
        lines += [{**line, "quantity": words} for line in own]
        sentences += [f"{words}: {one}" for one in said]
        judged += verdicts
    caption = f"Medians of the trials, with quartiles. Exponents of {axis}, {'; '.join(sentences)}."
    table = pd.concat([part.assign(quantity=QUANTITIES[key][1]) for key, part in points.items()])
    return Panel(panel["title"], figure, caption, judged), panel_table(panel["title"], spec.model, table, lines)


def _points(rows: pd.DataFrame, axis: str, column: str) -> pd.DataFrame:
    """Return for each series and value x of an axis: y the median of a column, low, high (quartiles), trials."""
    groups = rows.groupby(["series", axis], sort=False)[column]
    quartiles = groups.quantile([0.25, 0.5, 0.75]).unstack().set_axis(["low", "y", "high"], axis=1)
    points = quartiles.assign(trials=groups.size()).reset_index()
    return points.assign(x=points[axis])
