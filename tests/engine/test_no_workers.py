"""A cluster without workers: said at once and while work waits, in the log, on pages and by the shell."""

import logging
import subprocess
import sys

import pytest

from lrlab.engine import engine as engines
from lrlab.engine.results import collect
from lrlab.ui.shared.progress import batch_bar
from tests.clusters import cluster
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


@pytest.mark.attempt("a cluster without workers", "said at once and while work waits")
def test_it_is_said_at_once_and_while_work_waits(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(engines, "SHORTAGE_SECONDS", 0.2)
    monkeypatch.setattr(engines, "CONNECT_SECONDS", PATIENCE)
    caplog.set_level(logging.WARNING, "lrlab.engine")
    with cluster(tmp_path, []) as alone:
        monkeypatch.setenv("LRLAB_SCHEDULER", alone.address)
        engine = engines.get_engine()
        sentence = f"The cluster has no workers: start one with `dask worker {alone.address}`."
        assert engine.shortage == engines.shortage() == sentence and not caplog.messages
        stream = engine.map(abs, [-1, -2])
        assert f"0 of 2 trials. {sentence}" in batch_bar(stream).replace("&#x27;", "'")
        until(lambda: caplog.messages.count(sentence) >= 2)
        command = [sys.executable, "-m", "dask", "worker", alone.address, "--no-dashboard", "--no-nanny"]
        worker = subprocess.Popen([*command, "--local-directory", str(tmp_path)], stderr=subprocess.DEVNULL)
        try:
            assert collect(stream) == [1, 2] and not engines.shortage()
        finally:
            engine.close()
            worker.kill()
            worker.wait(PATIENCE)
