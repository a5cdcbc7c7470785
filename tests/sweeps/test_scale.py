"""A sweep on a thousand workers, whose computation and clock are simulated: nothing saturates, and nobody waits."""

import statistics

import pytest

from lrlab import spec
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from tests.simulated.cluster import Counts, SimulatedCluster
from tests.simulated.store import TimedStore, drawn_durations


def of(trials: int, side: int = 20) -> Sweep:
    axes = {"noise": [0.01 * k for k in range(side)], "p": [5 + k for k in range(side)]}
    return Sweep(spec=spec("one-bit-sensing", n=100), axes=axes, solvers=["pairwise-moment"], trials=trials)


def swept(sweep: Sweep, workers: int, seconds: float, slowness: float = 1.0) -> Counts:
    cluster = SimulatedCluster(workers, drawn_durations(seconds), slowness)
    with TimedStore(cluster.work) as store:
        results = run(sweep, store, cluster.start)
        assert results.complete and results.computed == sum(store.commits) == sweep.total
        return cluster.counts(store.commits)


@pytest.mark.soak
def test_a_thousand_workers_do_not_saturate_the_scheduler():
    counts = swept(of(trials=150), workers=1000, seconds=2.0)
    assert counts.efficiency > 0.9
    assert counts.busy < 0.5 and counts.queue < 1000, "it is never behind by more than a message of each worker"
    assert statistics.median(counts.commits) > 100


def test_a_scheduler_that_is_slow_gets_longer_pieces():
    """A hundred workers with pieces of a second would need a hundred tasks a second, of which it does forty."""
    counts = swept(of(trials=100), workers=100, seconds=0.3, slowness=10.0)
    assert counts.efficiency > 0.8 and counts.busy < 0.9


def test_a_sweep_that_is_stopped_lets_its_workers_know_together_and_loses_none():
    cluster = SimulatedCluster(1000, drawn_durations(60.0))
    with TimedStore(cluster.work) as store:
        results = run(of(trials=20), store, cluster.start, stop=lambda: cluster.now > 20.0)
        cluster.wait(60.0, lambda: False)
        assert not results.complete and results.computed == sum(store.commits) > 0
    # Those on their way to a worker hear of it when they are there.
    assert 1 <= cluster.cancels < 10 and cluster.kills == 0
