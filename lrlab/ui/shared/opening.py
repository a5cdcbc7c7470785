"""First results of *Phase transitions*, for each model, and of *Eigengaps*, which come with the package.

`benchmarks.opening` computes and writes them; a test computes some of them anew.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from lrlab.engine.results import LocalResults
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import get_shared_store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import SweepRun
from lrlab.sweeps.toml import to_toml

FILE = Path(__file__).parents[1] / "assets" / "opening.json.gz"
"""By page and definition: the results in the order of its items; for a sweep, the trials of each job."""


def spectrum(about: str) -> LocalResults | None:
    """Return the shipped results of the spectrum that `about` describes; None of another one."""
    if not (values := _results("spectrum", about)):
        return None
    run = LocalResults(values.__getitem__, range(len(values)))
    run.shipped = True
    run.refresh()
    return run


def diagram(sweep: Sweep) -> SweepRun | None:
    """Return the shipped results of a phase diagram, as a sweep that is over; None of another one."""
    if not (trials := _results("transition", to_toml(sweep))):
        return None
    run, several = SweepRun(sweep, get_shared_store()), zip(sweep.jobs, trials, strict=True)
    run.results.add({Trial(job, n): TrialResult(*own) for job, rows in several for n, own in enumerate(rows)})
    run.results.complete, run.done, run.state, run.shipped = True, sum(map(len, trials)), "done", True
    return run


def _results(page: str, about: str) -> Any:
    return _read()[page].get(about)


@cache
def _read() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(gzip.decompress(FILE.read_bytes()))
    return content
