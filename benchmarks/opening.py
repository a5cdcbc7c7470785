"""Computes the first results of two pages, see `lrlab.ui.shared.opening`.

python -m benchmarks.opening

It opens both pages without a browser, computes the first sweep of each model and the first spectrum, and writes them.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from lrlab import catalog
from lrlab.engine.results import LocalResults, collect
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared import opening
from lrlab.ui.spectrum import python_script

DIGITS = 6
PAGES = Path(__file__).parents[1] / "pages"


def first_sweep(model: str) -> Sweep:
    """Return the sweep of *Phase transitions* when it opens on a model."""
    at = AppTest.from_file(str(PAGES / "transition.py"), default_timeout=120)
    at.query_params["model"] = model
    state = at.run().session_state
    found: Sweep = (state["transition:run"] if "transition:run" in state else state["transition:empty"][1]).sweep
    return found


def first_spectrum() -> Any:
    """Return the plan of *Eigengaps* when it opens."""
    at = AppTest.from_file(str(PAGES / "spectrum.py"), default_timeout=120).run()
    at.session_state["spectrum:run"].cancel()
    return at.session_state["spectrum:about"]


def trials(sweep: Sweep) -> list[Any]:
    """Return the trials of each job of a sweep."""
    with Store() as store:
        results = run(sweep, store, LocalResults)
        stored = [store.results(job, sweep.trials) for job in sweep.jobs]
    if results.failures:
        sys.exit(next(iter(results.failures.values())))
    return [[[*own[:3], rounded(own.seconds), _all(own.scores)] for own in job.values()] for job in stored]


def rounded(value: float | int | str) -> float | int | str:
    """Return a number with six digits."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def main() -> None:
    """Compute the results, and write them."""
    sweeps, plan = [first_sweep(model) for model in catalog.MODELS], first_spectrum()
    spectra = [[_all(row) for row in rows] for rows in collect(LocalResults(plan.measure, plan.draws))]
    content = {
        "transition": {to_toml(sweep): trials(sweep) for sweep in sweeps},
        "spectrum": {python_script(plan): spectra},
    }
    # Without a time in it: equal results give equal files.
    opening.FILE.write_bytes(gzip.compress(json.dumps(content).encode(), mtime=0))
    print(opening.FILE.name, opening.FILE.stat().st_size)


def _all(values: dict[str, Any]) -> dict[str, Any]:
    return {name: rounded(value) for name, value in values.items()}


if __name__ == "__main__":
    main()
