"""Processes of the engine: slow or impossible starts, lost ones, an existing scheduler, none after their server."""

import errno
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Security

from lrlab import InputError, Stop
from lrlab.engine import engine as engines
from lrlab.engine import local_cluster
from lrlab.engine.engine import Engine, get_engine
from lrlab.engine.local_cluster import LocalCluster, client_of
from lrlab.engine.messages import EngineClosed
from lrlab.engine.results import collect
from lrlab.runs.run import run_job
from lrlab.ui.shared.progress import batch_bar
from tests.clusters import cluster
from tests.engine.test_engine import endless
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


@pytest.mark.attempt("`kill -9` of the scheduler", "runs and sweeps end in a sentence")
def test_jobs_of_a_lost_engine_fail_with_a_sentence():
    before = set(psutil.Process().children())
    engine = Engine(workers=1)
    engine.warm()
    following = engine.follow([endless()])
    until(lambda: following.refresh() and following.runs[0].state == "running")
    (host,) = set(psutil.Process().children()) - before
    host.kill()
    assert following.wait(PATIENCE)
    assert following.runs[0].state == "failed" and "has ended" in following.runs[0].error
    until(lambda: not engine.alive)
    with pytest.raises(RuntimeError, match="The engine that ran the job has ended"):
        collect(engine.map(abs, [1]))


def test_a_scheduler_behind_tls_is_refused_without_the_settings_of_dask_and_used_with_them(tmp_path, monkeypatch):
    security, certificate, key = Security.temporary(), str(tmp_path / "certificate"), str(tmp_path / "key")
    Path(certificate).write_text(security.tls_ca_file)
    Path(key).write_text(security.tls_scheduler_key)
    tls = ["--protocol", "tls", "--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    settings = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    with cluster(tmp_path, [["--nworkers", "2"]], *tls) as started:
        monkeypatch.setattr(engines, "CONNECT_SECONDS", 0.5)
        open_address = started.address.replace("tls://", "tcp://")
        assert open_address != started.address
        for address in (started.address, open_address, "tcp://127.0.0.1:9", "nonsense"):
            sentence = f"scheduler must be the address of a running dask scheduler, got {address}"
            with pytest.raises(InputError, match=sentence):
                get_engine(address)
        monkeypatch.setattr(engines, "CONNECT_SECONDS", PATIENCE)
        monkeypatch.setenv("LRLAB_SCHEDULER", started.address)
        with dask.config.set({f"distributed.comm.tls.{name}": path for name, path in settings.items()}):
            use(get_engine(), started.address)


def use(engine: Engine, address: str) -> None:
    """Follow and cancel jobs on the engine of an address, close it, and make another one."""
    assert engine is get_engine(address)
    engine.warm()
    following = engine.follow([endless(max_iter=100), endless()])
    short, long = following.runs
    until(lambda: following.refresh() and short.over and len(long.trace.rows) > 0)
    assert short.trace.stop is Stop.MAX_ITER
    assert short.trace.metrics == run_job(short.job).metrics
    following.cancel()
    assert following.wait(PATIENCE) and long.trace.stop is Stop.CANCELLED
    batch = engine.map(time.sleep, [0.1] * 1000)
    engine.close()
    with pytest.raises(EngineClosed):
        while batch.alive:
            batch.take()
    again = get_engine()
    assert again is not engine and collect(again.map(abs, [-1])) == [1]
    again.close()


FEW_FILES = """
import resource
from lrlab.engine.engine import Engine
from lrlab.engine.results import collect
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
try:
    print(collect(Engine(workers=1).map(abs, [-1])))
except RuntimeError as error:
    print(error)
"""


@pytest.mark.attempt("24 open files at most", "the reason in a sentence")
def test_what_cannot_start_says_why():
    command = [sys.executable, "-c", FEW_FILES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "engine could not be started" in done.stdout and "Too many open files" in done.stdout, done.stdout
    assert "address" not in done.stdout and "Traceback" not in done.stdout


class Stopped(LocalCluster):
    """Processes that stand still once they have said where they listen, as on a busy machine."""

    def listening(self):
        """Return the address, and stop."""
        found = super().listening()
        os.kill(self.process.pid, signal.SIGSTOP)
        return found


@pytest.mark.attempt("a machine that starts the engine slowly", "waited for")
def test_a_slow_start_is_waited_for(monkeypatch):
    embedded, tries = Stopped(1), []

    def tried(address, seconds, security):
        tries.append(seconds)
        if len(tries) < 3:
            return client_of(address, 0.3, security)
        os.kill(embedded.process.pid, signal.SIGCONT)
        return client_of(address, PATIENCE, security)

    monkeypatch.setattr(local_cluster, "client_of", tried)
    try:
        client = embedded.client()
        assert client.status == "running" and len(tries) == 3
        client.close()
    finally:
        embedded.close()


def test_an_end_before_the_first_worker_says_so(monkeypatch):
    """The engine is connected when its processes fail, as where the files that are left are enough for that alone."""

    def reach_and_end(cluster):
        client = whole(cluster)
        with cluster._log.open("a") as log:
            log.write("OSError: [Errno 24] Too many open files\nRuntimeError: Nanny failed to start.\n")
        cluster.process.kill()
        return client

    whole = LocalCluster.client
    monkeypatch.setattr(LocalCluster, "client", reach_and_end)
    with pytest.raises(RuntimeError, match="could not be started: OSError: .Errno 24. Too many open files.$"):
        collect(Engine(workers=1).map(abs, [-1]))


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOENT, errno.ENOSPC])
def test_without_shared_memory_the_sentence_names_it(number, monkeypatch):
    def refuse():
        raise OSError(number, os.strerror(number))

    embedded = LocalCluster(1)
    monkeypatch.setattr("multiprocessing.Lock", refuse)
    assert f"need /dev/shm ({os.strerror(number)}); mount it writable" in str(embedded.not_started())


@pytest.mark.attempt(
    "another user opens the port of the embedded scheduler: without TLS, with a certificate of its own, without a key",
    "refused in the handshake, nothing is unpickled",
)
def test_nobody_else_reaches_the_scheduler():
    """Another user of this machine finds the port; without the certificate and its key nothing is unpickled there."""
    embedded = LocalCluster(1)
    try:
        address, tls = embedded.listening()
        assert address.startswith("tls://127.0.0.1:")
        for security in (Security.temporary(), Security(require_encryption=True, tls_ca_file=tls["tls_ca_file"])):
            with pytest.raises((OSError, TypeError)):
                client_of(address, 0.5, security)
        with pytest.raises(OSError):
            client_of(address.replace("tls", "tcp"), 0.5)
        client = client_of(address, PATIENCE, Security(require_encryption=True, **tls))
        assert client.status == "running"
        client.close()
        processes = psutil.Process(embedded.process.pid)
        for process in (processes, *processes.children(recursive=True)):
            assert "PRIVATE KEY" not in f"{process.cmdline()} {process.environ()}"
    finally:
        embedded.close()


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
