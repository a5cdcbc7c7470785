"""Forecasts that are worked out while a page is read."""

import threading

import pytest

from lrlab import spec
from lrlab.store.location import SharedStore
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.forecast import Forecast, PendingForecast

SWEEP = Sweep(spec=spec("one-bit-sensing", p=5), axes={"ratio": [5, 20]}, solvers=["marginal-mean"], trials=3)
PATIENCE = 30.0


@pytest.fixture
def home(tmp_path):
    return SharedStore(tmp_path / "trials.sqlite")


def test_a_forecast_is_there_after_a_while(home):
    expected = PendingForecast(SWEEP, home)
    expected.wait(PATIENCE)
    assert not expected.alive and not expected.refused
    assert expected.value.trials == 6 and expected.value.seconds > 0 and expected.value.bytes > 0


def test_what_takes_longer_than_a_day_is_refused(home):
    expected = PendingForecast(SWEEP, home, lambda sweep, store: Forecast(3 * 86_400.0, 10, 6))
    expected.wait(PATIENCE)
    assert expected.refused.startswith("trials must be at most 1 within 24 hours, got 3, which take about 72")
    assert expected.value.trials == 6


def test_what_is_let_go_of_does_not_begin(home):
    begun = threading.Event()
    expected = PendingForecast(SWEEP, home, lambda sweep, store: begun.set())
    expected.cancel()
    expected.wait(PATIENCE)
    assert not expected.alive and expected.value is None and not expected.refused and not begun.is_set()
