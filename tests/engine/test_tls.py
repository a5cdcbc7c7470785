"""A scheduler behind TLS: dask's own settings are passed through, and without them it is refused with a sentence."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dask
import distributed  # noqa: F401  (its defaults stand below what is set here)
import pytest

from lrlab import InputError, spec
from lrlab.engine.engine import Engine
from lrlab.engine.results import collect
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from tests.clusters import cluster
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the key")]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a self-signed certificate of this machine, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1".split()
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def scheduler(keys: tuple[Path, Path]) -> Iterator[str]:
    """Start a scheduler and a worker that speak TLS alone, and yield its address."""
    certificate, key = map(str, keys)
    tls = ["--protocol", "tls", "--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    with cluster(keys[0].parent, [[]], *tls) as started:
        yield started.address


def test_jobs_run_on_a_cluster_behind_tls_with_the_settings_of_dask(scheduler, keys, monkeypatch):
    monkeypatch.setattr("lrlab.engine.engine.CONNECT_SECONDS", PATIENCE)
    certificate, key = map(str, keys)
    assert scheduler.startswith("tls://")
    settings = {f"distributed.comm.tls.client.{name}": value for name, value in (("cert", certificate), ("key", key))}
    with dask.config.set({"distributed.comm.tls.ca-file": certificate, **settings}):
        engine = Engine(scheduler)
        job = make_job(spec("one-bit-sensing", n=500, p=10, seed=2001), "pairwise-moment", max_iter=20)
        following = engine.follow([job])
        assert following.wait(PATIENCE) and following.runs[0].trace.metrics == run_job(job).metrics
        assert collect(engine.map(abs, [-1, 2])) == [1, 2]
        engine.close()


def test_without_the_settings_it_is_refused(scheduler):
    with pytest.raises(InputError, match="scheduler must be the address of a running dask scheduler, got tls://"):
        Engine(scheduler)
    with pytest.raises(InputError, match="scheduler must be"):
        Engine(scheduler.replace("tls://", "tcp://"))
