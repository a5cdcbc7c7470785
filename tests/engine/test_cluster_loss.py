"""A sweep on a cluster that loses workers gives the same table; two sweeps share the workers."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrlab import spec
from lrlab.engine.engine import Engine
from lrlab.engine.results import LocalResults, Start
from lrlab.model_entry import Success
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run as run_sweep
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import to_toml
from tests.clusters import Cluster, cluster
from tests.waiting import PATIENCE, stored_trials, until

pytestmark = pytest.mark.slow
SWEEP = Sweep(
    spec=spec("one-bit-sensing", p=40),
    axes={"noise": [0.1, 0.5, 1.0], "ratio": [20, 60]},
    solvers=["pairwise-moment", "sir"],
    trials=20,
    success=Success("overlap", above=0.9),
)


@pytest.fixture
def lossy(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler and four workers that nothing replaces."""
    with cluster(tmp_path, [["--no-nanny"]] * 4) as started:
        yield started


def expected(sweep: Sweep, start: Start = LocalResults) -> str:
    """Return the table of a sweep that ran elsewhere, or here."""
    with Store() as store:
        return json.dumps(cell_rows(run_sweep(sweep, store, start)))


@pytest.mark.attempt("a cluster that loses half of its workers in a sweep", "the same table")
@pytest.mark.soak
def test_a_cluster_that_loses_half_of_its_workers_gives_the_same_table(lossy, tmp_path, engine):
    definition, path = tmp_path / "sweep.toml", tmp_path / "trials.sqlite"
    definition.write_text(to_toml(SWEEP))
    command = [sys.executable, "-m", "lrlab", "sweep", str(definition), "--store", str(path), "--json"]
    shell = subprocess.Popen([*command, "--scheduler", lossy.address], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for number, worker in zip((1, SWEEP.total // 3), lossy.workers, strict=False):
        until(lambda number=number: stored_trials(path) >= number or shell.poll() is not None)
        assert shell.poll() is None, "it was over before a worker was lost"
        worker.send_signal(signal.SIGKILL)
    out, errors = shell.communicate(timeout=PATIENCE)
    document = json.loads(out)
    assert (shell.returncode, errors) == (0, b"")
    assert (document["trials_run"], document["trials_reused"]) == (SWEEP.total, 0)
    whole = expected(SWEEP)
    assert json.dumps(document["cells"]) == whole.replace("NaN", "null")
    single = Engine(workers=1)
    try:
        assert [expected(SWEEP, one.map) for one in (single, engine)] == [whole, whole]
    finally:
        single.close()
