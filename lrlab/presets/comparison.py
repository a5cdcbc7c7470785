"""Presets of kind `comparison`: where runs end in named columns of settings, a paper's numbers beside ours.

A column has a spec and, by a series' label, settings of its own. A panel shows a measure, times `scale` (100 for per
cent), or 1 minus it if it has `complement`. A series has, by measure or by the name that a panel has in `paper`, the
numbers that the paper printed for each column. All panels show the same runs.
"""

from collections.abc import Sequence

import pandas as pd

from lrlab.catalog import family
from lrlab.figures.build import Figure
from lrlab.figures.series import beside
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.cases import Case, plan_cases
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import samples_of
from lrlab.presets.result import Panel, Plan, Result, Verdict, compare_with_paper


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs of all series in all columns; solvers see the same data in a trial."""
    planned = plan_cases(preset, trials, _figures)
    columns, labels = preset.content["columns"], [series["label"] for series in preset.series]
    for number, column in enumerate(columns):
        for label in column.get("settings", {}):
            with preset.source.locate(("columns", number, "settings")):
                require_known(label, tuple(labels), what="series")
    model = preset.spec(("columns", 0)).model
    for number, panel in enumerate(preset.panels):
        preset.require_measure(panel["measure"], model, ("panels", number, "measure"))
    names = tuple(_printed_as(panel) for panel in preset.panels)
    for number, series in enumerate(preset.series):
        for measure, printed in series.get("paper", {}).items():
            path = ("series", number, "paper", measure)
            with preset.source.locate(path):
                require_known(measure, names, what="measure")
            if not isinstance(printed, list) or not all(type(value) in (int, float) for value in printed):
                raise preset.source.located(InputError(measure, "a list of numbers", printed, "write numbers"), path)
            if len(printed) != len(columns):
                expected = f"a number for each of the {len(columns)} columns"
                error = InputError(measure, expected, len(printed), "give one number each, nan for none")
                raise preset.source.located(error, path)
    return planned


def _figures(preset: Preset, cases: Sequence[Case], rows: pd.DataFrame) -> Result:
    points = [compared(preset, panel, rows) for panel in preset.panels]
    judged = [_judged(preset, panel, rows) for panel in preset.panels]
    parts = list(zip(preset.panels, points, judged, strict=True))
    panels = [_panel(*part) for part in parts]
    lines = [
        {**row, "claim": row["paper"], "panel": panel["title"]} for panel, _, own in parts for row in claims.rows(own)
    ]
    return Result(panels, pd.concat([pd.DataFrame(lines), *(part.assign(level="point") for part in points)]), rows)


def _judged(preset: Preset, panel: Toml, rows: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims on a panel, then on its printed numbers."""
    ran = rows[rows["refused"].fillna("") == ""] if "refused" in rows else rows
    samples = samples_of(ran.assign(shown=_values(panel, ran)), "column", "shown", panel.get("scale", 1.0))
    name = _printed_as(panel)
    rising = family(preset.spec(("columns", 0)).model).measures[panel["measure"]].rising
    best = 1 if rising != panel.get("complement", False) else -1
    columns = [column["label"] for column in preset.content["columns"]]
    printed = {
        one["label"]: dict(zip(columns, map(float, one["paper"][name]), strict=True))
        for one in preset.series
        if name in one.get("paper", {})
    }
    return [*claims.verdicts(preset, panel["title"], samples), *claims.printed(printed, samples, best)]


def compared(preset: Preset, panel: Toml, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each series and column: ours (mean of the trials), its spread, and the paper's number."""
    measure, labels = panel["measure"], [column["label"] for column in preset.content["columns"]]
    lines = []
    for one in preset.series:
        printed = one.get("paper", {}).get(_printed_as(panel), [float("nan")] * len(labels))
        for label, paper in zip(labels, printed, strict=True):
            own = _values(panel, rows[(rows["series"] == one["label"]) & (rows["column"] == label)])
            place = {"series": one["label"], "column": label, "measure": measure}
            lines.append({**place, **compare_with_paper(own, float(paper), panel.get("scale", 1))})
    return pd.DataFrame(lines).assign(panel=panel["title"], model=preset.spec(("columns", 0)).model)


def _printed_as(panel: Toml) -> str:
    """Return the key of the paper's numbers for a panel."""
    return str(panel.get("paper", panel["measure"]))


def _values(panel: Toml, rows: pd.DataFrame) -> pd.Series:
    """Return what a panel shows of each trial."""
    values = rows[panel["measure"]]
    return 1.0 - values if panel.get("complement") else values


def _panel(panel: Toml, points: pd.DataFrame, judged: Sequence[Verdict]) -> Panel:
    figure = _drawn(panel, points)
    words = "Filled: computed here, mean and standard deviation of the trials."
    if points["paper"].notna().any():
        words += " Open: printed in the paper."
    return Panel(panel["title"], figure, words + claims.caption(judged), judged)


def _drawn(panel: Toml, points: pd.DataFrame) -> Figure:
    placed = points.assign(x=points["column"])
    return beside(placed, axis_title="", value_title=panel["measure_title"], categories=True)


def printed(preset: Preset) -> dict[str, Figure]:
    """Return the panels of numbers that the paper printed, by their titles: of all these, and of no others."""
    drawn = {}
    for panel in preset.panels:
        nothing = pd.DataFrame(columns=["series", "column", panel["measure"]], dtype=float)
        points = compared(preset, panel, nothing)
        # Series without numbers stay: those that have some look as they do beside ours.
        if points["paper"].notna().any():
            drawn[panel["title"]] = _drawn(panel, points)
    return drawn
