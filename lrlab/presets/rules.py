"""Rules that judge claims: a statistic of the trials, its interval, and the region that the paper states.

| statistic | rule: region |
|---|---|
| paired ratio of series | `each`, `sooner`: above `by` (1), or at `level` within a factor; `similar`: near 1 |
| value | `about`: `level` within a factor; `constant`: the same at all points within a factor |
| order over the points | `rising`, `falling` |
| point of 50% success | `transition`: `lower` has it before `higher` |
| slope of logarithms | `slope`: `level` plus or minus `within`; `decays`: at most `level`; `proportional`: 1 for all |
| | `exponent`: at most the exponent of a formula, if growth shows |

`at`, `from`, `to` or `columns` select points; with `any`, one series of `higher` suffices. A claim is reproduced if
every interval lies in the region, not reproduced if one lies outside, and otherwise not decided. A failed claim on a
size *agrees in direction* if the effect itself exceeds the uncertainty. `claims` judges printed numbers.

Bounds have free constants. So a rule judges a slope other than 0 over at least a factor of 8 in its variable, with an
interval at most 0.3 wide. A formula bounds growth from above. Its exponent is met if the interval is narrower than the
exponent (at most 1; 0.3 for exponent 0), lies above 0 and does not end below half of the exponent.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from lrlab.figures.numbers import rounded
from lrlab.presets.evidence import Interval, Place, Samples, decisive, power
from lrlab.presets.result import DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.sweeps.statistics import wilson_bounds

Table = Mapping[str, Any]
Region = tuple[float, float]
Rule = Callable[[Table, Samples], Judged]
CHANCE = 0.05
NEITHER = Judged(None, "series without a number")
NEAR = 1.5
"""Factor within which a number still has the claimed order of magnitude."""
WIDE, WIDE_OF_NONE = 1.0, 0.3
"""Largest width of an interval that determines an exponent; the second one is for a formula without growth. If
times that grow as a square root are permuted randomly, 7% have an interval that contains 0 and is narrower than 0.5."""
LEAST_RANGE, WIDE_OF_BOUND = 8.0, 0.3
"""Smallest range of a variable, and widest interval, to judge the shape of a bound."""
PROPORTIONAL = 0.15
"""Largest distance of an exponent from 1 for errors that count as proportional to a rate."""


class Statement(NamedTuple):
    """Whether the statistic at a place lies in the region, and in the wider region of the effect; None if open."""

    place: Place
    holds: bool | None
    effect: bool | None = False


def decided(sides: Iterable[bool | None]) -> bool | None:
    """Return whether all statements hold; None without any, or if one is open and none fails."""
    known = [*sides]
    return False if False in known else None if None in known or not known else True


def side(interval_of: Callable[[int], Interval], among: int, region: Region, least: int = 1) -> bool | None:
    """Return whether a number lies in a region, None if its interval contains an end.

    interval_of: the interval, corrected for a number of simultaneous statements. A statement holds by its own interval;
    it fails only by the interval that is corrected for all of `among` statements. least: how many it always has.
    """
    one, (low, high) = interval_of(least), region
    if (low < one.low or low == -math.inf) and (one.high < high or high == math.inf):
        return True
    all_of_them = interval_of(among * least)
    return False if all_of_them.high < low or all_of_them.low > high else None


def concluded(statements: Sequence[Statement], words: str, lacking: str = "") -> Judged:
    """Return the outcome of a claim whose statements must all hold; `lacking`: why they cannot decide it."""
    if not statements:
        return NEITHER
    if lacking:
        return Judged(None, f"{words}; {lacking}")
    effect = decided(one.effect for one in statements)
    return Judged(decided(one.holds for one in statements), words, DIRECTION if effect else FAILED)


def number(value: float) -> str:
    """Return a number as text."""
    return "without end" if value == math.inf else rounded(value)


def shown(samples: Samples, series: Sequence[str], place: Place) -> str:
    """Return the numbers of series at a place, with intervals, as text."""
    ends = {name: samples.interval(name, place) for name in series}
    known = {name: f" ({number(low)} to {number(high)})" for name, (low, high) in ends.items() if low < high < math.inf}
    return ", ".join(f"{name}: {number(samples.center(name, place))}{known.get(name, '')}" for name in series)


def where(place: Place) -> str:
    """Return a place as text."""
    return place if isinstance(place, str) else f"at {place:g}"


def listed(words: Sequence[str], most: int = 3) -> str:
    """Return the first words of a list, and the number of the others."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def places_words(statements: Sequence[Statement]) -> str:
    """Return in words how many places agree with a claim, contradict it, or leave it open."""
    places = dict.fromkeys(one.place for one in statements)
    sides = {place: decided(one.holds for one in statements if one.place == place) for place in places}
    holds, open_ones = (sum(one is wanted for one in sides.values()) for wanted in (True, None))
    words = f"as claimed at {holds} of {len(sides)} points"
    if contrary := [where(place) for place, one in sides.items() if one is False]:
        words += f", the contrary {listed(contrary)}"
    return words + (f", within the uncertainty at {open_ones}" if open_ones else "")


