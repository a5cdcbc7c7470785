"""Whether the points of a preset depend on its iteration limits: what ends at a limit is run with twice as many.

python benchmarks/iteration_limits.py NAME [--trials 3] [--quick] [--axis m=500,900] [--series "gFM"] [--max-iter 8]

Runs a preset twice, the second time with `max_iter` doubled in every run that ended at it, and prints each point that
moves by more than its own interval (quartiles, 95% of a share, three standard errors of a mean), and each verdict that
changes. Of traces against iterations it compares the last point of each series. Those against seconds show
the first iterations, as many as the limit lets them (fifteen, say): points are compared at the same iteration, and
verdicts say whether the limit matters. Times are compared like other measures, so the machine should be idle.

--quick takes the quick form; --axis, --series and --max-iter take a part of a preset whose whole takes hours.
"""

import argparse
import copy
from dataclasses import replace
from typing import Any

import pandas as pd

from lrlab import presets
from lrlab.presets.cases import axis_of
from lrlab.presets.definition import Preset
from lrlab.presets.result import Result
from lrlab.presets.summary import lines
from lrlab.protocol import Stop
from lrlab.runs.trial import Trial


def doubled(trial: Trial) -> Trial:
    """Return the trial with twice the iterations."""
    limits = trial.job.limits._replace(max_iter=2 * trial.job.limits.max_iter)
    return trial._replace(job=replace(trial.job, limits=limits))


def ended(result: Any) -> str:
    """Return the name of the stop of a trial, or of a traced one."""
    return str(result[-1]["stop"] if isinstance(result, list) else result.stop)


def points(preset: Preset, result: Result) -> pd.DataFrame:
    """Return the value of each series at each place of the figure, and its interval."""
    table = result.table[result.table["level"] == "point"]
    figure = preset.content["figure"]
    if preset.kind == "rates":
        bar = 3 * table["standard_error"]
        table = table.assign(low=table["error"] - bar, high=table["error"] + bar)
    of_kind = {"rates": "error", "scaling": "y", "traces": figure.get("measure", "")}
    value = of_kind.get(preset.kind) or ("share" if "share" in table else "median")
    place = {"rates": ["at"], "scaling": ["x"], "traces": ["iteration"]}.get(preset.kind, [])
    if preset.kind == "curves":
        place = list({axis_of(preset, ("panels", k))[0] for k in range(len(preset.panels))})
    by = ["panel", "series"]
    if preset.kind == "traces" and figure["against"] == "iteration":
        table, place = table.groupby(by, sort=False).tail(1), []
    table = table.fillna({name: 0 for name in place}).set_index([*by, *place])
    return table[[value, "low", "high"]].set_axis(["value", "low", "high"], axis=1)


def part_of(preset: Preset, options: argparse.Namespace) -> Preset:
    """Return the preset with the chosen values of its axis, series and limit; all of it by default."""
    source = copy.copy(preset.source)
    source.content = content = copy.deepcopy(dict(preset.content))
    if options.axis:
        name, _, values = options.axis.partition("=")
        for table in (content, *content.get("panels", ())):
            if name in table.get("axes", {}):
                table["axes"] = {name: [float(value) for value in values.split(",")]}
    if options.series:
        content["series"] = [one for one in content["series"] if one["label"] in options.series]
        content["claims"] = []
    if options.max_iter:
        content["settings"] = {**content.get("settings", {}), "max_iter": options.max_iter}
    return replace(preset, source=source)


def main() -> None:
    """Run a preset twice and print the points that move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--axis")
    parser.add_argument("--series", nargs="+")
    parser.add_argument("--max-iter", type=int)
    options = parser.parse_args()
    preset = part_of(presets.load(options.name, options.quick), options)
    plan = presets.plan(preset, trials=options.trials)
    first = [plan.function(item) for item in plan.items]
    limited = [k for k, result in enumerate(first) if ended(result) == Stop.MAX_ITER.name]
    late = sum(ended(result) == Stop.TIMEOUT.name for result in first)
    print(f"{options.name}: {len(first)} runs, {len(limited)} at their iteration limit, {late} at that of time")
    second = list(first)
    for k in limited:
        second[k] = plan.function(doubled(plan.items[k]))
    results = plan.finish(first), plan.finish(second)
    before, after = (points(preset, result) for result in results)
    both = before.join(after["value"].rename("doubled"))
    moved = both[(both["doubled"] < both["low"] - 1e-12) | (both["doubled"] > both["high"] + 1e-12)]
    still = sum(ended(second[k]) == Stop.MAX_ITER.name for k in limited)
    print(f"{still} still at the limit; {len(moved)} of {len(both)} points move by more than their interval")
    if len(moved):
        print(moved.to_string(float_format="{:.4g}".format))
    for old, new in zip(*(lines(result.table) for result in results), strict=True):
        print(f"{old.verdict}: {old.claim}" + ("" if new.verdict == old.verdict else f" -> {new.verdict}: {new.ours}"))


if __name__ == "__main__":
    main()
