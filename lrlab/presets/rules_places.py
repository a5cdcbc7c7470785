"""Rules of claims on how numbers change from place to place, or how large they are.

- `rising`, `falling`: each of the series rises, or falls, from place to place;
- `settles`: the series are at most at `level` at the places of the claim, and above it at that farthest from them;
- `about`: the numbers of the series are `level`, within a factor of `within`; they *agree in direction* within 1.5;
- `constant`: the numbers of each series differ from place to place by a factor of at most `within`;
- `threshold`: where each series `lower` is below `level` most trials of each `higher` succeed, as claimed, and most
  fail where it is above `level` times `within`, without which nothing is decided.
"""

import math
from collections.abc import Mapping
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np

from lrlab.presets.evidence import Interval, Samples
from lrlab.presets.result import DIRECTION, FAILED, Judged
from lrlab.presets.rules import CHANCE, NEITHER, Rule, Table, decided, number, shown, side, where
from lrlab.sweeps.statistics import wilson

NEAR = 1.5
"""Factor within which a number that is not the claimed one has its size."""


def _trend(rule: Table, samples: Samples, sign: float) -> Judged:
    sides, words = list[bool | None](), []
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        centres = sign * np.array([samples.centre(name, place) for place in places])
        sure = [samples.interval(name, place, len(places) * len(rule["series"])) for place in places]
        against = any(_after(one, other, -sign) for one, other in [*pairwise(sure), (sure[0], sure[-1])])
        ahead = _after(samples.interval(name, places[0]), samples.interval(name, places[-1]), sign)
        chance = ordered_by_chance(centres)
        sides.append(False if against else True if ahead and chance <= CHANCE else None)
        words.append(
            f"{shown(samples, [name], places[0])} at first, {number(samples.centre(name, places[-1]))} at last"
        )
        words[-1] += "" if chance <= CHANCE or sides[-1] is False else ", places too few or out of order"
    return Judged(decided(sides), "; ".join(words))


def _after(one: Interval, other: Interval, sign: float) -> bool:
    """Tell whether the other interval lies beyond one in a direction."""
    return other.low > one.high if sign > 0 else other.high < one.low


def ordered_by_chance(centres: np.ndarray) -> float:
    """Return how likely so many pairs in rising order are where all orders are equally likely (Kendall)."""
    count = len(centres)
    concordant = sum(a < b for a, b in combinations(centres, 2))
    ways = [1.0]
    for k in range(2, count + 1):
        # One more number stands before j of the others in one order of k.
        ways = [sum(ways[max(0, i - k + 1) : i + 1]) / k for i in range(len(ways) + k - 1)]
    return float(sum(ways[concordant:]))


def _settles(rule: Table, samples: Samples) -> Judged:
    sides, words = list[bool | None](), []
    for name in rule["series"]:
        inside, everywhere = samples.places([name], rule), samples.places([name], {})
        outside = [place for place in everywhere if place not in inside]
        if not inside or not outside:
            return NEITHER
        far = outside[0] if "from" in rule else outside[-1]
        among = len(inside) * len(rule["series"])
        sides += [side(partial(samples.interval, name, place), among, -math.inf, rule["level"]) for place in inside]
        sides.append(side(partial(samples.interval, name, far), 1, rule["level"]) or None)
        near = max(inside, key=lambda place: samples.centre(name, place))
        words.append(f"{shown(samples, [name], near)} {where(near)}, {number(samples.centre(name, far))} {where(far)}")
    return Judged(decided(sides), "; ".join(words))


def _about(rule: Table, samples: Samples) -> Judged:
    sides, near, words = list[bool | None](), [], []
    low, high = rule["level"] / rule["within"], rule["level"] * rule["within"]
    for name in rule["series"]:
        places = samples.places([name], rule)
        among = len(places) * len(rule["series"])
        sides += [side(partial(samples.interval, name, place), among, low, high) for place in places]
        near += [
            side(partial(samples.interval, name, place), among, rule["level"] / NEAR, rule["level"] * NEAR)
            for place in places
        ]
        centres = [samples.centre(name, place) for place in places]
        words += [f"{name}: {number(min(centres))} to {number(max(centres))}"] if centres else []
    return Judged(decided(sides), "; ".join(words) or NEITHER.measured, DIRECTION if decided(near) else FAILED)


def _constant(rule: Table, samples: Samples) -> Judged:
    sides, words = list[bool | None](), []
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        ends = [samples.interval(name, place, len(places) * len(rule["series"])) for place in places]
        widest, least = max(end.high for end in ends), min(end.low for end in ends)
        apart = max(end.low for end in ends) > rule["within"] * min(end.high for end in ends)
        sides.append(True if widest <= rule["within"] * least else False if apart else None)
        centres = [samples.centre(name, place) for place in places]
        words.append(f"{name}: {number(min(centres))} to {number(max(centres))}")
    return Judged(decided(sides), "; ".join(words))


def _threshold(rule: Table, samples: Samples) -> Judged:
    sides, words = list[bool | None](), []
    for low, high in product(rule["lower"], rule["higher"]):
        places, most = samples.places([low, high], rule), rule["level"] * rule["within"]
        ends = {place: samples.interval(low, place) for place in places}
        below = [place for place in places if ends[place].high < rule["level"]]
        above = [place for place in places if ends[place].low > most]
        # The condition is sufficient: success without it contradicts nothing, but then it tells nothing either.
        sides += [_most(samples.values[high][place]) for place in below] or [None]
        sides += [_most(samples.values[high][place]) is False or None for place in above] or [None]
        for own, word, level in ((below, "below", rule["level"]), (above, "above", most)):
            shares = [float(samples.values[high][place].mean()) for place in own]
            share = f"{number(min(shares))} to {number(max(shares))} at {len(own)} places" if own else "nowhere"
            words.append(f"{high} where {low} is {word} {level:g}: {share}")
    return Judged(decided(sides), "; ".join(words))


def _most(values: np.ndarray) -> bool | None:
    """Return whether most trials succeed, None where their number does not tell."""
    low, high = wilson(int(np.sum(values > 0.5)), len(values))
    return True if low >= 0.5 else False if high < 0.5 else None


PLACE_RULES: Mapping[str, Rule] = {
    "rising": Rule(lambda rule, samples: _trend(rule, samples, 1.0), ("series",), ("places",)),
    "falling": Rule(lambda rule, samples: _trend(rule, samples, -1.0), ("series",), ("places",)),
    "settles": Rule(_settles, ("series", "level"), ("places",)),
    "threshold": Rule(_threshold, ("lower", "higher", "level", "within"), ("series", "places")),
    "about": Rule(_about, ("series", "level", "within"), ()),
    "constant": Rule(_constant, ("series", "within"), ()),
}
