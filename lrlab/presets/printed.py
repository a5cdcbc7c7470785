"""Printed numbers: a verdict on the numbers of each method, and one on the order of the methods at each place.

The rules have the numbers in `printed`, by series and place, with last digit `unit`; `series` names the methods to
judge. A printed number agrees with ours if their distance is at most the prediction interval of one more trial (and of
other test rows, if the sampling error is known), simultaneously at all places with 95% confidence. If all numbers that
differ are better in the sense of `best` (1: large, -1: small, 0: neither), ours are *better than printed*. If they
differ but have the printed order, they *agree in direction*. If the numbers of other methods, or random numbers in the
printed range, would agree as well, the claim is not decided.
"""

import math
from collections.abc import Mapping
from functools import partial
from itertools import permutations
from typing import Any

from lrlab.presets.evidence import ARRANGEMENTS, Place, Samples, decisive
from lrlab.presets.result import BETTER, DIRECTION, FAILED, TOO_FEW, Judged
from lrlab.presets.rules import CHANCE, NEITHER, Rule, Table, listed, number, ordered_by_chance, side, where

NUMBERS, RANKING = "the numbers of the table", "the order of the methods in the table"
"""Claims of printed numbers."""
CONFIRMED = 0.9
"""Smallest fraction of pairs of methods in the printed order, beyond the uncertainty, with none against it."""


def claims_of(numbers: Mapping[str, Mapping[Any, float]], best: int) -> list[Table]:
    """Return the claims of printed numbers by series and place: on the numbers of each method, and on their order.

    best: 1 if large numbers are better, -1 if small ones are, 0 if neither. One claim covers all methods if the table
    has so few places that the numbers of one method could agree by chance.
    """
    own = {name: {at: value for at, value in row.items() if value == value} for name, row in numbers.items()}
    own = {name: row for name, row in own.items() if row}
    if not own:
        return []
    digits = max(len(str(value).partition(".")[2]) for row in own.values() for value in row.values())
    table = {"printed": own, "unit": 10.0**-digits, "best": best}
    ways = [math.prod(sum(place in other for other in own.values()) for place in row) for row in own.values()]
    groups = [[name] for name in own] if min(ways) >= ARRANGEMENTS else [list(own)]
    claimed = [(f"{NUMBERS}, {names[0]}" if len(groups) > 1 else NUMBERS, "numbers", names) for names in groups]
    claimed += [(RANKING, "ranking", list(own))] if len(own) > 1 else []
    return [{"paper": text, "rule": rule, "series": names, **table} for text, rule, names in claimed]


def _numbers(rule: Table, samples: Samples) -> Judged:
    printed = rule["printed"]
    pairs = [(name, place) for name in rule["series"] for place in printed[name]]
    cells = [(name, place) for name, place in pairs if len(samples.values.get(name, {}).get(place, ()))]
    rooms = {cell: samples.room(*cell, len(cells)) + rule["unit"] / 2.0 for cell in cells}
    known = [cell for cell in cells if math.isfinite(rooms[cell])]
    if not known:
        return Judged(None, f"{TOO_FEW}: the uncertainty of one is not known") if cells else NEITHER
    gaps = {(name, place): samples.mean(name, place) - printed[name][place] for name, place in known}
    away = sorted((cell for cell in known if abs(gaps[cell]) > rooms[cell]), key=lambda cell: -abs(gaps[cell]))
    worst = number(max(rooms[cell] for cell in known))
    words = f"{len(known) - len(away)} of {len(known)} numbers within the uncertainty, at most {worst}"
    if away:
        better = all(gaps[cell] * rule.get("best", 0) > 0 for cell in away)
        named = [f"{name} {where(x)} by {'+' * (gaps[name, x] > 0)}{number(gaps[name, x])}" for name, x in away]
        words += f"; ours {'are better' if better else 'differ'}: {listed(named)}"
        # In the order of the printed numbers.
        ours = [samples.mean(*cell) for cell in sorted(known, key=lambda cell: printed[cell[0]][cell[1]])]
        in_order = ordered_by_chance(ours) <= CHANCE
        return Judged(False, words, BETTER if better else DIRECTION if in_order else FAILED)
    if _by_chance(printed, samples, {cell: rooms[cell] for cell in known}) > CHANCE:
        return Judged(None, f"{words}, which is as much as the printed numbers differ")
    return Judged(True if len(known) == len(cells) else None, words)


def _by_chance(printed: Table, samples: Samples, rooms: Mapping[tuple[str, Place], float]) -> float:
    """Return the probability that random numbers in the printed range agree, or numbers of other methods at a place."""
    values = [value for row in printed.values() for value in row.values()]
    span, agreeing, ways = max(values) - min(values), 1, 1
    for (name, place), room in rooms.items():
        choices = [row[place] for row in printed.values() if place in row]
        agreeing *= sum(abs(samples.mean(name, place) - value) <= room for value in choices)
        ways *= len(choices)
    in_range = math.prod(min(1.0, 2.0 * room / span) if span else 1.0 for room in rooms.values())
    return max(in_range, (agreeing - 1) / (ways - 1) if ways > 1 else 0.0)


def _ranking(rule: Table, samples: Samples) -> Judged:
    printed = rule["printed"]
    places = list(dict.fromkeys(place for row in printed.values() for place in row))
    pairs = [
        (low, high, place)
        for place in places
        for low, high in permutations([name for name in printed if place in samples.values.get(name, {})], 2)
        if printed[low].get(place, math.inf) < printed[high].get(place, -math.inf) - rule["unit"]
    ]
    sides = {pair: side(partial(samples.contrast, *pair), len(pairs), (0.0, math.inf)) for pair in pairs}
    if not sides:
        return Judged(None, "fewer than two methods")
    against = [pair for pair, one in sides.items() if one is False]
    same = sum(one is True for one in sides.values())
    words = f"{same} of {len(sides)} pairs of methods in the printed order, {len(against)} in the other"
    words += f", {len(sides) - same - len(against)} within the uncertainty"
    words += "".join(f"; {low} above {high} {where(place)}" for low, high, place in against[:3])
    names = list(dict.fromkeys(name for *both, _ in sides for name in both))
    used = [place for place in places if all(place in samples.values[name] for name in names)]
    if not decisive(samples, [[name] for name in names], used):
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
    gain, loss = (best * (samples.mean(name, place) - rule["printed"][name][place]) for name in (worse, other))
    return gain > samples.room(worse, place, 1) and -loss <= samples.room(other, place, 1)


RULES: Mapping[str, Rule] = {"numbers": Rule(_numbers, ("series",)), "ranking": Rule(_ranking, ("series",))}
"""Rules of printed numbers, which need no table [[claims]]."""
