"""Every rule can be met, and missed, by what a full run measures: as many trials, the same places and series.

A rule that can never say *reproduced* is no rule either. The measurements are drawn: once as the claim has them, by a
wide margin and with a scatter of 1%, and once the other way round.
"""

from functools import cache
from zlib import crc32

import numpy as np
import pytest

from lrlab import presets
from lrlab.catalog import family
from lrlab.presets import claims, shipped
from lrlab.presets.evidence import Samples
from lrlab.presets.quantities import QUANTITIES
from lrlab.presets.rules_numbers import NUMBER_RULES
from lrlab.runs.trial import TrialResult
from tests.presets.test_rules_can_fail import made

SCATTER, WIDE = 0.01, 9.0
VALUE = 0.5
SCORES = {"precision@1": 50.0, "precision@3": 50.0, "precision@5": 50.0, "hamming": 0.05, "auc": 0.7, "seconds": 1.0}


def result_of(item):
    """Return a result of the form of a preset's, whatever its numbers."""
    if hasattr(item, "share"):
        about = {name: getattr(item, name) for name in ("data", "solver", "trial")}
        return {**about, "refused": "", "trace": [], **SCORES}
    if hasattr(item, "quantity"):
        return {"trial": item.number, "seed": 0, **dict.fromkeys(QUANTITIES[item.quantity].parts, VALUE)}
    if hasattr(item, "below"):
        return {"trial": item.number, "seed": 0, "measurements": 100.0}
    # Not all alike, so that lines can be fitted.
    value = VALUE * (1.0 + crc32(repr(item).encode()) / 2**32)
    return TrialResult(0, "CONVERGED", 1, value, dict.fromkeys(family(item.job.spec.model).measures, value))


def traced(item):
    """Return the same of a run whose iterates are all looked at."""
    one = result_of(item)
    row = {"solver": item.job.solver, "trial": item.number, "seed": 0, "iteration": 1, "seconds": VALUE, "stop": ""}
    return [{**row, "iteration": k, "seconds": k * VALUE, **one.scores} for k in (1, 2, 3)]


@cache
def judged(name):
    """Return the verdicts on a full run, all of whose data sets are there."""
    run, whole = shipped.load(name), presets.load(name)
    # A full run of products has as many threads as its machine has cores.
    if run and run.run == run.planned and name != "yu2014-fig3":
        found = made(name)
    else:
        plan = presets.plan(whole, data=shipped.names_alone(whole.data))
        function = traced if plan.function.__name__ == "run_traced" else result_of
        found = plan.finish([function(item) for item in plan.items])
    return [verdict for panel in found.panels for verdict in panel.judged]


