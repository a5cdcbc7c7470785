"""Whether the points of a preset depend on its iteration limits: every run may take twice as many iterations.

python benchmarks/iteration_limits.py NAME [--trials 3] [--quick] [--axis m=500,900] [--series "gFM"] [--max-iter 8]

Runs a preset with `max_iter` doubled, takes from every run its iterate at the former limit too, and prints each point
that moves by more than its own interval (quartiles, 95% of a share, three standard errors of a mean), how many single
trials turn from failure to success or back, and each verdict that changes. Of traces against iterations it compares the
last point of each series. Those against seconds show the first iterations, as many as the limit lets them (fifteen,
say): points are compared at the same iteration, and verdicts say whether the limit matters. Times are processor time,
so that other work on the machine hardly counts.

--quick takes the quick form; --axis, --series and --max-iter take a part of a preset whose whole takes hours.
"""

import argparse
import copy
import sys
import time
from dataclasses import replace
from typing import Any

import pandas as pd
from lrlab.presets.cases import axis_of

from lrlab import presets
from lrlab.presets.definition import Preset
from lrlab.presets.result import Result, lines
from lrlab.protocol import Iterate, Stop
from lrlab.runs.run import Newest, run_job, scored_row
from lrlab.runs.trace import Row
from lrlab.runs.trial import Trial, result_of, run_traced
from lrlab.sweeps.toml import make_success


class Halfway(Newest):
    """Scores the iterate at the former limit, while the run goes on; its row is empty where it ends before."""

    def __init__(self, iteration: int) -> None:
        """Take the former limit."""
        super().__init__()
        self.iteration = iteration
        self.row: Row = {}

    def hold(self, iteration: int, seconds: float, iterate: Iterate) -> None:
        """Take an iterate in the place of the one before."""
        super().hold(iteration, seconds, iterate)
        if iteration == self.iteration:
            self.row = scored_row(self.problem, iteration, seconds, iterate)


def twice(trial: Trial, traced: bool) -> tuple[Any, Any]:
    """Return what a trial gives at its limit and at twice its limit, from one run: no solver knows its limit."""
    limits = trial.job.limits
    longer = trial._replace(job=replace(trial.job, limits=limits._replace(max_iter=2 * limits.max_iter)))
    if traced:
        rows = run_traced(longer)
        cut = rows[: limits.max_iter]
        return (rows if len(rows) == len(cut) else [{**row, "stop": Stop.MAX_ITER.name} for row in cut]), rows
    job, halfway = longer.seeded, Halfway(limits.max_iter)
    trace = run_job(job, newest=halfway)
    last = result_of(job, trace.stop, trace.rows[-1] if trace.rows else {})
    beyond = last.iterations > limits.max_iter
    return (result_of(job, Stop.MAX_ITER, halfway.row) if beyond else last), last


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
    of_kind = {"rates": "error", "growth": "y", "traces": figure.get("measure", "")}
    value = of_kind.get(preset.kind) or ("share" if "share" in table else "median")
    place = {"rates": ["at"], "growth": ["x"], "traces": ["iteration"]}.get(preset.kind, [])
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
    time.perf_counter = time.process_time
    preset = part_of(presets.load(options.name, options.quick), options)
    plan = presets.plan(preset, trials=options.trials)
    traced = preset.kind in ("traces", "growth")
    both_ends = []
    for number, item in enumerate(plan.items):
        both_ends.append(twice(item, traced))
        print(f"{number + 1} of {len(plan.items)}", end="\r", file=sys.stderr)
    first, second = (list(results) for results in zip(*both_ends, strict=True))
    limited = [k for k, result in enumerate(first) if ended(result) == Stop.MAX_ITER.name]
    late = sum(ended(result) == Stop.TIMEOUT.name for result in first)
    print(f"{options.name}: {len(first)} runs, {len(limited)} at their iteration limit, {late} at that of time")
    results = plan.finish(first), plan.finish(second)
    before, after = (points(preset, result) for result in results)
    rule = preset.content.get("success")
    if rule and not traced:
        success = make_success(rule)
        ends = ([results[k].scores.get(success.metric) for k in limited] for results in (first, second))
        turned = sum(old != new for old, new in zip(*(success.reached(one) for one in ends), strict=True))
        print(f"{turned} of {len(limited)} runs at the limit turn from failure to success or back")
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
