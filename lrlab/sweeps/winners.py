"""Finds the best solver of each grid point on the same data, by a race that drops clear losers."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.models import axes
from lrlab.runs.job import Job
from lrlab.sweeps.definition import Given, Span, Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import quartiles, wilson_bounds

COLUMNS, ROWS, TRIALS = 7, 5, 16
"""Grid points of a race, across and upwards, and most trials of a solver at each."""
TRIAL_SECONDS = 5.0
"""Time limit of a trial of a race: a slow solver has results within the race's budget."""
LOOKS = (4, 8, TRIALS)
"""Numbers of trials before a race drops solvers. Four failures exclude a success rate of 50% (Wilson)."""
EXACT, WORST = 1e-3, 2.0
"""Smaller errors are left by tolerances and rounding: the recovery is exact. Larger ones count as no estimate."""
MARGIN, TIME_MARGIN = math.log(1.1), math.log(1.5)
"""Least differences of log errors, and of log seconds per solved problem, of a win."""
RISK = 0.05
"""Probability of a winner among equal solvers, at most."""
CLEAR_WINS = 3
"""A sentence names solvers with so many clear wins."""
OTHER_POINT = -1.5
"""Weight of a point without a win in the part of the plane that a sentence names; a win has weight 1."""


def compare(errors: Array, succeeded: Mask, seconds: Array, looks: int = len(LOOKS)) -> tuple[Mask, bool, bool]:
    """Return who wins on the same trials: arrays (solvers, trials), with seconds of nan for a missing trial.

    The result: the solvers that no other clearly beats; whether one of them has a success rate of 50%; and whether they
    recover exactly, so that seconds per solved problem count instead of errors.

    The best solver has the smallest mean log error among those with a success rate of 50%. It beats another if the
    mean paired difference is more than 10% and significant: by Student's t at RISK over the numbers of solvers and
    looks. If recoveries are exact, the logarithm of the seconds per solved problem replaces
    the log error, with a standard error by the delta method, and a difference counts from a factor of 1.5.
    """
    tried = ~np.isnan(seconds)
    count = np.maximum(tried.sum(axis=1), 1)
    exact = tried & succeeded & (errors <= EXACT)
    by_time = int((2 * exact.sum(axis=1) >= count).sum()) > 1
    solved = exact if by_time else tried & succeeded
    good = 2 * solved.sum(axis=1) >= count
    low, high = wilson_bounds(solved.sum(axis=1), tried.sum(axis=1))
    left: Any = tried.any(axis=1)
    if not good.any():
        return left & (high >= 0.5), False, False
    # By differences on common trials: those who were dropped early had other ones.
    common = tried[:, None] & tried[None]
    n = common.sum(axis=2, keepdims=True)

    def mean(values: Any) -> Any:
        return np.where(common, values, 0.0).sum(axis=2, keepdims=True) / np.maximum(n, 1)

    costs: Array = np.log(np.clip(np.where(np.isnan(errors), WORST, errors), EXACT, WORST))[:, None]
    margin = MARGIN
    with np.errstate(divide="ignore", invalid="ignore"):
        if by_time:
            # To first order in each trial; half a problem more keeps the cost finite.
            spent, rate = np.maximum(mean(seconds[:, None]), 1e-9), mean(solved[:, None]) + 0.5 / n
            change = seconds[:, None] / spent - solved[:, None] / rate
            costs, margin = np.log(spent / rate) + change - mean(change), TIME_MARGIN
        differences = costs - costs.swapaxes(0, 1)
        gaps = mean(differences)
        spread = np.sqrt(mean((differences - gaps) ** 2) / (n - 1))[..., 0]
    gaps, freedom = gaps[..., 0], n[..., 0] - 1
    best = min(np.flatnonzero(good), key=lambda k: gaps[k, good].max())
    # A solver that surely fails in half of its trials loses to one that surely succeeds.
    left &= (high >= 0.5) | (low[best] < 0.5)
    certain = stdtrit(freedom[:, best], 1.0 - RISK / (len(errors) * looks)) * spread[:, best]
    # One common trial has no spread (nan), and decides nothing.
    return left & ~(gaps[:, best] > np.maximum(margin, certain)), True, by_time


