"""Claims of a paper: the tables [[claims]] of preset files, printed numbers, and formulas of growth; their verdicts.

A claim has the paper's words (`paper`), a panel, and a `rule` with its keys, see `rules`. A `remark` has a text and its
own rule, and appears if that rule holds. Every claim of a file has a verdict: if the run omits a series, panel or data
set of the claim, the claim is not decided.

A series may have formulas that bound its exponent from above, by axis: `claimed` for times, `memory` for memory.
`paper` gives the formula; `why` explains a formula that does not hold. `definition` makes a claim of each.

Printed numbers have a claim on the numbers of each method, and one on the order of the methods at each place. Its rule
has the numbers in `printed`, by series and place, with last digit `unit`; `series` names the methods to judge.

A printed number agrees with ours if their distance is at most the prediction interval of one more trial (and of other
test samples, if the sampling error is known), simultaneously at all entries with 95% confidence. If all numbers that
differ are better in the sense of `best` (1: large, -1: small, 0: neither), ours are *better than printed*. If they
differ but have the printed order, they *agree in direction*. If the numbers of other methods, or random numbers in the
printed range, would agree as well, the claim is not decided.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

from lrlab.presets import rules
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import ARRANGEMENTS, Place, Samples, decisive, power
from lrlab.presets.result import BETTER, DIRECTION, FAILED, NOT_RUN, TOO_FEW, UNDECIDED, Judged, Verdict
from lrlab.presets.rules import CHANCE, NEITHER, Table, listed, number, ordered_by_chance, side, where

NUMBERS, RANKING = "the numbers of the table", "the order of the methods in the table"
"""Claims of printed numbers."""
CONFIRMED = 0.9
"""Smallest fraction of pairs of methods in the printed order, beyond the uncertainty, with none against it."""
SERIES = ("series", "lower", "higher")
"""Keys of a rule that name series."""


def of_panel(preset: Preset, panel: str) -> list[Toml]:
    """Return the claims that belong to a panel."""
    first = preset.all_panels[0]
    return [claim for claim in preset.content.get("claims", ()) if claim.get("panel", first) == panel]


def verdicts(preset: Preset, panel: str, samples: Samples) -> list[Verdict]:
    """Return the verdicts on the claims that belong to a panel."""
    return [verdict(claim, samples) for claim in of_panel(preset, panel)]


def verdict(claim: Toml, samples: Samples) -> Verdict:
    """Return the verdict on a claim: a table with the paper's words and a rule."""
    judged = judge(claim, samples)
    remark = claim.get("why", "") if judged.word == FAILED else ""
    if (more := claim.get("remark")) and (further := judge(more, samples)).holds:
        remark = f"{more['text']} ({further.measured})."
    return Verdict(claim.get("panel", ""), words_of(claim), judged.measured, judged.word, remark, claim, samples)


def words_of(claim: Toml) -> str:
    """Return the paper's words in quotation marks, or the description of its formula or table."""
    return f"“{claim['paper']}”" if claim.get("quoted", True) else claim["paper"]


def judge(rule: Toml, samples: Samples) -> Judged:
    """Return the judgement of a rule on the samples.

    If a series of the rule is missing, the rule can fail, but not hold.
    """
    absent = [name for name in named(rule) if name not in samples.values]
    present = {key: [name for name in rule[key] if name not in absent] for key in SERIES if key in rule}
    missing = f"{NOT_RUN}: {', '.join(absent)}"
    if not all(present.values()):
        return Judged(None, missing)
    judged = RULES[rule["rule"]]({**rule, **present}, samples)
    if absent:
        return judged._replace(holds=judged.holds and None, measured=f"{judged.measured}; {missing}")
    # A series has a single trial at some place, without a sampling error.
    single = any(
        len(values) < 2 and not samples.error(name, place)
        for name in rule.get("printed", named(rule))
        for place, values in samples.values.get(name, {}).items()
    )
    few = single and judged.holds is None and TOO_FEW not in judged.measured
    return judged._replace(measured=f"{judged.measured}; {TOO_FEW}") if few else judged


def named(rule: Toml) -> list[str]:
    """Return the series in a rule."""
    return [label for key in SERIES for label in rule.get(key, ())]


def absent(preset: Preset) -> dict[str, list[Verdict]]:
    """Return the verdicts *not decided* on all claims, by panel, if a run omits it."""
    claimed = {title: [words_of(claim) for claim in of_panel(preset, title)] for title in preset.all_panels}
    # Panels of fits have printed numbers.
    more, ours = [NUMBERS, RANKING] if preset.data else [], f"this panel was {NOT_RUN}"
    return {title: [Verdict(title, one, ours, UNDECIDED) for one in own + more] for title, own in claimed.items()}


def exponents(axis: str, samples: Samples, judged: Sequence[Verdict]) -> str:
    """Return in words the exponents of the series that no verdict names."""
    known = {name for verdict in judged for name in named(verdict.rule)}
    slopes = {name: power(samples, [name], {}) for name in samples.values if name not in known}
    words = [f"{name} {slope:.2f} ({low:.2f} to {high:.2f})" for name, (slope, (low, high)) in slopes.items()]
    return f" Exponents of {axis}: {', '.join(words)}." if words else ""


def on_numbers(numbers: Mapping[str, Mapping[Any, float]], samples: Samples, best: int = 0) -> list[Verdict]:
    """Return the verdicts on printed numbers by series and place: on the numbers of each method, and on their order.

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
    about = [{"paper": text, "quoted": False, "rule": rule, "series": names} for text, rule, names in claimed]
    return [verdict({**one, **table}, samples) for one in about]


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


RULES = {**rules.RULES, "numbers": _numbers, "ranking": _ranking}
