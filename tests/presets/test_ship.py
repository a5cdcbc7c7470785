"""Results that are shipped are computed once: an interrupted run goes on where it was."""

import pytest

from benchmarks import ship
from lrlab import presets
from lrlab.engine.messages import Failure
from lrlab.runs.run import TrialResult, run_trial
from lrlab.store.store import Store


@pytest.fixture
def few():
    """Return some quick trials of a preset."""
    return presets.plan(presets.load("jain2013-fig1d", quick=True)).items[:3]


def test_what_was_computed_before_an_interruption_is_not_computed_again(few, tmp_path, monkeypatch):
    path, streamed = tmp_path / "results.sqlite", []
    with Store(path) as store:
        first, before = ship.computed(run_trial, few[:2], store)

    def stream(function, items):
        streamed.append(list(items))
        return local(function, items)

    local = ship.LocalResults
    monkeypatch.setattr(ship, "LocalResults", stream)
    with Store(path) as store:
        results, seconds = ship.computed(run_trial, few, store)
    assert streamed == [[few[2]]] and results[:2] == first and seconds > before > 0
    assert all(isinstance(result, TrialResult) for result in results)


def test_a_trial_that_fails_is_none_and_tried_again(few, monkeypatch, capsys):
    computed, failing = ship.LocalResults, [True]

    class Stream(computed):
        def take(self, wait_seconds=0.0):
            return [one._replace(value=Failure("It failed.")) if failing else one for one in super().take()]

    monkeypatch.setattr(ship, "LocalResults", Stream)
    with Store(None) as store:
        assert ship.computed(run_trial, few[:1], store)[0] == [None]
        assert "It failed." in capsys.readouterr().err
        failing.clear()
        assert isinstance(ship.computed(run_trial, few[:1], store)[0][0], TrialResult)