def ranges(rule: Table, samples: Samples) -> str:
    """Return the range of each series as text."""
    centers = {name: [samples.center(name, x) for x in samples.places([name], rule)] for name in rule["series"]}
    return "; ".join(f"{name}: {number(min(own))} to {number(max(own))}" for name, own in centers.items() if own)


def _compared(
    rule: Table, samples: Samples, pairs: Sequence[tuple[str, str]], region: Region, effect: Region | None = None
) -> list[Statement]:
    """Return whether the log ratio of each pair of series lies in the region at each common place.

    With `any`, one of several pairs suffices for a series of `lower`.
    """
    places = samples.places(dict.fromkeys(name for pair in pairs for name in pair), rule)
    least, best = len(rule["higher"]) if rule.get("any") else 1, dict[Any, Statement]()
    for place, (low, high) in product(places, pairs):
        of, among = partial(samples.contrast, low, high, place), len(pairs) * len(places)
        one = Statement(place, *(side(of, among, own, least) for own in (region, effect) if own))
        key = (place, low) if rule.get("any") else (place, low, high)
        best[key] = max(best.get(key, one), one, key=lambda own: (False, None, True).index(own.holds))
    return list(best.values())


def _each(rule: Table, samples: Samples) -> Judged:
    """Judge whether all ratios of `higher` to `lower` exceed `by`, or are `level` within a factor."""
    named, room = (rule["lower"], rule["higher"]), rule.get("within", 1.0)
    least, most = math.log(rule.get("by", 1.0)), math.inf
    # The rule `sooner` has a level of errors, not of ratios.
    if rule["rule"] == "each" and "level" in rule:
        least, most = math.log(rule["level"] / room), math.log(rule["level"] * room)
    pairs = [*product(*named)]
    statements = _compared(rule, samples, pairs, (least, most), (0.0, math.inf) if least > 0.0 else None)
    places, words = list(dict.fromkeys(one.place for one in statements)), places_words(statements)
    if len(places) == 1:
        words = f"{'; '.join(shown(samples, names, places[0]) for names in named)}; {where(places[0])}"
    if least > 0.0 and places:
        ends = [samples.contrast(*pair, place).exp for place in places for pair in pairs]
        ratios = f"ratios {number(min(one.low for one in ends))} to {number(max(one.high for one in ends))}"
        # A smaller or larger effect does not contradict the direction.
        same_direction = decided(one.effect for one in statements) and not decided(one.holds for one in statements)
        words = ratios if same_direction else f"{words}; {ratios}"
    return concluded(statements, words, "" if decisive(samples, named, places) else TOO_FEW)


def _similar(rule: Table, samples: Samples) -> Judged:
    room = math.log(rule["within"])
    statements = _compared(rule, samples, [*combinations(rule["series"], 2)], (-room, room))
    if len({one.place for one in statements}) < 2:
        return Judged(None, "fewer than two common points")
    return concluded(statements, f"within a factor of {rule['within']:g}: {places_words(statements)}")


def _about(rule: Table, samples: Samples) -> Judged:
    regions = [(rule["level"] / room, rule["level"] * room) for room in (rule["within"], NEAR)]
    points = [(name, place) for name in rule["series"] for place in samples.places([name], rule)]
    statements = [
        Statement(place, *(side(partial(samples.interval, name, place), len(points), region) for region in regions))
        for name, place in points
    ]
    return concluded(statements, ranges(rule, samples))


def _constant(rule: Table, samples: Samples) -> Judged:
    statements, within = list[Statement](), rule["within"]
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        ends = [samples.interval(name, place, len(places) * len(rule["series"])) for place in places]
        lows, highs = zip(*ends, strict=True)
        together, apart = max(highs) <= within * min(lows), max(lows) > within * min(highs)
        statements.append(Statement(name, True if together else False if apart else None))
    return concluded(statements, ranges(rule, samples))


def _trend(rule: Table, samples: Samples) -> Judged:
    """Judge whether the numbers rise from the first to the last place, or, for `falling`, in the opposite order."""
    statements, words = list[Statement](), []
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        upward = places if rule["rule"] == "rising" else places[::-1]
        sure = [samples.interval(name, place, len(places) * len(rule["series"])) for place in upward]
        ahead = samples.interval(name, upward[-1]).low > samples.interval(name, upward[0]).high
        against = any(later.high < one.low for one, later in [*pairwise(sure), (sure[0], sure[-1])])
        ordered = ordered_by_chance([samples.center(name, place) for place in upward]) <= CHANCE
        statements.append(Statement(name, False if against else True if ahead and ordered else None))
        more = "" if ordered or against else ", points too few or out of order"
        end = number(samples.center(name, places[-1]))
        words.append(f"{shown(samples, [name], places[0])} at first, {end} at last{more}")
    return concluded(statements, "; ".join(words))


