"""Every rule can fail: of shipped results whose numbers are given to other series or places, or drawn, few reproduce.

The numbers of the trials are permuted: those of a place among the series, where a rule is about series; those of a
series among its places, where it is about places. And all numbers are drawn alike, so that nothing claimed is there. A
result that has one trial with a known sampling error has nothing to permute: its numbers are drawn around one mean with
that error, or, for printed numbers, from the range of these.
"""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from lrlab import presets
from lrlab.presets import claims, shipped
from lrlab.presets.evidence import Samples
from lrlab.presets.result import DIRECTION, REPRODUCED
from lrlab.spectra import pairwise
from tests.thorough import a_third

FIRST, ALL = 50, 400
"""Draws for each claim, and those where some of the first are called reproduced."""
MOST = 0.05


@cache
def made(name):
    """Return figures and verdicts of a shipped result, made anew; bands are not needed for them, and take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
        return shipped.made_anew(shipped.load(name))


def with_values(held, values):
    """Return samples with other numbers; times that were not reached go with their numbers."""
    return held._replace(values=values)


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
    return with_values(held, values)


def to_other_places(held, rule, rng):
    """Give the numbers of each series to its places, at random."""
    values = {}
    for name, row in held.values.items():
        mixed = rng.permutation(np.concatenate(list(row.values())))
        cuts = np.cumsum([len(own) for own in row.values()])[:-1]
        values[name] = dict(zip(row, np.split(mixed, cuts), strict=True))
    return with_values(held, values)


def drawn(held, rule, rng):
    """Draw all numbers alike: normal with the mean and spread of all, or of their logarithms where all are above 0."""
    pool = np.concatenate([own for row in held.values.values() for own in row.values()])
    pool = pool[np.isfinite(pool)]
    if set(np.unique(pool)) <= {0.0, 1.0}:
        return with_values(held, each(held, lambda own, *_: (rng.random(len(own)) < pool.mean()).astype(float)))
    positive = (pool > 0).all()
    scale = np.log(pool) if positive else pool
    centre, spread, back = scale.mean(), scale.std(), np.exp if positive else np.asarray
    return with_values(held, each(held, lambda own, *_: back(rng.normal(centre, spread, len(own)))))


def around_one_mean(held, rule, rng):
    """Draw the numbers of a place around one mean, with their sampling errors; printed ones' from their range."""
    if rule["rule"] == "numbers":
        printed = [value for row in rule["printed"].values() for value in row.values()]
        return with_values(held, each(held, lambda own, *_: rng.uniform(min(printed), max(printed), len(own))))
    means = {}
    for row in held.values.values():
        for place, own in row.items():
            means.setdefault(place, []).append(own.mean())
    return with_values(
        held,
        each(held, lambda own, name, place: np.mean(means[place]) + rng.normal(0, held.error(name, place), len(own))),
    )


def each(held, function):
    """Return the numbers of all series and places, made by a function."""
    rows = held.values.items()
    return {name: {place: function(own, name, place) for place, own in row.items()} for name, row in rows}


def controls(verdict):
    """Return the ways to destroy what a claim says."""
    of = claims.ALL_RULES[verdict.rule["rule"]].of
    trials = max(len(own) for row in verdict.samples.values.values() for own in row.values())
    if trials < 2:
        return [around_one_mean]
    return [drawn, *[to_other_series] * ("series" in of), *[to_other_places] * ("places" in of)]


def share_reproduced(rule, draw):
    """Return the fraction of draws that a rule calls reproduced, or in agreement in direction.

    Printed numbers agree in direction if their columns do, so other methods often agree; so do numbers near a level.
    """
    counted = {REPRODUCED} if rule["rule"] in ("numbers", "about") else {REPRODUCED, DIRECTION}
    found = [claims.judge(rule, draw()).word in counted for _ in range(FIRST)]
    if any(found):
        found += [claims.judge(rule, draw()).word in counted for _ in range(ALL - FIRST)]
    return np.mean(found)


@pytest.mark.parametrize("name", a_third(shipped.names()))
def test_few_results_without_what_is_claimed_are_called_reproduced(name):
    judged = [verdict for panel in made(name).panels for verdict in panel.judged if verdict.samples.values]
    for number, verdict in enumerate(judged):
        for control in controls(verdict):
            rng = np.random.default_rng(1000 + number)
            share = share_reproduced(verdict.rule, partial(control, verdict.samples, verdict.rule, rng))
            assert share <= MOST, f"{name}: {verdict.paper}, {control.__name__}: {share:.1%}"


def claims_of_all():
    """Return a claim of every kind that preset files have: rule, how many series, and keys."""
    found = {}
    for name in presets.names():
        for claim in presets.load(name).content.get("claims", ()):
            keys = sorted(claim.keys() - {"paper", "panel", "remark"})
            found.setdefault(
                str([len(claim[key]) if isinstance(claim[key], list) else claim[key] for key in keys]), claim
            )
    return list(found.values())


@pytest.mark.parametrize("trials", [1, 2, 3, 4, 6, 20])
def test_noise_of_any_number_of_trials_is_rarely_called_reproduced(trials):
    """Of full runs, too, whose results are not shipped: noise around one number, at as many places as figures have."""
    for seed, claim in enumerate(claims_of_all()):
        rng, names = np.random.default_rng(2000 + seed), claims.named(claim)
        own = [claim[key] for key in ("at", "from", "to") if key in claim]
        for more in ([], [1.0, 2.5, 7.0, 20.0]):
            places = sorted({*own, *more}) or [1.0]

            def noise(names=names, places=places, rng=rng, claim=claim):
                # At the end of the range that still counts as about a level.
                # The tolerance of a slope isn't a factor.
                within = 1.0 if claim["rule"] == "slope" else claim.get("within", 1.0)
                centre = np.log(abs(claim.get("level", 1.0)) * within)
                if claim["rule"] == "transition":
                    return Samples({s: {x: rng.integers(0, 2, trials).astype(float) for x in places} for s in names})
                if claim["rule"] == "threshold":
                    shares = {s: {x: rng.integers(0, 2, trials) * 1.0 for x in places} for s in claim["higher"]}
                    return Samples(
                        shares | {s: {x: rng.lognormal(0, 1, trials) for x in places} for s in claim["lower"]}
                    )
                spread = 2.0 * np.log(within if within > 1.0 else 2.0)
                return Samples({s: {x: np.exp(rng.normal(centre, spread, trials)) for x in places} for s in names})

            share = share_reproduced(claim, noise)
            assert share <= MOST, f"{claim}: {share:.1%} of noise at {places}"
