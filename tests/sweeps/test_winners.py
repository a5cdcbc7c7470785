"""Who wins where: the rule on synthetic trials, the race that drops solvers, and its page."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import lrlab
from lrlab.__main__ import main
from lrlab.catalog import model_entry, solvers_for
from lrlab.engine.results import LocalResults
from lrlab.models.axes import first_range
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import Store
from lrlab.sweeps import run as running
from lrlab.sweeps import winners
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.toml import parse, to_toml

SPEC = lrlab.spec("rank-one-sensing", d1=8, d2=7)
GRID = {"rank": [1, 2, 3], "m": [40, 80, 120, 160]}
SOLVERS = ["gauss-newton", "altmin", "svp", "nuclear-norm"]


def trials(*errors, seconds=None, n=16, spread=0.3, level=0.5):
    """Return errors, successes and seconds of solvers with these errors, on data that make all of them vary alike."""
    rng = np.random.default_rng(0)
    values = np.array(errors)[:, None] * np.exp(rng.normal(0, 0.5, n) + rng.normal(0, spread, (len(errors), n)))
    times = np.ones(len(errors)) if seconds is None else np.array(seconds)
    return values, values < level, times[:, None] * np.exp(rng.normal(0, 0.1, values.shape))


def test_a_solver_wins_by_paired_errors_and_not_without_the_pairs():
    errors, solved, seconds = trials(0.1, 0.14, 0.2, spread=0.05)
    assert winners.compare(errors, solved, seconds)[0].tolist() == [True, False, False]
    # A solver that was dropped early is compared on its own trials.
    dropped = np.where(np.arange(16) < [[16], [16], [4]], seconds, np.nan)
    assert winners.compare(errors, solved, dropped)[0].tolist() == [True, False, False]
    # The same errors on other data: they vary by more than they differ.
    errors[1:] = np.roll(errors[1:], 5, axis=1)
    assert winners.compare(errors, solved, seconds)[0].tolist()[:2] == [True, True]
    # A difference of 5% is a tie, however certain it is.
    assert winners.compare(*trials(0.1, 0.105, spread=0.001))[0].all()
    assert winners.compare(*trials(0.1, 0.1, 0.1, 0.4))[0].tolist() == [True, True, True, False]


def test_more_looks_ask_for_more_certainty():
    kept = [winners.compare(*trials(0.1, 0.125, n=8), looks)[0].sum() for looks in (1, 3, 10**6)]
    assert kept == sorted(kept) and kept[0] < kept[-1]
    assert winners.looks(16) == [4, 8, 16] and winners.looks(40) == [4, 8, 16, 40] and winners.looks(3) == [3]


def test_nobody_succeeds():
    among_best, solved, _ = winners.compare(*trials(0.8, 0.9, spread=0.05, level=0.3))
    assert not solved and not among_best.any()
    # After two trials nobody knows.
    assert winners.compare(*trials(0.8, 0.9, n=2, level=0.3))[0].all()


def test_exact_recoveries_are_compared_by_seconds_per_solved_problem():
    errors, solved, seconds = trials(1e-9, 1e-5, 1e-7, 0.2, seconds=[1.0, 3.0, 1.2, 0.1])
    among_best, _, by_time = winners.compare(errors, solved, seconds)
    assert by_time and among_best.tolist() == [True, False, True, False]
    # The third takes as long for each trial, but solves a third of them.
    solved[2, np.arange(16) % 3 > 0] = False
    assert winners.compare(errors, solved, seconds)[0].tolist() == [True, False, False, False]


@pytest.mark.parametrize("kind", ["normal", "heavy", "exact", "bimodal"])
def test_equal_solvers_have_a_winner_at_most_once_in_twenty(kind):
    rng, wins, tables = np.random.default_rng(1), 0, 300
    for k in range(tables):
        shape = (2 + k % 3, (4, 8, 16)[k % 3])
        noise = rng.standard_t(2, shape) if kind == "heavy" else rng.normal(0, 0.7, shape)
        solved, seconds = rng.random(shape) < 0.6, rng.lognormal(0, 0.5, shape)
        errors = np.where(solved, 1e-6, 0.5) if kind in ("exact", "bimodal") else np.exp(noise - 2)
        solved = solved if kind in ("exact", "bimodal") else errors < 0.3
        errors = errors * np.exp(rng.normal(0, 0.1, shape)) + (0.01 if kind == "bimodal" else 0)
        among_best, any_solved, _ = winners.compare(errors, solved, seconds)
        wins += any_solved and among_best.sum() == 1
    assert wins <= 0.05 * tables


def filled(sweep, score, n=16):
    """Return results of a sweep whose trials have the numbers score(job, number): error and seconds."""
    results = SweepResults(sweep)
    for job in sweep.jobs:
        made = {}
        for number in range(n):
            error, seconds = score(job, number)
            scores = {"error": error, "weakest_error": error, "overlap": 1.0 - error}
            made[Trial(job, number)] = TrialResult(number, "CONVERGED", 3, seconds, scores)
        results.add(made)
    return results


def known_winners(job, number):
    """Return errors with Gauss-Newton ahead from m = 120 on, except for rank 3, and nobody successful before."""
    noise = 1 + 0.05 * math.sin(7 * number + len(job.solver))
    if job.spec.m < 120:
        return 0.9 * noise, 1.0
    if job.spec.rank == 3 and job.solver == "altmin":
        return 0.005 * noise, 1.0
    return {"gauss-newton": 0.01, "altmin": 0.02}.get(job.solver, 0.05) * noise, 1.0 + len(job.solver)


def test_the_sentence_names_clear_winners_with_counts_and_the_region():
    sweep = Sweep(spec=SPEC, axes=GRID, solvers=SOLVERS, trials=16)
    made = winners.winners_of(filled(sweep, known_winners))
    assert made.sentence == (
        "Gauss-Newton is most accurate at 4 of 6 points, above all for rank ≤ 2. Other solvers win at 2. "
        "At 6 of 12 points nobody succeeds."
    )

    def but_for_one(job, number):
        return (
            known_winners(job.on(job.spec.replace(rank=1)), number) if job.spec.m > 120 else known_winners(job, number)
        )

    wide = replace(sweep, axes={**GRID, "m": [40, 80, 120, 160, 200]})
    assert winners.winners_of(filled(wide, but_for_one)).sentence.startswith(
        "Gauss-Newton is most accurate at 8 of 9 points. "
    )
    ties = winners.winners_of(filled(sweep, lambda job, k: (0.05 * (1 + 0.3 * math.sin(k * len(job.solver))), 1.0)))
    assert ties.sentence == "At 12 of 12 points no winner is clear after up to 16 trials."
    # All of these know the rank but the nuclear norm.
    alone = winners.winners_of(filled(sweep, known_winners), without=["rank"])
    assert {one.best for one in alone.outcomes} == {("nuclear-norm",), ()}
    nobody = winners.winners_of(filled(replace(sweep, solvers=SOLVERS[:2]), known_winners), without=["rank"])
    assert nobody.sentence == "At 12 of 12 points no solver is compared." and len(nobody.excluded) == 12
    assert {tuple(one.words)[:2] for one in made.outcomes if one.best} == {
        ("gauss-newton", "altmin"),
        ("altmin", "gauss-newton"),
    }


def test_without_a_rule_of_success_it_is_to_pass_the_level_of_the_metric():
    axes = {"noise": [0.1, 0.2], "n": [900]}
    signs = Sweep(spec=lrlab.spec("one-bit-sensing"), axes=axes, solvers=["sir", "marginal-mean"], trials=16)
    score = {"sir": 0.1, "marginal-mean": 0.2}
    made = winners.winners_of(filled(signs, lambda job, k: (score[job.solver] * (1 + 0.01 * math.sin(k)), 1.0)))
    assert signs.success is None and [one.best for one in made.outcomes] == [("sir",)] * 2


def test_the_region_of_a_solver_has_at_most_one_bound_on_each_axis():
    sweep = Sweep(spec=SPEC, axes={"rank": [3, 1, 2], "m": [160, 120, 80, 40]}, solvers=SOLVERS[:2], trials=16)

    def region(score):
        [sentence] = [one for one in winners.winners_of(filled(sweep, score)).sentence.split(". ") if "Gauss" in one]
        return sentence.partition(" points")[2].removesuffix(".")

    def ahead(*where):
        wins = {(rank, m) for rank, m in where}
        return lambda job, number: (
            (0.01 if ((job.spec.rank, job.spec.m) in wins) == (job.solver == "gauss-newton") else 0.05)
            * (1 + 0.05 * math.sin(7 * number + len(job.solver))),
            1.0,
        )

    assert region(ahead((2, 120), (2, 160), (3, 120), (3, 160))) == ", above all for rank ≥ 2 and m ≥ 120"
    assert region(ahead((1, 40), (1, 80), (1, 120), (3, 160))) == ", above all for rank ≤ 1 and m ≤ 120"
    assert region(ahead((1, 160), (2, 160), (3, 160))) == ", above all for m ≥ 160"
    # Too few together.
    assert region(ahead((1, 40), (3, 40), (1, 160), (3, 160))) == ""


def test_a_grid_point_waits_for_first_trials_as_long_as_the_race_is_alive():
    sweep = Sweep(spec=SPEC, axes=GRID, solvers=SOLVERS, trials=16)
    results, full = SweepResults(sweep), filled(sweep, known_winners)
    for job in sweep.jobs[:-1]:
        results.add({Trial(job, number): result for number, result in full.results(job).items()})
    results.alive = True
    assert len(winners.winners_of(results).outcomes) == 11
    results.alive = False
    made = winners.winners_of(results)
    assert len(made.outcomes) == 12 and made.sentence.endswith("At 1 of 12 points a solver has no trial.")
    assert made.outcomes[-1].words["nuclear-norm"] == "Nuclear norm: no trial"
    results.failures[Trial(sweep.jobs[-1], 0)] = "It failed."
    results.alive = True
    made = winners.winners_of(results)
    assert len(made.outcomes) == 12 and made.outcomes[-1].words["nuclear-norm"].endswith("no estimate, 60 s, 0 of 1")


@pytest.mark.parametrize("stored", [False, True], ids=["in the run", "after a reload"])
def test_a_solver_that_fails_on_half_of_its_data_does_not_win_on_the_rest(stored):
    sweep = Sweep(spec=SPEC, axes=GRID, solvers=SOLVERS[:2], trials=16, race=True)
    results, full = SweepResults(sweep), filled(sweep, known_winners)
    assert ("gauss-newton",) in {one.best for one in winners.winners_of(full).outcomes}
    for job in sweep.jobs:
        # The trials of a later round tell a reader of the store that these failed.
        failed = range(8) if job.solver == "gauss-newton" else ()
        finished = {Trial(job, k): one for k, one in full.results(job).items() if k not in failed}
        results.add(finished)
        results.failures |= {} if stored else {Trial(job, k): "It failed." for k in failed}
    best = {one.point: one.best for one in winners.winners_of(results).outcomes}
    assert best[1, 160] == ("altmin",) and ("gauss-newton",) not in best.values()


def asked(sweep, score):
    """Return the requests of all rounds of a race whose trials have these numbers."""
    done, full, requests = SweepResults(sweep), filled(sweep, score), []
    for requested in winners.rounds(sweep, done):
        requests.append(requested)
        done.add({Trial(job, k): full.results(job)[k] for job, numbers in requested.items() for k in numbers})
    return requests


def test_a_race_drops_clear_losers_and_spends_trials_on_ties():
    sweep = Sweep(spec=SPEC, axes=GRID, solvers=SOLVERS, trials=16, race=True)
    first, *others = asked(sweep, known_winners)
    assert set(first) == set(sweep.jobs) and set(first.values()) == {range(4)}
    # The nuclear norm, which is told nothing, runs without rivals: nobody needs more of its trials.
    assert all(job.spec.m >= 120 for later in others[:1] for job in later)
    assert parse(to_toml(sweep)) == sweep
    with pytest.raises(lrlab.InputError, match="race"):
        Sweep(spec=SPEC, axes=GRID, solvers=SOLVERS[:1], race=True)


def test_a_race_compares_solvers_with_all_kinds_of_oracle_information(monkeypatch):
    told = {"gauss-newton": frozenset(["rank"]), "altmin": frozenset(["noise"]), "nuclear-norm": frozenset()}
    monkeypatch.setattr(winners, "oracles", lambda sweep: told)
    sweep = Sweep(spec=SPEC, axes=GRID, solvers=[*told], trials=16, race=True)
    error = {"gauss-newton": 0.01, "altmin": 0.01, "nuclear-norm": 0.2}
    rounds = asked(sweep, lambda job, k: (error[job.solver] * (1 + 0.2 * math.sin(k * len(job.solver))), 1.0))
    # Alone with those who know less, both are clear winners; with all switches on they tie.
    solvers = [{job.solver for job in requested} for requested in rounds]
    assert solvers == [{*told}, {"gauss-newton", "altmin"}, {"gauss-newton", "altmin"}]


def test_a_reader_of_a_race_gets_all_rounds_although_a_trial_of_the_first_failed(monkeypatch):
    sweep = Sweep(spec=SPEC, axes={"rank": [1], "m": [60, 120]}, solvers=SOLVERS[:2], trials=6, race=True)
    lost = Trial(sweep.jobs[0], 1)

    def tied(trial):
        assert trial != lost
        error = 0.05 * (1 + 0.3 * math.sin(trial.number * len(trial.job.solver)))
        return TrialResult(trial.seeded.spec.seed, "CONVERGED", 3, 1.0, {"error": error, "weakest_error": error})

    monkeypatch.setattr(running, "run_trial", tied)
    with Store() as store:
        made = running.run(sweep, store, LocalResults)
        assert [*made.failures] == [lost] and max(made.results(sweep.jobs[-1])) == 5
        read = running.run(sweep, store, LocalResults, stop=lambda: True)
        assert all(read.results(job).keys() == made.results(job).keys() for job in sweep.jobs)
        assert (read.done, read.computed, read.complete) == (made.computed, 0, False)


@pytest.mark.slow
def test_a_table_of_a_race_says_who_wins_and_draws_it():
    few = {"rank": [1, 2], "m": [30, 120]}
    table = lrlab.sweep(SPEC, few, SOLVERS[:2], trials=5, start=LocalResults, race=True)
    made = lrlab.winners(table)
    assert [one.point for one in made.outcomes] == [(1, 30), (1, 120), (2, 30), (2, 120)]
    assert made.sentence and made.sentence in table._repr_html_()
    assert "<strong>" in table._repr_html_() and "<strong>" not in table.iloc[:0]._repr_html_()
    assert lrlab.map(table).data[-1].type == "heatmap"
    for axes, solvers in (({"m": [60]}, SOLVERS[:2]), (few, SOLVERS[:1])):
        with pytest.raises(lrlab.InputError, match="two axes"):
            lrlab.winners(lrlab.sweep(SPEC, axes, solvers, trials=1, start=LocalResults))


@pytest.mark.parametrize("model", ["one-bit-sensing", "compressed-sensing", "multilabel", "one-bit-completion"])
def test_every_applicable_solver_enters_a_race_on_a_coarse_grid(model):
    entry = model_entry(model)
    ranges = {name: first_range(entry, name) for name in entry.plane}
    spans = {name: Span(low, high, 12, scale) for name, (low, high, scale) in ranges.items()}
    race = winners.race(Sweep(spec=entry.spec(), axes=spans, solvers=[solvers_for(model)[0].name]))
    assert race.race and [len(values) for values in race.grid.values()] == [winners.COLUMNS, winners.ROWS]
    assert {cell.solver for cell in race.cells if cell.job} == set(race.solvers) and len(race.solvers) > 1
    # A slow trial ends within the budget; a limit that somebody has set stays.
    assert {job.limits.max_seconds for job in race.jobs} == {winners.TRIAL_SECONDS}
    quick = winners.race(replace(race, race=False, settings={"max_seconds": 1.0}))
    assert {job.limits.max_seconds for job in quick.jobs} == {1.0}


def test_the_shell_says_who_wins_a_race_as_json(tmp_path, capsys, engine):
    file = tmp_path / "race.toml"
    file.write_text(
        to_toml(Sweep(spec=SPEC, axes={"rank": [1], "m": [60, 120]}, solvers=SOLVERS[:2], trials=2, race=True))
    )
    assert main(["sweep", str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["winners"]
    assert [row["axes"] for row in rows] == [{"rank": 1, "m": 60}, {"rank": 1, "m": 120}]
    assert all({*row["best"]} <= {*SOLVERS[:2]} and isinstance(row["by_time"], bool) for row in rows)
