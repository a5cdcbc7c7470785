"""A few kills of workers and of the server; `python -m tests.faults` has a hundred and twenty."""

import pytest

from tests.faults.kills import run


@pytest.mark.slow
def test_nothing_stored_is_lost_or_doubled_where_workers_and_servers_are_killed(tmp_path):
    outcome = run(tmp_path / "trials.sqlite", worker_kills=1, server_kills=1, trials=200, seed=7)
    assert outcome.trials == 2 * 4 * 200