class Outcome(NamedTuple):
    """The outcome at a grid point.

    best: the solvers that no other clearly beats, the fastest first; empty if no success rate reaches 50%.
    trials: the most of any solver. words: of each solver its error, time and successes, the most accurate first.
    """

    point: tuple[float, ...]
    best: tuple[str, ...]
    by_time: bool
    trials: int
    words: Mapping[str, str]


class Winners(NamedTuple):
    """The outcomes at the grid points, and their summary as a sentence.

    While trials arrive, a point has an outcome once every solver has a trial there. excluded: points without a
    solver that uses only the allowed oracle information.
    """

    outcomes: list[Outcome]
    sentence: str
    excluded: frozenset[tuple[float, ...]] = frozenset()


def comparable(sweep: Sweep) -> bool:
    """Return whether a sweep can show who wins where: it has two axes and several solvers."""
    return len(sweep.grid) == 2 and len(sweep.solvers) > 1


def error_metric(sweep: Sweep) -> str:
    """Return the metric that compares solvers: the one of the success rule if it is an error, or else "error"."""
    measures, metric = catalog.family(sweep.spec.model).measures, sweep.contour.metric
    return "error" if measures[metric].rising and "error" in measures else metric


def oracles(sweep: Sweep) -> dict[str, frozenset[str]]:
    """Return the oracle information of each solver of a sweep."""
    return {name: frozenset(catalog.solver(name, sweep.spec.model).oracle) for name in sweep.solvers}


def winners_of(results: SweepResults, without: Collection[str] = ()) -> Winners:
    """Return who wins at each grid point of a sweep; without: oracle information that excludes a solver."""
    sweep, trials, outcomes, lacking = results.sweep, _trials(results), list[Outcome](), 0
    titles = {name: sweep.titles[name] for name, known in oracles(sweep).items() if not known & {*without}}
    points = _points(results)
    excluded = frozenset(point for point, rows in points.items() if rows and not rows.keys() & titles)
    for point, rows in points.items():
        names = [name for name in rows if name in titles]
        errors, succeeded, seconds = (values[[rows[name] for name in names]] for values in trials)
        tried = (~np.isnan(seconds)).sum(axis=1)
        # A solver that waits for its first trial may win, and nobody wins before the others have one.
        if not tried.any() or (not tried.all() and (results.alive or (tried > 0).sum() == 1)):
            continue
        lacking += not tried.all()
        left, solved, by_time = compare(errors, succeeded, seconds, len(looks(sweep.trials)))
        times, medians = np.nansum(seconds, axis=1) / np.maximum(tried, 1), quartiles(errors)[:, 1]
        words = dict[str, str]()
        for k in np.argsort(medians):
            error = "no estimate" if np.isnan(medians[k]) else f"{medians[k]:.2g}"
            counts = f"{error}, {times[k]:.2g} s, {succeeded[k].sum()} of {tried[k]}" if tried[k] else "no trial"
            # Without the parentheses of the title.
            words[names[k]] = f"{titles[names[k]].partition(' (')[0]}: {counts}"
        best = tuple(names[k] for k in np.argsort(times) if left[k] and solved)
        outcomes.append(Outcome(point, best, by_time, int(tried.max()), words))
    sentences = [
        _sentence(sweep, titles, outcomes),
        f"At {lacking} of {len(outcomes)} points a solver has no trial." if lacking else "",
        f"At {len(excluded)} of {len(points)} points no solver is compared." if excluded else "",
    ]
    return Winners(outcomes, " ".join(filter(None, sentences)), excluded)