def ordered_by_chance(centers: Sequence[float]) -> float:
    """Return the probability of at least as many rising pairs if all orders are equally likely (Kendall)."""
    concordant, ways = sum(a < b for a, b in combinations(centers, 2)), np.ones(1)
    for k in range(2, len(centers) + 1):
        # Inserting the k-th number adds 0 to k - 1 rising pairs with equal probability.
        ways = np.convolve(ways, np.full(k, 1.0 / k))
    return float(ways[concordant:].sum())


def _transition(rule: Table, samples: Samples) -> Judged:
    """Judge whether each series of `lower` has its point of 50% success before each series of `higher`."""
    names = [*rule["lower"], *rule["higher"]]
    if not samples.places(names, rule):
        return NEITHER
    halves, statements, words = {name: half(samples, name) for name in names}, list[Statement](), []
    for first, second in product(rule["lower"], rule["higher"]):
        one, other = halves[first], halves[second]
        # If a series succeeds at its first place, its point of 50% is unknown.
        before, after = (-math.inf < a.low and a.high <= b.low for a, b in ((one, other), (other, one)))
        statements.append(Statement(first, True if before else False if after else None))
    for name, (low, high) in halves.items():
        ends = [f"above {low:g}"] * (low > -math.inf) + [f"up to {high:g}"] * (high < math.inf)
        words.append(f"{name}: {' and '.join(ends) or 'unknown'}")
    return concluded(statements, f"the success rate is 50% at {', '.join(words)}")


def half(samples: Samples, series: str) -> Interval:
    """Return the interval that contains the point of 50% success, by 95% Wilson intervals."""
    places = [place for place in samples.values[series] if not isinstance(place, str)]
    ends = [wilson_bounds(np.sum(values > 0.5), len(values)) for values in samples.values[series].values()]
    # The first point at which most trials may succeed, and the one after the last at which most may fail.
    before = next((k for k, (_, high) in enumerate(ends) if high >= 0.5), len(ends))
    after = next((k for k in range(len(ends), 0, -1) if ends[k - 1][0] < 0.5), 0)
    return Interval(places[before - 1] if before else -math.inf, places[after] if after < len(places) else math.inf)


def _slope(rule: Table, samples: Samples) -> Judged:
    """Judge the slope of each series, or, if they are called proportional to the variable, the slope of all."""
    kind, level = rule["rule"], float(rule.get("level", 1.0))
    pooled, room = kind == "proportional", PROPORTIONAL if kind == "proportional" else rule.get("within")
    least, most = (-math.inf, level) if room is None else (level - room, level + room)
    statements, words = list[Statement](), []
    for names in [rule["series"]] if pooled else [[name] for name in rule["series"]]:
        # Means: medians of random numbers would count as proportional in just over 5% of draws.
        slope, (low, high) = power(samples, names, rule, means=pooled)
        if slope != slope:
            return NEITHER
        doubt = _doubt(rule, samples, names, Interval(low, high))
        inside, outside = least <= low and (high <= most or kind == "exponent"), high < least or low > most
        holds = False if outside and doubt != TOO_FEW else True if inside and not doubt else None
        # Growth beyond what bounds it from above is no effect in the claimed direction.
        bounded = kind == "exponent" or (kind == "decays" and level > 0.0)
        effect = not bounded and (low > 0.0 if level > 0.0 else high < 0.0)
        statements.append(Statement(names[0], holds, effect))
        interval = f"power {number(slope)} (95% interval {number(low)} to {number(high)})"
        more = doubt if holds is None else "below the formula" if kind == "exponent" and high < level else ""
        words.append(f"{'all series' if pooled else names[0]}: {interval}{f', {more}' if more else ''}")
    return concluded(statements, "; ".join(words))


def _doubt(rule: Table, samples: Samples, names: Sequence[str], slope: Interval) -> str:
    """Return why the interval of a slope cannot show that a claim holds, "" if it can."""
    level, width = float(rule.get("level", 1.0)), slope.high - slope.low
    places = [(name, float(place)) for name in names for place in samples.places([name], rule)]
    if min(len(samples.values[name][place]) for name, place in places) < 2:
        return TOO_FEW
    if rule["rule"] == "exponent":
        if width > min(WIDE, level or WIDE_OF_NONE):
            return "the interval is wider than the claim"
        hidden = level and not (slope.low > 0.0 and slope.high >= level / 2.0)
        return "a constant part hides the growth" if hidden else ""
    ends = [place for _, place in places]
    if rule["rule"] != "proportional" and level and (width > WIDE_OF_BOUND or max(ends) < LEAST_RANGE * min(ends)):
        return f"over a factor below {LEAST_RANGE:g} or too wide to judge a shape"
    return ""


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("each", "sooner"), _each),
    "similar": _similar,
    "about": _about,
    "constant": _constant,
    **dict.fromkeys(("rising", "falling"), _trend),
    "transition": _transition,
    **dict.fromkeys(("slope", "decays", "proportional", "exponent"), _slope),
}
