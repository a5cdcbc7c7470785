"""Presets of kind `traces`: a score of every iterate, against iterations or seconds, a series a solver.

TOML: trials; settings; measure with title_of_measure; against (iteration or seconds); series with label, solver, and
settings or spec where they differ; panels with title, model, spec, and measure with title_of_measure where it differs.
Panels that show another score of the same runs share them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lrlab.figures.convergence import TIMES
from lrlab.figures.series import series as draw
from lrlab.presets.result import Panel, Plan, Result, panel_spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import trial_spec
from lrlab.sweeps import traces
from lrlab.sweeps.sweep import Trial

Toml = Mapping[str, Any]


def plan(content: Toml, trials: int | None = None) -> Plan:
    """Return the runs of all panels as one job; all solvers see the same data in a trial."""
    tasks: dict[Trial, int] = {}
    owners: list[tuple[dict[str, str], int]] = []
    for panel in content["panels"]:
        for one in content["series"]:
            spec = panel_spec(content, panel, **one.get("spec", {}))
            settings = {**content.get("settings", {}), **one.get("settings", {})}
            job = make_job(spec, one["solver"], **settings)
            number = trials or panel.get("trials", content["trials"])
            owner = {"panel": panel["title"], "series": one["label"]}
            for t in range(number):
                task = Trial((), t, job.on(trial_spec(spec, t)))
                owners.append((owner, tasks.setdefault(task, len(tasks))))

    def finish(results: Sequence[list[traces.Row]]) -> Result:
        rows = [{**owner, **row} for owner, number in owners for row in results[number]]
        drawn = pd.DataFrame(rows)
        made = [_panel(content, panel, drawn[drawn["panel"] == panel["title"]]) for panel in content["panels"]]
        return Result([p for p, _ in made], pd.concat([table for _, table in made], ignore_index=True), drawn)

    return Plan(traces.traced, list(tasks), finish)


def _panel(content: Toml, panel: Toml, drawn: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    against, chosen = content["against"], {**content, **panel}
    measure = chosen["measure"]
    points = traces.gathered(drawn, ["series"], measure)
    figure = draw(
        points.assign(x=points[against]), axis_title=TIMES[against], value_title=chosen["title_of_measure"],
        log_x=content.get("log_x", False), log_y=content.get("log_y", True),
    )  # fmt: skip
    ends = points.groupby("series", sort=False).tail(1)
    told = ", ".join(f"{row.series} {row.y:.2g} ({row.seconds:.3g} s)" for row in ends.itertuples())
    caption = f"Medians of the trials, with quartiles. At the end: {told}."
    table = points.rename(columns={"y": measure}).assign(level="point")
    table.insert(0, "panel", panel["title"])
    table.insert(1, "model", panel["model"])
    return Panel(panel["title"], figure, caption), table
