"""Rules of printed numbers: `numbers` compares each with ours, `ranking` the order of the methods at each place.

A claim has the numbers in `printed`, by series and place, with last digit `unit`; `series` names the methods to judge.
A printed number agrees with ours if their distance is at most the prediction interval of one more trial (and of other
test rows, if the sampling error is known), simultaneously at all places with 95% confidence. If all numbers that
differ are better in the sense of `best` (1: large, -1: small, 0: neither), ours are *better than printed*. If they
differ but have the printed order, they *agree in direction*. If the numbers of another method, or random numbers in the
printed range, would agree as well, the claim is not decided.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from lrlab.presets.evidence import Place, Samples, decisive
from lrlab.presets.result import BETTER, DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.presets.rules import CHANCE, NEITHER, Rule, Table, number, ordered_by_chance, side, where

MOST_NAMED = 3
CONFIRMED = 0.9
"""Smallest fraction of pairs of methods in the printed order, beyond the uncertainty, with none against it."""
MOST_PERMUTED = 6


def _numbers(rule: Table, samples: Samples) -> Judged:
    cells = _cells(rule, samples)
    rooms = {cell: samples.room(*cell, len(cells)) + rule["unit"] / 2.0 for cell in cells}
    known = [cell for cell in cells if math.isfinite(rooms[cell])]
    if not known:
        return NEITHER if not cells else Judged(None, f"{TOO_FEW}: the uncertainty of one is not known")
    gaps = {cell: float(samples.values[cell[0]][cell[1]].mean()) - rule["printed"][cell[0]][cell[1]] for cell in known}
    away = {cell: gap for cell, gap in gaps.items() if abs(gap) > rooms[cell]}
    worst = max(rooms[cell] for cell in known)
    words = f"{len(known) - len(away)} of {len(known)} numbers within the uncertainty, at most {number(worst)}"
    if away:
        better = all(gap * rule.get("best", 0) > 0 for gap in away.values())
        words += f"; ours {'are better' if better else 'differ'}: {_named(away)}"
        return Judged(False, words, BETTER if better else DIRECTION if _in_order(rule, samples, known) else FAILED)
    if max(_in_range(rule, known, rooms), _in_other_order(rule, samples, known, rooms)) > CHANCE:
        return Judged(None, f"{words}, which is as much as the printed numbers differ")
    return Judged(True if len(known) == len(cells) else None, words)


def _cells(rule: Table, samples: Samples) -> list[tuple[str, Place]]:
    """Return series and places with a printed number and ours."""
    return [
        (series, place)
        for series in rule["series"]
        for place in rule["printed"][series]
        if len(samples.values.get(series, {}).get(place, ()))
    ]


def _named(away: Mapping[tuple[str, Place], float]) -> str:
    words = [
        f"{series} {where(place)} by {'+' * (gap > 0)}{number(gap)}"
        for (series, place), gap in sorted(away.items(), key=lambda one: -abs(one[1]))
    ]
    return ", ".join(words[:MOST_NAMED]) + (f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else "")


def _in_order(rule: Table, samples: Samples, known: Sequence[tuple[str, Place]]) -> bool:
    """Return whether our numbers have the printed order, beyond chance."""
    ordered = sorted(known, key=lambda cell: rule["printed"][cell[0]][cell[1]])
    ours = np.array([samples.values[series][place].mean() for series, place in ordered])
    return ordered_by_chance(ours) <= CHANCE


def _in_range(rule: Table, known: Sequence[tuple[str, Place]], rooms: Mapping[Any, float]) -> float:
    """Return the probability that random numbers in the printed range agree."""
    printed = [value for row in rule["printed"].values() for value in row.values()]
    span = max(printed) - min(printed)
    return math.prod(min(1.0, 2.0 * rooms[cell] / span) if span else 1.0 for cell in known)


def _in_other_order(
    rule: Table, samples: Samples, known: Sequence[tuple[str, Place]], rooms: Mapping[Any, float]
) -> float:
    """Return the fraction of other orders of the methods, place by place, that would agree.

    For a single method: the fraction of other choices of a method per place.
    """
    agreeing, ways = 1, 1
    for place in dict.fromkeys(place for _, place in known):
        series = [name for name, own in known if own == place][:MOST_PERMUTED]
        if len(series) == 1:
            (name,), mean = series, samples.values[series[0]][place].mean()
            choices = [row[place] for row in rule["printed"].values() if place in row]
            agreeing *= sum(abs(mean - value) <= rooms[name, place] for value in choices)
            ways *= len(choices)
            continue
        ours = np.array([samples.values[name][place].mean() for name in series])
        printed = np.array([rule["printed"][name][place] for name in series])
        room = np.array([rooms[name, place] for name in series])
        near = np.abs(ours[:, None] - printed) <= room[:, None]
        orders = np.array([*permutations(range(len(series)))])
        agreeing *= int(near[np.arange(len(series)), orders].all(axis=1).sum())
        ways *= len(orders)
    return (agreeing - 1) / (ways - 1) if ways > 1 else 0.0


def _ranking(rule: Table, samples: Samples) -> Judged:
    printed = rule["printed"]
    places = list(dict.fromkeys(place for row in printed.values() for place in row))
    pairs = [
        (low, high, place)
        for place in places
        for low, high in permutations([name for name in printed if place in samples.values.get(name, {})], 2)
        if printed[low].get(place, math.inf) < printed[high].get(place, -math.inf) - rule["unit"]
    ]
    sides = {pair: side(partial(samples.contrast, *pair), len(pairs), 0.0) for pair in pairs}
    if not sides:
        return Judged(None, "fewer than two methods")
    against = [key for key, one in sides.items() if one is False]
    same = sum(one is True for one in sides.values())
    words = f"{same} of {len(sides)} pairs of methods in the printed order, {len(against)} in the other"
    words += f", {len(sides) - same - len(against)} within the uncertainty"
    words += "".join(f"; {low} above {high} {where(place)}" for low, high, place in against[:MOST_NAMED])
    groups = [[name] for name in dict.fromkeys(name for low, high, _ in sides for name in (low, high))]
    used = [place for place in places if all(place in samples.values[name] for (name,) in groups)]
    if not decisive(samples, groups, used):
        return Judged(None, f"{words}; {TOO_FEW}")
    better = all(_better(rule, samples, *pair) for pair in against)
    holds = False if against else True if same >= CONFIRMED * len(sides) else None
    return Judged(holds, words, BETTER if better else FAILED)


def _better(rule: Table, samples: Samples, low: str, high: str, place: Place) -> bool:
    """Return whether a pair is reversed only because the method printed as worse is better here.

    The other method must not be worse than printed.
    """
    best = rule.get("best", 0)
    worse, other = (low, high) if best > 0 else (high, low)
    gain, loss = (
        best * (float(samples.values[name][place].mean()) - rule["printed"][name][place]) for name in (worse, other)
    )
    return gain > samples.room(worse, place, 1) and -loss <= samples.room(other, place, 1)


NUMBER_RULES: Mapping[str, Rule] = {
    "numbers": Rule(_numbers, ("series",)),
    "ranking": Rule(_ranking, ("series",)),
}
