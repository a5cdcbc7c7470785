"""Presets of kind `comparison`: where runs in named settings end, the paper's numbers beside ours.

TOML: trials; settings; model; spec; columns in the paper's order with label, spec and, by a series' label, settings of
its own there; series with label, solver, settings and, by measure, what the paper printed for each column; panels with
title, measure, title_of_measure and, where a number is printed as a multiple of ours (100 for per cent), times.
All panels show the same runs; solvers see the same data in a trial.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lrlab.figures.published import beside
from lrlab.presets.result import Panel, Plan, Result, beside_paper, panel_spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import trial_spec
from lrlab.sweeps import sweep

Toml = Mapping[str, Any]


def plan(content: Toml, trials: int | None = None) -> Plan:
    """Return the runs of all series in all columns."""
    tasks: list[sweep.Trial] = []
    owners: list[dict[str, str]] = []
    for column in content["columns"]:
        spec = panel_spec(content, content, **column.get("spec", {}))
        for one in content["series"]:
            own = column.get("settings", {}).get(one["label"], {})
            settings = {**content.get("settings", {}), **one.get("settings", {}), **own}
            job = make_job(spec, one["solver"], **settings)
            number = trials or content["trials"]
            tasks += [sweep.Trial((), t, job.on(trial_spec(spec, t))) for t in range(number)]
            owners += [{"column": column["label"], "series": one["label"]}] * number

    def finish(results: Sequence[sweep.Row]) -> Result:
        drawn = pd.DataFrame([{**owner, **row} for owner, row in zip(owners, results, strict=True)])
        points = {panel["title"]: compared(content, panel, drawn) for panel in content["panels"]}
        panels = [_panel(panel, points[panel["title"]]) for panel in content["panels"]]
        table = pd.concat([rows.assign(panel=title) for title, rows in points.items()], ignore_index=True)
        return Result(panels, table.assign(model=content["model"], level="point"), drawn)

    return Plan(sweep.run_trial, tasks, finish)


def compared(content: Toml, panel: Toml, drawn: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each series and column: ours (mean of the trials), its spread, and the paper's number."""
    measure, labels = panel["measure"], [column["label"] for column in content["columns"]]
    found = []
    for one in content["series"]:
        printed = one.get("paper", {}).get(measure, [float("nan")] * len(labels))
        for label, paper in zip(labels, printed, strict=True):
            own = drawn[(drawn["series"] == one["label"]) & (drawn["column"] == label)][measure]
            place = {"series": one["label"], "column": label, "measure": measure}
            found.append({**place, **beside_paper(own, float(paper), panel.get("times", 1))})
    return pd.DataFrame(found)


def _panel(panel: Toml, points: pd.DataFrame) -> Panel:
    figure = beside(
        points.assign(x=points["column"]), axis_title="", value_title=panel["title_of_measure"], categories=True
    )
    words = "Filled: computed here, mean and standard deviation of the trials."
    if points["paper"].notna().any():
        words += " Open: printed in the paper."
    return Panel(panel["title"], figure, words)
