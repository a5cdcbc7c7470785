"""Rules of powers: of a time or a memory that a formula bounds, of an error to a rate, and powers that theorems name.

- `exponent`: the growth of a series is at most that of the formula;
- `proportional`: errors of all series grow as their rate;
- `slope`: the power of each series is `level`, give or take `within`, its whole interval;
- `decays`: the power of each series is at most `level`, its whole interval: a bound that falls so holds.

Bounds have free constants, so a power other than 0 is judged over at least a factor of 8 in its variable, with an
interval at most 0.3 wide. A power that is not the claimed one *agrees in direction* if its interval has the same sign.

An exponent is the slope of the logarithms of the medians over that of the places, with the 95% interval of least
squares: medians that bend show as a wide interval. A formula bounds the growth from above. It is not reproduced where
the interval lies above its exponent, and reproduced where the growth is seen and is no faster: the interval is narrower
than the exponent (and than one; than 0.3 where that is 0), lies above 0 and does not end below half of the exponent.
Otherwise nothing is decided: what does not grow with the size still counts for more, or the sizes are too few.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from lrlab.presets.evidence import Interval, Place, Samples
from lrlab.presets.result import DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.presets.rules import NEITHER, Rule, Table, decided, number

WIDE, WIDE_OF_NONE = 1.0, 0.3
"""Width of an interval of an exponent that says too little, also where the formula does not grow: of times that grow as
the square root of a size, given to other sizes, 7 of 100 have an interval of less than 0.5 with 0 in it."""
LEAST_RANGE, WIDE_OF_BOUND = 8.0, 0.3
"""Range of a variable and width of an interval over which the shape of a bound is judged."""
ROOM = 0.15
"""How far an exponent may lie from one where errors are called proportional to a rate."""


def power(x: Sequence[np.ndarray], y: Sequence[np.ndarray]) -> tuple[float, Interval]:
    """Return the slope of log y over log x, the same in all groups, with its 95% interval; nan for too few points.

    Each group has a constant of its own.
    """
    logs = [(np.log(own_x), np.log(own_y)) for own_x, own_y in zip(x, y, strict=True)]
    u = np.concatenate([own - own.mean() for own, _ in logs])
    v = np.concatenate([own - own.mean() for _, own in logs])
    freedom = len(u) - len(logs) - 1
    if freedom < 1:
        return float("nan"), Interval(float("-inf"), float("inf"))
    slope = float(u @ v / (u @ u))
    half = float(stdtrit(freedom, 0.975) * np.linalg.norm(v - slope * u) / np.sqrt(freedom * (u @ u)))
    return slope, Interval(slope - half, slope + half)


def exponent(samples: Samples, series: str) -> tuple[float, Interval]:
    """Return the exponent of a series with its interval, of the places with a number."""
    at = [place for place in samples.values.get(series, {}) if np.isfinite(samples.centre(series, place))]
    if len(at) < 3:
        return float("nan"), Interval(float("-inf"), float("inf"))
    return power([np.array(at, float)], [np.array([samples.centre(series, place) for place in at])])


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
        return Judged(None, f"{words}; what does not grow with the size hides the growth")
    return Judged(True, words)


def _proportional(rule: Table, samples: Samples) -> Judged:
    """Judge whether the errors of all series grow as the rate, each with a constant of its own."""
    x, y, trials = [], [], set[int]()
    for name in rule["series"]:
        own: dict[Place, float] = {
            place: float(values.mean()) for place, values in samples.values.get(name, {}).items()
        }
        trials |= {len(values) for values in samples.values.get(name, {}).values()}
        if len(own) > 1:
            x.append(np.array([*own], float))
            y.append(np.array([*own.values()]))
    if not x:
        return NEITHER
    slope, (low, high) = power(x, y)
    words = f"error grows as the rate to the power {number(slope)} (95% interval {number(low)} to {number(high)})"
    if min(trials) < 2 or slope != slope:
        return Judged(None, f"{words}; {TOO_FEW} or rates")
    if 1.0 - ROOM <= low and high <= 1.0 + ROOM:
        return Judged(True, words)
    return Judged(False if high < 1.0 - ROOM or low > 1.0 + ROOM else None, words, DIRECTION if low > 0.0 else FAILED)


def _slope(rule: Table, samples: Samples) -> Judged:
    return _powers(rule, samples, rule["level"] - rule["within"], rule["level"] + rule["within"])


def _powers(rule: Table, samples: Samples, least: float, most: float) -> Judged:
    """Judge whether the powers of all series lie between two ends."""
    sides, same_sign, words = list[bool | None](), [], []
    for name in rule["series"]:
        own = Samples({name: {place: samples.values[name][place] for place in samples.places([name], rule)}})
        slope, (low, high) = exponent(own, name)
        if slope != slope:
            return NEITHER
        words.append(f"{name}: power {number(slope)} (95% interval {number(low)} to {number(high)})")
        few = min(len(values) for values in own.values[name].values()) < 2
        ends = [float(place) for place in own.values[name]]
        vague = rule["level"] != 0.0 and (high - low > WIDE_OF_BOUND or max(ends) < LEAST_RANGE * min(ends))
        words[-1] += f", over a factor below {LEAST_RANGE:g} or too wide to judge a shape" if vague else ""
        inside, outside = least <= low and high <= most, high < least or low > most
        sides.append(None if few else True if inside and not vague else False if outside else None)
        same_sign.append(low > 0.0 if rule["level"] > 0.0 else high < 0.0)
    return Judged(decided(sides), "; ".join(words), DIRECTION if all(same_sign) else FAILED)


POWER_RULES: Mapping[str, Rule] = {
    "slope": Rule(_slope, ("series", "level", "within"), ("places",)),
    "decays": Rule(
        lambda rule, samples: _powers(rule, samples, -np.inf, rule["level"]), ("series", "level"), ("places",)
    ),
    "proportional": Rule(_proportional, ("series",), ("places",)),
}
"""Those of claims in files."""
GROWTH_RULES: Mapping[str, Rule] = {"exponent": Rule(_exponent, ("series", "claimed", "axis"), ("places",))}