def _trials(results: SweepResults) -> tuple[Any, ...]:
    """Return the errors, successes and seconds of all trials, arrays (jobs, trials).

    Rising metrics count by their distance from 1. A failed trial has no error, no success, and the seconds of the
    job's median trial, or its time limit.
    """
    sweep = results.sweep
    measures, rule, metric = catalog.family(sweep.spec.model).measures, sweep.contour, error_metric(sweep)
    # First, as trials may arrive meanwhile: what has no seconds yet does not count.
    seconds = results.matrix("seconds")
    errors, succeeded = results.matrix(metric), results.succeeded()
    if measures[metric].rising:
        errors = 1.0 - errors
    if not sweep.success and not measures[rule.metric].rising:
        # The contour of a mean error is drawn at a level; to succeed is to be below.
        succeeded = results.matrix(rule.metric) < rule.level
    tried, failed = ~np.isnan(seconds), np.zeros(seconds.shape, dtype=bool)
    if sweep.race:
        # A store keeps no failure: a missing trial failed if its job has a trial of a later round.
        round_of = np.searchsorted(looks(sweep.trials), np.arange(sweep.trials), side="right")
        failed = round_of < np.where(tried, round_of, -1).max(axis=1, keepdims=True)
    for job, number in list(results.failures):
        failed[results.rows[job], number] = True
    medians = quartiles(seconds)[:, 1:2]
    limits = np.array([[job.limits.max_seconds] for job in sweep.jobs])
    usual = np.where(np.isnan(medians), limits, medians)
    return errors, succeeded & tried, np.where(failed & ~tried, usual, seconds)


def looks(trials: int) -> list[int]:
    """Return the numbers of trials before each comparison in a race of so many."""
    return sorted({min(look, trials) for look in (*LOOKS, trials)})


def _points(results: SweepResults) -> dict[tuple[float, ...], dict[str, int]]:
    """Return the index of the job of each solver that is not refused, at each grid point."""
    points = dict[tuple[float, ...], dict[str, int]]()
    for cell in results.cells:
        rows = points.setdefault(tuple(cell.axes.values()), {})
        if cell.job:
            rows[cell.solver] = results.rows[cell.job]
    return points


def race(sweep: Sweep) -> Sweep:
    """Return the race of all solvers that apply, on a coarse grid of a sweep's two axes."""
    model, most = sweep.spec.model, (COLUMNS, ROWS)
    spans = tuple((name, _coarse(given, count)) for (name, given), count in zip(sweep.axes, most, strict=True))
    # The limits of a first map suit its first solver.
    own = {name: value for name, value in sweep.settings if catalog.family(model).limits.get(name) != value}
    own["max_seconds"] = min(float(own.get("max_seconds", TRIAL_SECONDS)), TRIAL_SECONDS)
    names = [entry.name for entry in catalog.solvers_for(model)]
    changed: dict[str, Any] = {"trials": TRIALS, "adaptive": False, "tolerance": 1, "budget": 0, "race": True}
    all_of_them = replace(sweep, axes=spans, solvers=names, settings=own, **changed)
    able = {cell.solver for cell in all_of_them.cells if cell.job}
    return replace(all_of_them, solvers=[name for name in names if name in able])


def _coarse(given: Given, most: int) -> Given:
    """Return at most so many values of an axis, its ends among them."""
    if isinstance(given, Span):
        return replace(given, steps=min(given.steps, most))
    places = np.unique(np.linspace(0, len(given) - 1, min(len(given), most)).round().astype(int))
    return tuple(given[place] for place in places)


