"""All presets, in one pass: files, reduced runs, stored results, and rules that rarely call noise reproduced.

The last tests destroy the claims of stored results. They permute the numbers of the trials: among the series at each
place if a rule is about series, among the places of each series if it is about places. They also draw all numbers from
one distribution. A result with one trial and a known sampling error has nothing to permute: its numbers are drawn
around one mean with that error, or, for printed numbers, from the printed range. A claim that equal numbers satisfy,
such as growth of at most a power, gets numbers at the edge of what it claims.
"""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from benchmarks import ship
from lrlab import presets
from lrlab.presets import claims, shipped
from lrlab.presets.result import DIRECTION, REPRODUCED
from lrlab.spectra import pairwise
from tests.figures.test_build import numbers
from tests.thorough import a_third

FIRST, ALL = 25, 400
"""Draws for each claim, and draws if some of the first are called reproduced."""
MOST = 0.05
SUBJECTS = dict.fromkeys(("each", "sooner", "numbers", "ranking"), "series")
SUBJECTS |= dict.fromkeys(("similar", "about", "constant"), "neither")
SUBJECTS["transition"] = "series and places"
"""What a rule is about: the other ones judge places."""
THEOREMS = [name for name in presets.names() if presets.load(name).is_theorem]


@cache
def planned(name, quick=False):
    """Return the items of a preset on all its data sets."""
    preset = presets.load(name, quick)
    return presets.plan(preset, data=ship.names_alone(preset.data)).items


@cache
def made(name):
    """Return figures and verdicts that today's code makes of a stored result, without bands, which take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
        return ship.made_anew(shipped.load(name))


@pytest.mark.parametrize("name", presets.names())
def test_a_file_has_its_texts_and_a_reduced_run_that_is_a_part_of_the_full_one(name):
    whole, part = presets.load(name), presets.load(name, True)
    assert whole.name == name and whole.title and whole.reference and whole.explanation.endswith(".")
    assert part.quick and not whole.quick and part.explanation == whole.explanation
    items = planned(name, True)
    assert 0 < len(items) <= 250
    if "max_iter" not in whole.content.get("quick", {}):
        # A search of a reduced run is less close.
        assert {item for item in items if not hasattr(item, "close")} <= set(planned(name))
    axes = {value for panel in (part.content, *part.panels) for own in panel.get("axes", {}).values() for value in own}
    rules = part.content.get("claims", [])
    assert rules == whole.content.get("claims", []), "none vanishes"
    rules = [*rules, *(one["remark"] for one in rules if "remark" in one)]
    assert {rule[key] for rule in rules for key in ("at", "from", "to") if key in rule} <= axes


@pytest.mark.parametrize("name", shipped.names())
def test_a_stored_result_has_all_trials_of_its_data_sets(name):
    run = shipped.load(name)
    assert run.planned == max(len(planned(name)), run.run)
    assert run.quick or len(run.results) == len(ship.plan(run).items)
    assert run.run == sum(result is not None for result in run.results)


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_has_its_statement_lines_with_assumptions_and_bands(name):
    preset, run = presets.load(name), shipped.load(name)
    assert preset.content["figure"]["statement"].strip() and preset.start in preset.positions
    lines = preset.content.get("lines", ())
    assert all(line["if"] for line in lines) and run.panels
    for panel in run.panels:
        shown = [trace["name"] for trace in panel.figure.data if "name" in trace]
        for line in lines:
            if "mark" in line and line.get("panel", panel.title) == panel.title:
                assert any(name.startswith(line["label"]) for name in shown)
            elif line.get("panel", panel.title) == panel.title:
                name = f"theory, {line['series']}" if line.get("exact") else line["label"]
                assert name in shown and f"{line['label']}: {line['if']}" in panel.caption
        assert any(trace.get("fill") == "toself" for trace in panel.figure.data), "bands"


def same(one, other) -> bool:
    """Compare two figures, or parts of them, numbers to six digits."""
    one, other = (numbers(part) if isinstance(part, dict) and "bdata" in part else part for part in (one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, str) or isinstance(other, str) or one is None or other is None:
        return one == other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped.names())
def test_what_is_shown_is_what_the_code_makes_of_the_numbers(name):
    """After a change of a figure or its theory: `python -m benchmarks.ship NAME --redraw`."""
    run = shipped.load(name)
    today = ship.made_anew(run)
    assert [panel.caption for panel in today.panels] == [panel.caption for panel in run.panels]
    for old, new in zip(run.panels, today.panels, strict=True):
        drawn = [panel.figure.to_dict() for panel in (old, new)]
        for content in drawn:
            content["layout"].pop("template", None)
        assert same(*drawn), old.title


def to_other_series(held, rule, rng):
    """Give the numbers at each place to the series that the rule names, at random."""
    names = list(rule["printed"]) if "printed" in rule else claims.named(rule)
    names = [name for name in names if name in held.values]
    values = {name: dict(row) for name, row in held.values.items()}
    for place in {place for name in names for place in values[name]}:
        own = [name for name in names if place in values[name]]
        mixed = rng.permutation(np.concatenate([held.values[name][place] for name in own]))
        for name in own:
            count = len(held.values[name][place])
            values[name][place], mixed = mixed[:count], mixed[count:]
    return held._replace(values=values)


def to_other_places(held, rule, rng):
    """Give the numbers of each series to its places, at random."""
    values = {}
    for name, row in held.values.items():
        mixed = rng.permutation(np.concatenate(list(row.values())))
        cuts = np.cumsum([len(own) for own in row.values()])[:-1]
        values[name] = dict(zip(row, np.split(mixed, cuts), strict=True))
    return held._replace(values=values)


def drawn(held, rule, rng):
    """Draw all numbers alike: normal with the mean and spread of all, or of their logarithms where all are above 0."""
    pool = np.concatenate([own for row in held.values.values() for own in row.values()])
    pool = pool[np.isfinite(pool)]
    if set(np.unique(pool)) <= {0.0, 1.0}:
        return each(held, lambda own, *_: (rng.random(len(own)) < pool.mean()).astype(float))
    positive = (pool > 0).all()
    scale = np.log(pool) if positive else pool
    center, spread, back = scale.mean(), scale.std(), np.exp if positive else np.asarray
    return each(held, lambda own, *_: back(rng.normal(center, spread, len(own))))


def around_one_mean(held, rule, rng):
    """Draw the numbers of a place around one mean, with their sampling errors; printed ones' from their range."""
    if rule["rule"] == "numbers":
        printed = [value for row in rule["printed"].values() for value in row.values()]
        return each(held, lambda own, *_: rng.uniform(min(printed), max(printed), len(own)))
    means, draws = {}, {}
    for row in held.values.values():
        for place, own in row.items():
            means.setdefault(place, []).append(own.mean())

    def normal(own, name, place):
        # The same blocks of test samples for all methods.
        blocks = held.blocks.get(name, {}).get(place, np.zeros(2))
        common = draws.setdefault(place, rng.standard_normal(len(blocks)) / np.sqrt(len(blocks) * (len(blocks) - 1)))
        return np.mean(means[place]) + common @ (blocks - blocks.mean()) + 0.0 * own

    return each(held, normal)


