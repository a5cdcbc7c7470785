"""The start of the embedded engine: slow, impossible, and heard by nobody but the process that started it."""

import errno
import os
import signal
import subprocess
import sys

import psutil
import pytest
from distributed import Security

from lrlab.engine import local_cluster
from lrlab.engine.engine import Engine
from lrlab.engine.local_cluster import LocalCluster, client_of
from lrlab.engine.results import collect
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow

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
