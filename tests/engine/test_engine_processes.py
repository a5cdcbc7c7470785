"""Processes of the engine: lost ones, an existing scheduler, and none that outlives its server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from lrlab import InputError, Stop, spec
from lrlab.engine import engine as engines
from lrlab.engine.engine import Engine, get_engine
from lrlab.engine.messages import EngineClosed
from lrlab.engine.results import collect
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import run_job
from tests.clusters import cluster
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


def endless(**limits: int) -> Job:
    """Return a job that runs until it is ended."""
    return make_job(spec("one-bit-sensing"), "pairwise-moment", **{"tol": 0, "max_iter": 1_000_000, **limits})


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


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a scheduler with two workers, and yield its address."""
    with cluster(tmp_path_factory.mktemp("dask"), [["--nworkers", "2"]]) as started:
        yield started.address


def test_an_existing_scheduler_is_used_by_its_address(scheduler, monkeypatch, tmp_path):
    monkeypatch.setenv("LRLAB_SCHEDULER", scheduler)
    monkeypatch.setattr(engines, "CONNECT_SECONDS", PATIENCE)
    engine = get_engine()
    assert engine is get_engine(scheduler)
    engine.warm()
    following = engine.follow([endless(max_iter=100), endless()])
    short, long = following.runs
    until(lambda: following.refresh() and short.over and len(long.trace.rows) > 0)
    assert short.trace.stop is Stop.MAX_ITER
    assert short.trace.metrics == run_job(short.job).metrics
    following.cancel()
    assert following.wait(PATIENCE) and long.trace.stop is Stop.CANCELLED
    mark, me = tmp_path / "mark", os.getpid()

    def die_once(item: int) -> int:
        if not mark.exists():
            mark.touch()
            assert os.getpid() != me
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert collect(engine.map(die_once, range(10))) == list(range(10))
    batch = engine.map(time.sleep, [0.1] * 1000)
    engine.close()
    with pytest.raises(EngineClosed):
        while batch.alive:
            batch.take()
    again = get_engine()
    assert again is not engine and collect(again.map(abs, [-1])) == [1]
    again.close()


def test_an_address_where_no_scheduler_answers_is_refused(monkeypatch):
    monkeypatch.setattr(engines, "CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        with pytest.raises(InputError, match="scheduler must be the address of a running dask scheduler, got"):
            get_engine(address)


FOLDERS = ("lrlab-", "pymp-", "dask-")
SERVER = """
import sys, time
from lrlab.engine.engine import Engine
engine = Engine(workers=1)
engine.warm()
batch = engine.map(time.sleep, [600])
time.sleep(0.3)
print("ready", flush=True)
if sys.argv[1] == "stay":
    time.sleep(600)
"""


def serve(how: str) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own."""
    command = [sys.executable, "-c", SERVER, how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)


@pytest.mark.soak
def test_no_process_or_folder_is_left_when_the_server_ends(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ends = (signal.SIGTERM, signal.SIGINT, None)
    servers = [serve("leave" if end is None else "stay") for end in ends]
    for server, end in zip(servers, ends, strict=True):
        with server.stdout:
            assert server.stdout.readline() == b"ready\n"
        if end is not None:
            assert len(members(server.pid)) > 2
            server.send_signal(end)
    for server in servers:
        server.wait(PATIENCE)
        until(lambda session=server.pid: not members(session))
    until(lambda: not [name for name in os.listdir(tmp_path) if name.startswith(FOLDERS)])


def members(session: int) -> list[int]:
    """Return the processes of a session that still run."""
    running = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                running.append(process.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return running
