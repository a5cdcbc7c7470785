"""Rules of slopes: powers in theorems, powers of a rate, and exponents of time and memory.

Bounds have free constants. So a rule judges a slope other than 0 over at least a factor of 8 in its variable, with an
interval at most 0.3 wide. A formula bounds growth from above. Its exponent is met if the interval is narrower than the
exponent (at most 1; 0.3 for exponent 0), lies above 0 and does not end below half of the exponent.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from lrlab.presets.evidence import EVERYTHING, Interval, Samples
from lrlab.presets.result import TOO_FEW, Judged
from lrlab.presets.rules import NEITHER, Rule, Statement, Table, concluded, number

WIDE, WIDE_OF_NONE = 1.0, 0.3
"""Width at which the interval of an exponent says too little; the second one is for a formula without growth. If
times that grow as a square root are permuted randomly, 7% have an interval that contains 0 and is narrower than 0.5."""
LEAST_RANGE, WIDE_OF_BOUND = 8.0, 0.3
"""Smallest range of a variable, and widest interval, to judge the shape of a bound."""
ROOM = 0.15
"""Largest distance of an exponent from 1 for errors that count as proportional to a rate."""


def power(
    x: Sequence[np.ndarray], y: Sequence[np.ndarray], trials: Sequence[np.ndarray] | None = None
) -> tuple[float, Interval]:
    """Return the common slope of log y over log x in all groups, with its 95% least-squares interval.

    trials: numbers of trials behind each y, its weight. Each group has its own constant; nan for too few points.
    Curvature widens the interval.
    """
    u, v, count = list[np.ndarray](), list[np.ndarray](), sum(map(len, x)) - len(x) - 1
    for own_x, own_y, weight in zip(x, y, trials or map(np.ones_like, y), strict=True):
        for parts, values in ((u, np.log(own_x)), (v, np.log(own_y))):
            parts.append(np.sqrt(weight) * (values - np.average(values, weights=weight)))
    if count < 1:
        return math.nan, EVERYTHING
    a, b = np.concatenate(u), np.concatenate(v)
    slope = float(a @ b / (a @ a))
    room = float(stdtrit(count, 0.975) * np.linalg.norm(b - slope * a) / np.sqrt(count * (a @ a)))
    return slope, Interval(slope - room, slope + room)


def exponent(samples: Samples, series: str, rule: Table | None = None) -> tuple[float, Interval]:
    """Return the slope of a series with its interval, over the places of a rule with a number."""
    places = samples.places([series], rule or {}) if series in samples.values else []
    known = [place for place in places if np.isfinite(samples.center(series, place))]
    if len(known) < 3:
        return math.nan, EVERYTHING
    return power([np.array(known, float)], [np.array([samples.center(series, place) for place in known])])


def _exponent(rule: Table, samples: Samples) -> Judged:
    (series,), claimed = rule["series"], float(rule["claimed"])
    slope, (low, high) = exponent(samples, series)
    if slope != slope:
        return NEITHER
    words = f"{series}: {rule['axis']}^{number(slope)} (95% interval {number(low)} to {number(high)})"
    if min(len(values) for values in samples.values[series].values()) < 2:
        return Judged(None, f"{words}; {TOO_FEW}")
    if low > claimed:
        return Judged(False, words)
    if high - low > min(WIDE, claimed or WIDE_OF_NONE):
        return Judged(None, f"{words}; the interval is wider than the claim")
    if claimed and not (low > 0.0 and high >= claimed / 2.0):
        return Judged(None, f"{words}; a constant part hides the growth")
    return Judged(True, words)


def _proportional(rule: Table, samples: Samples) -> Judged:
    """Judge whether the errors of all series are proportional to the rate, each with its own constant."""
    x, y, trials = [], [], []
    for name in rule["series"]:
        own = {place: samples.values[name][place] for place in samples.places([name], rule)}
        if len(own) > 1:
            trials.append(np.array([len(values) for values in own.values()], float))
            x.append(np.array([*own], float))
            y.append(np.array([values.mean() for values in own.values()]))
    if not x:
        return NEITHER
    slope, (low, high) = power(x, y, trials)
    words = f"error grows as the rate to the power {number(slope)} (95% interval {number(low)} to {number(high)})"
    if min(map(min, trials)) < 2 or slope != slope:
        return Judged(None, f"{words}; {TOO_FEW} or rates")
    inside, outside = 1.0 - ROOM <= low and high <= 1.0 + ROOM, high < 1.0 - ROOM or low > 1.0 + ROOM
    return concluded([Statement("", True if inside else False if outside else None, low > 0.0)], words)


def _slope(rule: Table, samples: Samples) -> Judged:
    """Judge whether the slopes of all series are at most `level`, or, with `within`, near it."""
    room = rule.get("within")
    least, most = (-math.inf, rule["level"]) if room is None else (rule["level"] - room, rule["level"] + room)
    statements, words = list[Statement](), []
    for name in rule["series"]:
        slope, (low, high) = exponent(samples, name, rule)
        if slope != slope:
            return NEITHER
        places = samples.places([name], rule)
        ends = [float(place) for place in places]
        vague = rule["level"] != 0.0 and (high - low > WIDE_OF_BOUND or max(ends) < LEAST_RANGE * min(ends))
        more = f", over a factor below {LEAST_RANGE:g} or too wide to judge a shape" if vague else ""
        words.append(f"{name}: power {number(slope)} (95% interval {number(low)} to {number(high)}){more}")
        few = min(len(samples.values[name][place]) for place in places) < 2
        inside, outside = least <= low and high <= most, high < least or low > most
        same_sign = low > 0.0 if rule["level"] > 0.0 else high < 0.0
        holds = None if few else True if inside and not vague else False if outside else None
        statements.append(Statement(name, holds, same_sign))
    return concluded(statements, "; ".join(words))


SLOPE_RULES: Mapping[str, Rule] = {
    "slope": Rule(_slope, ("places",)),
    "decays": Rule(_slope, ("places",)),
    "proportional": Rule(_proportional, ("places",)),
}
"""Rules of claims in files."""
EXPONENT = Rule(_exponent, ("places",))
"""The rule for the exponents of a series."""