def at_the_edge(held, rule):
    """Return numbers at the edge of a claim that equal ones satisfy: growth of at most a power, or a ratio below 1."""
    if rule["rule"] == "decays" and rule["level"] > 0.0:
        return each(held, lambda own, name, place: own * place ** rule["level"])
    if rule["rule"] == "each" and rule.get("by", 1.0) < 1.0:
        return each(held, lambda own, name, _: own * rule["by"] if name in rule["higher"] else own)
    return held


def each(held, function):
    """Return samples whose numbers a function makes of those of each series and place."""
    rows = held.values.items()
    values = {name: {place: function(own, name, place) for place, own in row.items()} for name, row in rows}
    return held._replace(values=values)


def controls(verdict):
    """Return the ways to destroy what a claim says."""
    of = SUBJECTS.get(verdict.rule["rule"], "places")
    trials = max(len(own) for row in verdict.samples.values.values() for own in row.values())
    if trials < 2:
        return [around_one_mean]
    return [drawn, *[to_other_series] * ("series" in of), *[to_other_places] * ("places" in of)]


def share_reproduced(rule, draw):
    """Return the fraction of draws that a rule calls reproduced, or in agreement in direction.

    Printed numbers agree in direction if their columns do, so other methods often agree; so do numbers near a level.
    """
    counted = {REPRODUCED} if rule["rule"] in ("numbers", "about") else {REPRODUCED, DIRECTION}
    found = [claims.judge(rule, at_the_edge(draw(), rule)).word in counted for _ in range(FIRST)]
    if any(found):
        found += [claims.judge(rule, at_the_edge(draw(), rule)).word in counted for _ in range(ALL - FIRST)]
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", a_third(shipped.names(), parts=6))
def test_few_results_without_what_is_claimed_are_called_reproduced(name):
    judged = [verdict for panel in made(name).panels for verdict in panel.judged if verdict.samples.values]
    for number, verdict in enumerate(judged):
        for control in controls(verdict):
            rng = np.random.default_rng(1000 + number)
            share = share_reproduced(verdict.rule, partial(control, verdict.samples, verdict.rule, rng))
            assert share <= MOST, f"{name}: {verdict.claim}, {control.__name__}: {share:.1%}"
