"""Whether the points of a preset depend on its iteration limits: what ends at a limit is run with twice as many.

python benchmarks/iteration_limits.py NAME [--trials 3]

Runs a preset of kind `curves` or `traces` twice, the second time with `max_iter` doubled in every run that
ended at it, and prints each point that moves by more than its own interval (quartiles, or 95% of a share). Of traces it
compares the last point of each series; more iterations lengthen them by design. A limit that is part of what is shown
(fifteen iterations against time) is no limit of accuracy: its points move.
"""

import argparse
from dataclasses import replace
from typing import Any

import pandas as pd

from lrlab import presets
from lrlab.presets.cases import axis_of
from lrlab.presets.definition import Preset
from lrlab.presets.result import Result
from lrlab.protocol import Stop
from lrlab.runs.trial import Trial


def doubled(trial: Trial) -> Trial:
    """Return the trial with twice the iterations."""
    limits = trial.job.limits._replace(max_iter=2 * trial.job.limits.max_iter)
    return trial._replace(job=replace(trial.job, limits=limits))


def at_limit(result: Any) -> bool:
    """Return whether a trial, or a traced one, ended at its iteration limit."""
    return (result[-1]["stop"] if isinstance(result, list) else result.stop) == Stop.MAX_ITER.name


def points(preset: Preset, result: Result) -> pd.DataFrame:
    """Return the value of each series at each value of the axis (of traces: at the end), and its interval."""
    table = result.table[result.table["level"] == "point"]
    value = next(
        name for name in ("share", "median", preset.content["figure"].get("measure", "share")) if name in table
    )
    by = ["panel", "series"] if preset.kind == "traces" else ["panel", "series", axis_of(preset, ("panels", 0))[0]]
    last = table.groupby(by, sort=False).tail(1).set_index(by)
    return last[[value, "low", "high"]].set_axis(["value", "low", "high"], axis=1)


def main() -> None:
    """Run a preset twice and print the points that move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--trials", type=int, default=3)
    options = parser.parse_args()
    preset = presets.load(options.name)
    plan = presets.plan(preset, trials=options.trials)
    first = [plan.function(item) for item in plan.items]
    limited = [k for k, result in enumerate(first) if at_limit(result)]
    print(f"{options.name}: {len(first)} runs, {len(limited)} at their iteration limit", flush=True)
    second = list(first)
    for k in limited:
        second[k] = plan.function(doubled(plan.items[k]))
    before, after = points(preset, plan.finish(first)), points(preset, plan.finish(second))
    both = before.join(after["value"].rename("doubled"))
    moved = both[(both["doubled"] < both["low"] - 1e-12) | (both["doubled"] > both["high"] + 1e-12)]
    still = sum(at_limit(second[k]) for k in limited)
    print(f"{still} still at the limit; {len(moved)} of {len(both)} points move by more than their interval")
    if len(moved):
        print(moved.to_string(float_format="{:.4g}".format))


if __name__ == "__main__":
    main()
