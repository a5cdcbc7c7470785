"""Processes of the engine: slow or impossible starts, lost ones, none after their server; clusters and their files."""

import ast
import errno
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
import yaml
from distributed import Security

from lrlab import InputError, Stop, register, spec
from lrlab.__main__ import main
from lrlab.engine import engine as engines
from lrlab.engine import local_cluster
from lrlab.engine.engine import Engine, get_engine
from lrlab.engine.local_cluster import LocalCluster, client_of
from lrlab.engine.results import EngineClosed, LocalResults, collect
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_job, run_trial
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared.progress import batch_bar
from tests.clusters import cluster
from tests.engine.test_engine import endless
from tests.test_plugins import FILE, MODEL, SENTENCE, mean
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


ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "clusters"


def leaves(settings: Mapping[str, Any], *path: str) -> Iterator[str]:
    """Yield the names of all settings, with dots."""
    for name, value in settings.items():
        yield from leaves(value, *path, name) if isinstance(value, dict) else [".".join((*path, name))]


def test_every_setting_of_dask_exists():
    settings = list(leaves(yaml.safe_load((FILES / "dask.yaml").read_text())))
    assert len(settings) > 5
    for name in settings:
        dask.config.get(name)


def test_the_pods_of_kubernetes_run_what_is_there():
    cluster, volume, job = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text())
    assert [cluster["kind"], volume["kind"], job["kind"]] == ["DaskCluster", "PersistentVolumeClaim", "Job"]
    parts, pod = cluster["spec"], job["spec"]["template"]["spec"]
    containers = [*parts["scheduler"]["spec"]["containers"], *parts["worker"]["spec"]["containers"], *pod["containers"]]
    assert len({container["image"] for container in containers}) == 1
    ports = {port["name"] for port in containers[0]["ports"]}
    assert {port["targetPort"] for port in parts["scheduler"]["service"]["ports"]} == ports
    assert parts["scheduler"]["service"]["selector"]["dask.org/cluster-name"] == cluster["metadata"]["name"]
    # The operator names the service of a scheduler after its cluster.
    address = f"tcp://{cluster['metadata']['name']}-scheduler:8786"
    assert {"name": "LRLAB_SCHEDULER", "value": address} in pod["containers"][0]["env"]
    claims = [volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "configMap" not in volume]
    assert claims == [volume["metadata"]["name"]]
    home = re.search(r"^WORKDIR (.*)$", (ROOT / "Dockerfile").read_text(), re.M)[1]
    settings = {variable["name"]: variable["value"] for variable in containers[0]["env"]}
    assert settings["PYTHONPATH"] == home and (ROOT / Path(settings["DASK_CONFIG"]).relative_to(home)).exists()


def test_the_script_for_slurm_is_python_and_its_page_names_all_files():
    ast.parse((FILES / "slurm.py").read_text())
    page = (ROOT / "docs" / "howto" / "clusters.md").read_text()
    assert {path.name for path in FILES.iterdir()} == set(re.findall(r"\(../clusters/([\w.]+)\)", page))


@contextmanager
def by_hand(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Run by_hand.sh, and end it as Ctrl-C does."""
    settings = {**os.environ, "PYTHON": sys.executable, "PORT": "0", "MEMORY": "1GiB"}
    command = ["sh", str(FILES / "by_hand.sh"), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=settings)
    try:
        yield process
    finally:
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert not psutil.wait_procs(started, PATIENCE)[1], "nothing is left"


@pytest.mark.soak
def test_a_cluster_by_hand_gives_the_same_table_though_it_lacks_files(tmp_path, capsys):
    for name, text in {"own_solvers.py": FILE, "own_model.py": MODEL}.items():
        (tmp_path / name).write_text(text)
        register(tmp_path / name)
    register(mean, models=["one-bit-sensing"])
    model = spec("own-rank-one", m=60, d1=4, d2=4, rank=1)
    axes, solvers = {"noise": [0.1, 1.0], "ratio": [20, 60]}, ["sir", "own-mean", "mean"]
    sweep = Sweep(spec=spec("one-bit-sensing", p=20), axes=axes, solvers=solvers, trials=20)
    (tmp_path / "sweep.toml").write_text(to_toml(sweep))
    with by_hand("scheduler") as scheduler:
        assert scheduler.stderr is not None
        lines = (re.search(r"Scheduler at: +(tcp://\S+)", line) for line in scheduler.stderr)
        address = next(filter(None, lines))[1]
        with by_hand("workers", address, "2"):
            engine = get_engine(address)
            values = collect(engine.map(run_trial, [Trial(make_job(model, "gauss-newton"), k) for k in range(3)]))
            assert [value.stop for value in values] == ["CONVERGED"] * 3
            following = engine.follow([make_job(sweep.spec, "own-failure")])
            assert following.wait(PATIENCE) and following.runs[0].error == SENTENCE
            assert main(["sweep", str(tmp_path / "sweep.toml"), "--scheduler", address, "--json"]) == 0
            engine.close()
        printed = capsys.readouterr()
        document = json.loads(printed.out)
        assert (printed.err, document["trials_run"]) == ("", sweep.total)
        with Store() as store:
            expected = json.dumps(cell_rows(run(sweep, store, LocalResults)))
        assert json.dumps(document["cells"]) == expected.replace("NaN", "null")
