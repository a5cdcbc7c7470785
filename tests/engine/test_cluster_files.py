"""Clusters: the files of docs/clusters are sound, and a cluster by hand gives the same table."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
import yaml

from lrlab import register, spec
from lrlab.__main__ import main
from lrlab.engine.engine import get_engine
from lrlab.engine.results import LocalResults, collect
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import to_toml
from tests.test_plugins import FILE, MODEL, SENTENCE, mean
from tests.waiting import PATIENCE

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
@pytest.mark.slow
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