def rounds(sweep: Sweep, results: SweepResults) -> Iterator[dict[Job, range]]:
    """Yield the trials of each round of a race. Before you take the next round, add its trials to the results.

    The first round is of all solvers. A later one is of those that nobody clearly beats in some comparison at their
    grid point, as long as there are two of them or nobody succeeds yet. There is a comparison for the oracle
    information of each solver, and of several together: of all solvers that know nothing else.
    """
    known, done, running = oracles(sweep), 0, [*range(len(sweep.jobs))]
    allowed = {*known.values()}
    for one in known.values():
        allowed |= {one | other for other in allowed}
    for look in looks(sweep.trials):
        if not running:
            return
        yield {sweep.jobs[row]: range(done, look) for row in running}
        trials, done, held = _trials(results), look, set[int]()
        for rows in _points(results).values():
            # Different information may admit the same solvers.
            for group in {tuple(row for name, row in rows.items() if known[name] <= told) for told in allowed} - {()}:
                errors, succeeded, seconds = (values[[*group]] for values in trials)
                left, solved, _ = compare(errors, succeeded, seconds, len(looks(sweep.trials)))
                if left.sum() > 1 or not solved:
                    held.update(np.array(group)[left].tolist())
        running = [row for row in running if row in held]


def _sentence(sweep: Sweep, titles: Mapping[str, str], outcomes: Sequence[Outcome]) -> str:
    """Return who wins where: solvers with at least CLEAR_WINS clear wins, with counts."""
    alive = [one for one in outcomes if one.best]
    clear = [one for one in alive if len(one.best) == 1]
    wins, parts = Counter(one.best[0] for one in clear).most_common(), list[str]()
    for name, count in wins:
        if count < CLEAR_WINS:
            continue
        own = [one for one in clear if one.best[0] == name]
        fastest = sum(one.by_time for one in own)
        counts = {"is most accurate": count - fastest, "solves most problems per second": fastest}
        words = " and ".join(f"{what} at {number}" for what, number in counts.items() if number)
        parts.append(f"{titles[name]} {words} of {len(alive)} points{_above_all(sweep, own, alive)}.")
    if few := sum(count for _, count in wins if count < CLEAR_WINS):
        parts.append(f"Other solvers win at {few}." if parts else f"A solver wins at {few} of {len(alive)} points.")
    if open_ := len(alive) - len(clear):
        trials = max(one.trials for one in alive)
        where = f"{open_}" if parts else f"{open_} of {len(alive)} points"
        words = f"up to {trials} trials" if trials > 1 else "1 trial"
        parts.append(f"At {where} no winner is clear after {words}.")
    if nobody := len(outcomes) - len(alive):
        parts.append(f"At {nobody} of {len(outcomes)} points nobody succeeds.")
    return " ".join(parts)


def _above_all(sweep: Sweep, own: Sequence[Outcome], alive: Sequence[Outcome]) -> str:
    """Return the corner of the plane, up to all of it, with most wins of a solver and fewest other points, as words."""
    names, grid = axes.short_names(type(sweep.spec)), {name: sorted(values) for name, values in sweep.grid.items()}
    weights = np.zeros([len(values) for values in grid.values()])
    for points, weight in ((alive, OTHER_POINT), (own, 1.0)):
        for one in points:
            weights[tuple(values.index(value) for values, value in zip(grid.values(), one.point, strict=True))] = weight
    turned = {steps: weights[:: steps[0], :: steps[1]] for steps in product((1, -1), repeat=2)}
    sums = {steps: field.cumsum(axis=0).cumsum(axis=1) for steps, field in turned.items()}
    best = max(sums, key=lambda steps: float(sums[steps].max()))
    # Of equal corners the last one has the fewest bounds.
    ends = np.argwhere(sums[best] == sums[best].max())[-1].tolist()
    if (turned[best][: ends[0] + 1, : ends[1] + 1] > 0).sum() < CLEAR_WINS:
        return ""
    words = [
        f"{names[name]} {'≤' if step > 0 else '≥'} {values[::step][end]:,.4g}"
        for (name, values), step, end in zip(grid.items(), best, ends, strict=True)
        if end < len(values) - 1
    ]
    return f", above all for {' and '.join(words)}" if words else ""
