"""Rules of claims that compare series, and what all rules share: reproduced, not reproduced, or not decided.

- `each`: at every place that all have, each series `lower`, times `by`, is below each series `higher`, or with `any`
  below one of them: a statement on the best of several methods;
- `sooner`: the same of the times until a `level` is reached, in ratios of the same trial;
- `ratio`: a series `higher` is `level` times a series `lower`, within a factor of `within`;
- `transition`: half of the trials of each series `lower` succeed from smaller places on than those of each `higher`;
- `similar`: the series differ by a factor of at most `within`.

`at`, or `from` and `to`, name the places. A statement is reproduced where the intervals of `evidence` lie on its side,
not reproduced where one lies on the other, and otherwise open. A claim on a size that does not hold *agrees in
direction* if the effect itself is beyond the uncertainty. `of` names what a statement is about: what it says no
longer holds where the numbers of the trials are given to other series, or to other places; a test tries that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple

from lrlab.figures.numbers import rounded
from lrlab.presets.evidence import LARGEST, Interval, Place, Samples, decisive
from lrlab.presets.result import DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.sweeps.statistics import wilson

Table = Mapping[str, Any]
CHANCE = 0.05
NEITHER = Judged(None, "series without a number")


class Rule(NamedTuple):
    """How a claim is judged, the keys that it needs, and what it is about: series, places or neither."""

    judge: Callable[[Table, Samples], Judged]
    needs: tuple[str, ...]
    of: tuple[str, ...]


def decided(sides: Sequence[bool | None]) -> bool | None:
    """Return whether all statements hold; None where none fails and one is open, or there is none."""
    return False if False in sides else None if None in sides or not sides else True


def side(interval_of: Callable[[int], Interval], among: int, low: float, high: float = math.inf) -> bool | None:
    """Return whether a number lies between low and high, None where its interval reaches over an end.

    interval_of: the interval of one of so many. Where all of `among` statements have to hold, each does with its own
    interval; one that fails has to do so beyond what chance would show among so many.
    """
    one = interval_of(1)
    if (low < one.low or low == -math.inf) and (one.high < high or high == math.inf):
        return True
    all_of_them = interval_of(among)
    return False if all_of_them.high < low or all_of_them.low > high else None


def number(value: float) -> str:
    """Return a number as text."""
    return "without end" if value == math.inf else rounded(value)


def shown(samples: Samples, series: Sequence[str], place: Place) -> str:
    """Return the numbers of series at a place with their intervals as text."""
    words = []
    for name in series:
        low, high = samples.interval(name, place)
        known = f" ({number(low)} to {number(high)})" if math.isfinite(low) and math.isfinite(high) else ""
        words.append(f"{name}: {number(samples.centre(name, place))}{known}")
    return ", ".join(words)


def where(place: Place) -> str:
    """Return a place as text."""
    return place if isinstance(place, str) else f"at {place:g}"


def places_words(sides: Mapping[Place, bool | None]) -> str:
    """Return at how many places a statement holds, where the contrary does, and how many are open."""
    holds, open_ones = [sum(one is wanted for one in sides.values()) for wanted in (True, None)]
    contrary = [where(place) for place, one in sides.items() if one is False]
    words = f"as claimed at {holds} of {len(sides)} places"
    words += f", the contrary {', '.join(contrary[:3])}" if contrary else ""
    words += f" and {len(contrary) - 3} more" if len(contrary) > 3 else ""
    return words + (f", within the uncertainty at {open_ones}" if open_ones else "")


def _each(rule: Table, samples: Samples) -> Judged:
    named, by = (rule["lower"], rule["higher"]), math.log(rule.get("by", 1.0))
    places = samples.places([*named[0], *named[1]], rule)
    among = len(named[0]) * len(named[1]) * len(places)
    sides = {place: decided([_below(rule, samples, low, place, among, by) for low in named[0]]) for place in places}
    if not sides:
        return NEITHER
    words = places_words(sides)
    if len(sides) == 1:
        words = f"{'; '.join(shown(samples, names, places[0]) for names in named)}; {where(places[0])}"
    if not decisive(samples, named, places):
        return Judged(None, f"{words}; {TOO_FEW}")
    holds = decided([*sides.values()])
    if holds is False and by > 0.0 and _each({**rule, "by": 1.0}, samples).holds:
        return Judged(False, f"{words}; below at all of them by less", DIRECTION)
    return Judged(holds, words)


def _below(rule: Table, samples: Samples, low: str, place: Place, among: int, by: float) -> bool | None:
    """Return whether a series is below all of the higher ones, or with `any` below one of them."""
    most = len(rule["higher"]) if rule.get("any") else 1

    def contrast(high: str, count: int) -> Interval:
        return samples.contrast(low, high, place, count * most)

    one_by_one = [side(partial(contrast, high), among, by) for high in rule["higher"]]
    if not rule.get("any"):
        return decided(one_by_one)
    return True if True in one_by_one else None if None in one_by_one else False


def _ratio(rule: Table, samples: Samples) -> Judged:
    named, level, room = (rule["lower"], rule["higher"]), math.log(rule["level"]), math.log(rule["within"])
    places = samples.places([*named[0], *named[1]], rule)
    sides, ahead, words, pairs = [], [], [], list(product(*named))
    effect = (0.0, math.inf) if level > 0.0 else (-math.inf, 0.0)
    for place in places:
        for low, high in pairs:
            contrast = partial(samples.contrast, low, high, place)
            sides.append(side(contrast, len(pairs) * len(places), level - room, level + room))
            ahead.append(side(contrast, len(pairs) * len(places), *effect))
            if contrast().known:
                ends = " to ".join(number(math.exp(min(end, LARGEST))) for end in contrast())
                words.append(f"{high} over {low} {where(place)}: {ends}")
    if not decisive(samples, named, places):
        return Judged(None, "; ".join([*words, TOO_FEW]))
    measured = "; ".join(words) or NEITHER.measured
    return Judged(decided(sides), measured, DIRECTION if decided(ahead) else FAILED)


def _transition(rule: Table, samples: Samples) -> Judged:
    named = (rule["lower"], rule["higher"])
    if not samples.places([*named[0], *named[1]], rule):
        return NEITHER
    halves = {name: half(samples, name) for names in named for name in names}
    sides = [
        True if halves[low].high <= halves[high].low else False if halves[low].low >= halves[high].high else None
        for low, high in product(*named)
    ]
    ends = {
        name: [f"above {interval.low:g}"] * bool(interval.low > -math.inf)
        + [f"up to {interval.high:g}"] * bool(interval.high < math.inf)
        for name, interval in halves.items()
    }
    words = ", ".join(f"{name}: {' and '.join(own) or 'unknown'}" for name, own in ends.items())
    return Judged(decided(sides), f"half of the trials succeed at places {words}")


def half(samples: Samples, series: str) -> Interval:
    """Return between which places the share of successes passes one half, by the 95% Wilson intervals."""
    places = [place for place in samples.values[series] if not isinstance(place, str)]
    ends = [wilson(int(values.sum()), len(values)) for values in samples.values[series].values()]
    low = next((k for k, end in enumerate(ends) if end.high >= 0.5), len(ends))
    high = next((k for k in range(len(ends), 0, -1) if ends[k - 1].low < 0.5), 0)
    first = -math.inf if low == 0 else places[low - 1]
    return Interval(first, places[high] if high < len(places) else math.inf)


def _similar(rule: Table, samples: Samples) -> Judged:
    room, places = math.log(rule["within"]), samples.places(rule["series"], rule)
    pairs = list(combinations(rule["series"], 2))
    sides = {
        place: decided(
            [side(partial(samples.contrast, *pair, place), len(pairs) * len(places), -room, room) for pair in pairs]
        )
        for place in places
    }
    if len(sides) < 2:
        return Judged(None, "fewer than two common places")
    return Judged(decided([*sides.values()]), f"within a factor of {rule['within']:g}: {places_words(sides)}")


ORDER_RULES: Mapping[str, Rule] = {
    "each": Rule(_each, ("lower", "higher"), ("series",)),
    "sooner": Rule(_each, ("lower", "higher", "level"), ("series",)),
    "ratio": Rule(_ratio, ("lower", "higher", "level", "within"), ("series",)),
    "transition": Rule(_transition, ("lower", "higher"), ("series", "places")),
    "similar": Rule(_similar, ("series", "within"), ()),
}