def centres(rule, series, places, right):
    """Return what a rule is about, by series and place: as claimed, or the contrary."""
    low, within = rule.get("lower", ()), rule.get("within", 1.0)
    flat = {name: dict.fromkeys(places, 1.0) for name in series}
    match rule["rule"]:
        case "each" | "sooner":
            room = WIDE * max(1.0, rule.get("by", 1.0))
            return {name: dict.fromkeys(places, 1.0 if (name in low) == right else room) for name in series}
        case "ratio":
            above = rule["level"] * (1.0 if right else WIDE * within)
            return {name: dict.fromkeys(places, 1.0 if name in low else above) for name in series}
        case "transition":
            first = {name: 1 + (1 if (name in low) == right else 2) * len(places) // 4 for name in series}
            return {name: {x: float(k >= first[name]) for k, x in enumerate(places)} for name in series}
        case "similar":
            return flat | ({} if right else {series[0]: dict.fromkeys(places, WIDE * within)})
        case "rising" | "falling":
            sign = 1 if (rule["rule"] == "rising") == right else -1
            return {name: {x: 2.0 ** (sign * k) for k, x in enumerate(places)} for name in series}
        case "settles":
            inside = [x for x in places if rule.get("from", -np.inf) <= x <= rule.get("to", np.inf)]
            return {
                name: {x: rule["level"] * (1 / WIDE if right and x in inside else WIDE) for x in places}
                for name in series
            }
        case "constant":
            return flat if right else {name: {x: WIDE**k for k, x in enumerate(places)} for name in series}
        case "about":
            return {name: dict.fromkeys(places, rule["level"] * (1.0 if right else WIDE * within)) for name in series}
        case "slope":
            power = rule["level"] + (0.0 if right else WIDE * rule["within"])
            return {name: {x: float(x) ** power for x in places} for name in series}
        case "decays":
            return {
                name: {x: float(x) ** (rule["level"] + (-1.0 if right else 1.0)) for x in places} for name in series
            }
        case "threshold":
            below = {x: k >= len(places) // 2 for k, x in enumerate(places)}
            first = {x: rule["level"] * (1 / WIDE if below[x] else WIDE * within) for x in places}
            return {n: first if n in low else {x: float(below[x] == right) for x in places} for n in series}
        case "exponent":
            power = rule["claimed"] + (0.0 if right else 1.0)
            return {name: {x: float(x) ** power for x in places} for name in series}
    raise AssertionError(rule)


def printed(rule, right):
    """Return numbers of a table as they are printed, or in the opposite order at each place, all of them far away."""
    rows = rule["printed"]
    top = max(value for row in rows.values() for value in row.values())
    if rule["rule"] == "numbers":
        return {name: {x: v + (0.0 if right else WIDE * top) for x, v in row.items()} for name, row in rows.items()}
    # The rule judges only the order: the numbers may lie farther apart.
    above = {
        name: {x: sum(other.get(x, v) < v for other in rows.values()) for x, v in row.items()}
        for name, row in rows.items()
    }
    sign = 1 if right else -1
    return {name: {x: top * WIDE ** (sign * n + 9) for x, n in row.items()} for name, row in above.items()}


def drawn(rule, held, right):
    """Return samples as a rule has them, or the contrary, of the same series, places and numbers of trials."""
    rng = np.random.default_rng(0)
    names = list(rule["printed"]) if "printed" in rule else claims.named(rule)
    places = [place for place in held.values[names[0]] if all(place in held.values[name] for name in names)]
    if rule["rule"] == "proportional":
        # Each series has its own rates.
        means = {name: {x: x ** (1.0 if right else 3.0) for x in held.values[name]} for name in names}
    else:
        means = printed(rule, right) if "printed" in rule else centres(rule, names, places, right)
    values = {}
    for name in names:
        values[name] = {}
        for place, mean in means[name].items():
            trials = len(held.values[name].get(place, ()))
            scatter = 0.0 if rule["rule"] in ("transition", "threshold") else SCATTER
            values[name][place] = mean * np.exp(scatter * rng.standard_normal(trials))
    return Samples(values, held.errors if "printed" in rule else scaled(held, means))


def scaled(held, means):
    """Return sampling errors in the same proportion to the numbers."""
    return {
        name: {x: held.error(name, x) / held.centre(name, x) * mean for x, mean in means[name].items()}
        for name in held.errors
        if name in means
    }


def rules_of(verdict):
    """Return the rule of a claim, and that of its remark."""
    return [verdict.rule, *([verdict.rule["remark"]] if "remark" in verdict.rule else [])]


@pytest.mark.parametrize("name", presets.names())
def test_a_full_run_can_meet_and_miss_every_claim(name):
    verdicts = judged(name)
    assert len({v.paper for v in verdicts}) >= len({c["paper"] for c in presets.load(name).content.get("claims", ())})
    for verdict in verdicts:
        for rule in rules_of(verdict):
            if not all(held in verdict.samples.values for held in rule.get("printed", claims.named(rule))):
                continue
            right, wrong = (claims.judge(rule, drawn(rule, verdict.samples, way)) for way in (True, False))
            assert wrong.holds is False, f"{name}: {verdict.paper}: {wrong}"
            # Test rows cannot confirm printed numbers that differ by less than their standard error.
            close = rule["rule"] in NUMBER_RULES and "as much as the printed numbers differ" in right.measured
            assert right.holds is True or close, f"{name}: {verdict.paper}: {right}"
