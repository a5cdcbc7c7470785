"""Rules that judge claims: a statistic of the trials, its interval, and the region that the paper states.

| statistic | rule: region |
|---|---|
| paired ratio of series | `each`, `sooner`: above `by` (1); `ratio`: `level` within a factor; `similar`: near 1 |
| value | `about`: `level` within a factor; `settles`: at most `level` at the points of the claim, above it far away |
| | `constant`: the same at all points within a factor; `threshold`: below `level` most trials of another succeed |
| order over the points | `rising`, `falling` |
| point of 50% success | `transition`: `lower` has it before `higher` |
| slope, see `rules_slopes` | `slope`: `level` plus or minus `within`; `decays`: at most `level`; `proportional`: 1 |
| | `exponent`: at most the formula's exponent, if growth shows |

`at`, `from`, `to` or `columns` select points; with `any`, one series of `higher` suffices. A claim is reproduced if
every interval lies in the region, not reproduced if one lies outside, and otherwise not decided. A failed claim on a
size *agrees in direction* if the effect itself exceeds the uncertainty.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from lrlab.figures.numbers import rounded
from lrlab.presets.evidence import Interval, Place, Samples, decisive
from lrlab.presets.result import DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.sweeps.statistics import wilson

Table = Mapping[str, Any]
CHANCE = 0.05
NEITHER = Judged(None, "series without a number")
NEAR = 1.5
"""Factor within which a number still has the claimed order of magnitude."""


class Rule(NamedTuple):
    """The judge of a claim, and its subject: series, places, or neither.

    A test permutes the numbers of the subject; the rule must then rarely hold.
    """

    judge: Callable[[Table, Samples], Judged]
    of: tuple[str, ...] = ()


class Statement(NamedTuple):
    """Whether the statistic at a place lies in the region, and in the wider region of the effect; None if open."""

    place: Place
    holds: bool | None
    effect: bool | None = False


def decided(sides: Sequence[bool | None]) -> bool | None:
    """Return whether all statements hold; None without any, or if one is open and none fails."""
    return False if False in sides else None if None in sides or not sides else True


def side(interval_of: Callable[[int], Interval], among: int, low: float, high: float = math.inf) -> bool | None:
    """Return whether a number lies between low and high, None if its interval contains an end.

    interval_of: the interval, corrected for a number of simultaneous statements. A statement holds by its own interval;
    it fails only by the interval that is corrected for all of `among` statements.
    """
    one = interval_of(1)
    if (low < one.low or low == -math.inf) and (one.high < high or high == math.inf):
        return True
    all_of_them = interval_of(among)
    return False if all_of_them.high < low or all_of_them.low > high else None


def concluded(statements: Sequence[Statement], words: str, lacking: str = "") -> Judged:
    """Return the outcome of a claim whose statements must all hold; `lacking`: why they cannot decide it."""
    if not statements:
        return NEITHER
    if lacking:
        return Judged(None, f"{words}; {lacking}")
    effect = decided([one.effect for one in statements])
    return Judged(decided([one.holds for one in statements]), words, DIRECTION if effect else FAILED)


def number(value: float) -> str:
    """Return a number as text."""
    return "without end" if value == math.inf else rounded(value)


def shown(samples: Samples, series: Sequence[str], place: Place) -> str:
    """Return the numbers of series at a place, with intervals, as text."""
    words = []
    for name in series:
        low, high = samples.interval(name, place)
        known = f" ({number(low)} to {number(high)})" if math.isfinite(low) and math.isfinite(high) else ""
        words.append(f"{name}: {number(samples.center(name, place))}{known}")
    return ", ".join(words)


def where(place: Place) -> str:
    """Return a place as text."""
    return place if isinstance(place, str) else f"at {place:g}"


def places_words(statements: Sequence[Statement]) -> str:
    """Return in words how many places agree with a claim, contradict it, or leave it open."""
    sides = {
        one.place: decided([other.holds for other in statements if other.place == one.place]) for one in statements
    }
    holds, open_ones = [sum(one is wanted for one in sides.values()) for wanted in (True, None)]
    contrary = [where(place) for place, one in sides.items() if one is False]
    words = f"as claimed at {holds} of {len(sides)} places"
    words += f", the contrary {', '.join(contrary[:3])}" if contrary else ""
    words += f" and {len(contrary) - 3} more" if len(contrary) > 3 else ""
    return words + (f", within the uncertainty at {open_ones}" if open_ones else "")


def ranges(rule: Table, samples: Samples) -> str:
    """Return the range of each series as text."""
    words = []
    for name in rule["series"]:
        centers = [samples.center(name, place) for place in samples.places([name], rule)]
        words += [f"{name}: {number(min(centers))} to {number(max(centers))}"] if centers else []
    return "; ".join(words)


def _compared(
    rule: Table, samples: Samples, pairs: Sequence[tuple[str, str]], region: tuple[float, float], effect: Any = ()
) -> list[Statement]:
    """Return a statement per pair of series and common place: whether the log ratio lies in the region."""
    places = samples.places(dict.fromkeys(name for pair in pairs for name in pair), rule)
    most, statements = len(rule["higher"]) if rule.get("any") else 1, []
    for place in places:
        groups: dict[Any, list[Statement]] = {}
        for low, high in pairs:

            def contrast(count: int, low: str = low, high: str = high, place: Place = place) -> Interval:
                return samples.contrast(low, high, place, count * most)

            sides = [side(contrast, len(pairs) * len(places), *one) for one in (region, effect) if one]
            groups.setdefault(low if rule.get("any") else (low, high), []).append(Statement(place, *sides))
        # With `any`, one of several suffices.
        for own in groups.values():
            statements.append(next((one for wanted in (True, None) for one in own if one.holds is wanted), own[0]))
    return statements


def _each(rule: Table, samples: Samples) -> Judged:
    named, by = (rule["lower"], rule["higher"]), math.log(rule.get("by", 1.0))
    effect = (0.0, math.inf) if by > 0.0 else ()
    statements = _compared(rule, samples, list(product(*named)), (by, math.inf), effect)
    places = list(dict.fromkeys(one.place for one in statements))
    words = places_words(statements)
    if len(places) == 1:
        words = f"{'; '.join(shown(samples, names, places[0]) for names in named)}; {where(places[0])}"
    judged = concluded(statements, words, "" if decisive(samples, named, places) else TOO_FEW)
    if judged.word == DIRECTION:
        return judged._replace(measured=f"{words}; below at all of them by less")
    return judged


def _ratio(rule: Table, samples: Samples) -> Judged:
    named, level, room = (rule["lower"], rule["higher"]), math.log(rule["level"]), math.log(rule["within"])
    effect = (0.0, math.inf) if level > 0.0 else (-math.inf, 0.0)
    statements = _compared(rule, samples, list(product(*named)), (level - room, level + room), effect)
    places = samples.places([*named[0], *named[1]], rule)
    words = [
        f"{high} over {low} {where(place)}: {number(contrast.exp.low)} to {number(contrast.exp.high)}"
        for place in places
        for low, high in product(*named)
        if (contrast := samples.contrast(low, high, place)).known
    ]
    lacking = "" if decisive(samples, named, places) else TOO_FEW
    return concluded(statements, "; ".join(words) or NEITHER.measured, lacking)


def _similar(rule: Table, samples: Samples) -> Judged:
    room = math.log(rule["within"])
    statements = _compared(rule, samples, list(combinations(rule["series"], 2)), (-room, room))
    if len({one.place for one in statements}) < 2:
        return Judged(None, "fewer than two common points")
    return concluded(statements, f"within a factor of {rule['within']:g}: {places_words(statements)}")


def _about(rule: Table, samples: Samples) -> Judged:
    level, statements = rule["level"], []
    for name in rule["series"]:
        places = samples.places([name], rule)
        for place in places:
            of, among = partial(samples.interval, name, place), len(places) * len(rule["series"])
            holds, near = (side(of, among, level / room, level * room) for room in (rule["within"], NEAR))
            statements.append(Statement(place, holds, near))
    return concluded(statements, ranges(rule, samples))


def _settles(rule: Table, samples: Samples) -> Judged:
    statements, words, level = list[Statement](), [], rule["level"]
    for name in rule["series"]:
        inside, everywhere = samples.places([name], rule), samples.places([name], {})
        outside = [place for place in everywhere if place not in inside]
        if not inside or not outside:
            return NEITHER
        far, among = outside[0] if "from" in rule else outside[-1], len(inside) * len(rule["series"])
        for place in inside:
            statements.append(Statement(place, side(partial(samples.interval, name, place), among, -math.inf, level)))
        statements.append(Statement(far, side(partial(samples.interval, name, far), 1, level) or None))
        near = max(inside, key=lambda place: samples.center(name, place))
        words.append(f"{shown(samples, [name], near)} {where(near)}, {number(samples.center(name, far))} {where(far)}")
    return concluded(statements, "; ".join(words))


def _constant(rule: Table, samples: Samples) -> Judged:
    statements = []
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        ends = [samples.interval(name, place, len(places) * len(rule["series"])) for place in places]
        apart = max(end.low for end in ends) > rule["within"] * min(end.high for end in ends)
        together = max(end.high for end in ends) <= rule["within"] * min(end.low for end in ends)
        statements.append(Statement(name, True if together else False if apart else None))
    return concluded(statements, ranges(rule, samples))


def _trend(rule: Table, samples: Samples, sign: float) -> Judged:
    statements, words = list[Statement](), []
    for name in rule["series"]:
        places = samples.places([name], rule)
        if len(places) < 2:
            return NEITHER
        sure = [samples.interval(name, place, len(places) * len(rule["series"])) for place in places]
        against = any(_after(one, other, -sign) for one, other in [*pairwise(sure), (sure[0], sure[-1])])
        ahead = _after(samples.interval(name, places[0]), samples.interval(name, places[-1]), sign)
        chance = ordered_by_chance(sign * np.array([samples.center(name, place) for place in places]))
        holds = False if against else True if ahead and chance <= CHANCE else None
        statements.append(Statement(name, holds))
        more = "" if chance <= CHANCE or against else ", points too few or out of order"
        last = number(samples.center(name, places[-1]))
        words.append(f"{shown(samples, [name], places[0])} at first, {last} at last{more}")
    return concluded(statements, "; ".join(words))


def _after(one: Interval, other: Interval, sign: float) -> bool:
    """Return whether the other interval lies beyond the first one in a direction."""
    return other.low > one.high if sign > 0 else other.high < one.low


def ordered_by_chance(centers: np.ndarray) -> float:
    """Return the probability of at least as many rising pairs if all orders are equally likely (Kendall)."""
    concordant, ways = sum(a < b for a, b in combinations(centers, 2)), [1.0]
    for k in range(2, len(centers) + 1):
        # Inserting the k-th number adds 0 to k - 1 rising pairs with equal probability.
        ways = [sum(ways[max(0, i - k + 1) : i + 1]) / k for i in range(len(ways) + k - 1)]
    return float(sum(ways[concordant:]))


def _transition(rule: Table, samples: Samples) -> Judged:
    named = (rule["lower"], rule["higher"])
    if not samples.places([*named[0], *named[1]], rule):
        return NEITHER
    halves, statements = {name: half(samples, name) for names in named for name in names}, []
    for low, high in product(*named):
        first, second = halves[low], halves[high]
        holds = True if first.high <= second.low else False if first.low >= second.high else None
        statements.append(Statement(low, holds))
    return concluded(statements, half_words(halves))


def half_words(halves: Mapping[str, Interval]) -> str:
    """Return the points of 50% success in words."""
    ends = {
        name: [f"above {interval.low:g}"] * bool(interval.low > -math.inf)
        + [f"up to {interval.high:g}"] * bool(interval.high < math.inf)
        for name, interval in halves.items()
    }
    words = ", ".join(f"{name}: {' and '.join(own) or 'unknown'}" for name, own in ends.items())
    return f"the success rate is 50% at {words}"


def half(samples: Samples, series: str) -> Interval:
    """Return the interval that contains the point of 50% success, by 95% Wilson intervals."""
    places = [place for place in samples.values[series] if not isinstance(place, str)]
    ends = [wilson(int(values.sum()), len(values)) for values in samples.values[series].values()]
    low = next((k for k, end in enumerate(ends) if end.high >= 0.5), len(ends))
    high = next((k for k in range(len(ends), 0, -1) if ends[k - 1].low < 0.5), 0)
    first = -math.inf if low == 0 else places[low - 1]
    return Interval(first, places[high] if high < len(places) else math.inf)


def _threshold(rule: Table, samples: Samples) -> Judged:
    statements, words = list[Statement](), []
    for low, high in product(rule["lower"], rule["higher"]):
        places, most = samples.places([low, high], rule), rule["level"] * rule["within"]
        ends = {place: samples.interval(low, place) for place in places}
        below = [place for place in places if ends[place].high < rule["level"]]
        above = [place for place in places if ends[place].low > most]
        # The condition is sufficient: success without it contradicts nothing, but shows nothing either.
        sides = [_most(samples.values[high][place]) for place in below] or [None]
        sides += [_most(samples.values[high][place]) is False or None for place in above] or [None]
        statements += [Statement(high, one) for one in sides]
        for own, word, level in ((below, "below", rule["level"]), (above, "above", most)):
            rates = [float(samples.values[high][place].mean()) for place in own]
            rate = f"{number(min(rates))} to {number(max(rates))} at {len(own)} places" if own else "nowhere"
            words.append(f"{high} where {low} is {word} {level:g}: {rate}")
    return concluded(statements, "; ".join(words))


def _most(values: np.ndarray) -> bool | None:
    """Return whether most trials succeed, None if they are too few to decide."""
    low, high = wilson(int(np.sum(values > 0.5)), len(values))
    return True if low >= 0.5 else False if high < 0.5 else None


RULES: Mapping[str, Rule] = {
    "each": Rule(_each, ("series",)),
    "sooner": Rule(_each, ("series",)),
    "ratio": Rule(_ratio, ("series",)),
    "similar": Rule(_similar),
    "about": Rule(_about),
    "settles": Rule(_settles, ("places",)),
    "constant": Rule(_constant),
    "threshold": Rule(_threshold, ("series", "places")),
    "rising": Rule(partial(_trend, sign=1.0), ("places",)),
    "falling": Rule(partial(_trend, sign=-1.0), ("places",)),
    "transition": Rule(_transition, ("series", "places")),
}
"""Rules of claims in files, except slopes."""
