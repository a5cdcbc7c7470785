"""Stacked trials: the numbers of single runs, whatever is stacked, and how it ends."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.engine.stream import LocalStream, collect
from lrlab.engine.worker import ComputeChunk
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import cancellable
from lrlab.runs.stacks import drive_stacked, portions, run_stack
from lrlab.runs.trial import Trial, run_trial
from lrlab.solver_entry import StackedIterates

STACKED = [entry for entry in catalog.ENTRIES if entry.stacked]


def trials(model: str, solver: str, values: dict, count: int = 6, **settings: object) -> list[Trial]:
    """Return trials of two cells that differ in n."""
    specs = [lrlab.spec(model, **{**values, "n": n}) for n in (200, 301)]
    return [Trial(make_job(spec, solver, **settings), number) for spec in specs for number in range(count)]


def assert_same(stacked: list, single: list) -> None:
    for one, other in zip(stacked, single, strict=True):
        assert (one.seed, one.stop, one.iterations) == (other.seed, other.stop, other.iterations)
        assert one.scores == pytest.approx(other.scores, rel=1e-9, abs=1e-9, nan_ok=True) and one.seconds > 0


@pytest.mark.parametrize("entry", STACKED, ids=lambda entry: entry.name)
def test_stacked_trials_have_the_numbers_of_single_ones(entry):
    for model in entry.models:
        for settings in ({}, {"max_iter": 7}, {"tol": 0.3}):
            try:
                several = trials(model, entry.name, {"p": 11, "seed": 1003}, **settings)
            except InputError:
                continue
            assert len(list(portions(run_trial, several))) == 1
            assert_same(run_stack(several), [run_trial(trial) for trial in several])


@pytest.mark.parametrize("options", [{"pairs": "all"}, {"moment": "M'"}, {"moment": "M"}])
def test_options_hold_for_stacks(options):
    several = trials("one-bit-sensing", "pairwise-moment", {"p": 6, "noise": 0.4}, **options)
    assert_same(run_stack(several), [run_trial(trial) for trial in several])


def test_streams_and_chunks_stack_and_keep_the_order():
    small = trials("one-bit-sensing", "pairwise-moment", {"p": 5})
    others = trials("one-bit-sensing", "logistic", {"p": 5}, 2)
    brief = trials("one-bit-sensing", "pairwise-moment", {"p": 5}, 2, max_seconds=1)
    mixed = [*small[:5], *others, *brief, *small[5:]]
    sizes = sorted(map(len, portions(run_trial, mixed)))
    assert sizes == [1] * 8 + [len(small)] and sum(map(len, portions(abs, mixed))) == len(mixed)
    single = [run_trial(trial) for trial in mixed]
    assert_same(collect(LocalStream(run_trial, mixed)), single)
    messages = []
    ComputeChunk(run_trial, list(range(len(mixed))), mixed, 60.0).run(messages.append)
    assert_same([value for _, value in sorted(messages[-1].results)], single)


@pytest.mark.parametrize("solver", ["pairwise-moment", "marginal-mean"])
def test_a_cancelled_stack_ends(solver):
    with cancellable(lambda: True):
        results = run_stack(trials("one-bit-sensing", solver, {"p": 5}))
    assert {result.stop for result in results} == {Stop.CANCELLED.name}


def test_runs_that_are_not_finite_or_diverge_are_left_to_single_ones():
    def iterates():
        going = np.arange(4)
        for number in range(100):
            b = np.ones((4, 2))
            b[1] = np.nan if number else 1.0
            objectives = np.array([1.0, 1.0, 1e7 if number == 3 else 1.0, 1.0])
            chosen = yield StackedIterates(b[going], objectives[going], np.array([1.0, 1.0, 1.0, 0.1**number])[going])
            going = going if chosen is None else going[chosen]

    limits = make_job(lrlab.spec("one-bit-sensing"), "pairwise-moment", max_iter=20, tol=2e-5).limits
    endings = drive_stacked(iterates(), 4, limits)
    assert {number: (end.stop, end.iteration) for number, end in endings.items()} == {
        0: (Stop.MAX_ITER, 20), 3: (Stop.CONVERGED, 6),
    }  # fmt: skip
