"""Presets of kind `traces`: a measure of every iterate, against iterations or seconds (figure.against).

Panels that show another measure of the same runs share them.
"""

import numpy as np
import pandas as pd

from lrlab.figures.convergence import TIMES
from lrlab.figures.series import series as draw
from lrlab.parameters import require_known
from lrlab.presets import claims
from lrlab.presets.cases import CHOSEN_BY, best_of_grid, grid_words, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.result import Panel, Plan, panel_table
from lrlab.runs.trial import run_traced

QUARTILES = [0.25, 0.5, 0.75]
SECONDS_COLUMNS = ("seconds_low", "seconds", "seconds_high")


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs of all panels as one job; all solvers see the same data in a trial."""
    figure = preset.content["figure"]
    with preset.source.locate(("figure", "against")):
        require_known(figure["against"], TIMES, what="against")
    for number, panel in enumerate(preset.panels):
        path = ("panels", number)
        own = (*path, "measure") if "measure" in panel else ("figure", "measure")
        preset.require_measure({**figure, **panel}["measure"], preset.spec(path).model, own)
    return plan_cases(preset, trials, panel_by_panel(_panel), run_traced)


def _panel(preset: Preset, number: int, rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    look, model = {**preset.content["figure"], **preset.panels[number]}, preset.spec(("panels", number)).model
    rows = best_of_grid(rows, ["series"], CHOSEN_BY)
    points = median_traces(rows, look["measure"])
    against = look["against"]
    placed = points.assign(**{f"x{end}": points.get(against + end, points[against]) for end in ("", "_low", "_high")})
    figure = draw(
        placed,
        axis_title=TIMES[look["against"]],
        value_title=look["measure_title"],
        log_x=look.get("log_x", False),
        log_y=look.get("log_y", True),
    )
    last = points.groupby("series", sort=False).tail(1)
    ends = ", ".join(f"{row.series} {row.y:.2g} ({row.seconds:.3g} s)" for row in last.itertuples())
    caption = f"Medians of the trials, with quartiles. At the end: {ends}.{grid_words(rows)}"
    judged = [
        claims.verdict(claim, _samples(rows, look["measure"], against, claim.get("level")))
        for claim in claims.of_panel(preset, look["title"])
    ]
    table = points.rename(columns={"y": look["measure"]})
    return Panel(look["title"], figure, caption + claims.caption(judged), judged), panel_table(
        look["title"], model, table, claims.rows(judged)
    )


def _samples(rows: pd.DataFrame, measure: str, against: str, level: float | None) -> Samples:
    """Return what every trial ends at; with a level when it is first reached, infinite if it is not."""
    ended = rows.groupby(["series", "trial"], sort=False).tail(1)
    if level is None:
        return samples_of(ended.assign(place="at the end"), "place", measure)
    first = rows[rows[measure] <= level].groupby(["series", "trial"])[against].min().rename("reached")
    times = ended.merge(first, on=["series", "trial"], how="left").fillna({"reached": float("inf")})
    times = times.assign(place=f"{TIMES[against]} until {level:g}")
    return samples_of(times, "place", "reached")._replace(durations=samples_of(times, "place", against).values)


def median_traces(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return one row per series and iteration: median and quartiles of a measure and of seconds, trials.

    A run that has ended keeps its last value: otherwise the median would be that of the slow ones alone.
    """
    parts = []
    for name, group in rows.groupby("series", sort=False):
        trials, trial = np.unique(group["trial"], return_inverse=True)
        iterations = np.arange(1, int(group["iteration"].max()) + 1)
        own, counts = {"iteration": iterations}, []
        for column, names in ((measure, ("low", "y", "high")), ("seconds", SECONDS_COLUMNS)):
            values = np.full((len(trials), len(iterations)), np.nan)
            values[trial, group["iteration"] - 1] = group[column]
            filled = pd.DataFrame(values).ffill(axis=1)
            own |= dict(zip(names, filled.quantile(QUARTILES).to_numpy(), strict=True))
            counts.append(filled.notna().sum().to_numpy())
        parts.append(pd.DataFrame(own).assign(trials=counts[0], series=name))
    columns = ["iteration", "low", "y", "high", *SECONDS_COLUMNS, "trials", "series"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns, dtype=float)
