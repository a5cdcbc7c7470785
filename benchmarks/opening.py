"""Computes the first results of two pages, see `lrlab.ui.shared.opening`.

python -m benchmarks.opening

It opens both pages without a browser, computes their default sweep and spectrum, and writes the file.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from lrlab.engine.results import LocalResults, collect
from lrlab.store.store import Store
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared import opening
from lrlab.ui.spectrum import python_script

DIGITS = 6
PAGES = Path(__file__).parents[1] / "pages"


def defaults() -> tuple[Any, Any]:
    """Return the sweep of *Phase transitions* and the plan of *Eigengaps* at their defaults."""
    begun = []
    for name in ("transition", "spectrum"):
        at = AppTest.from_file(str(PAGES / f"{name}.py"), default_timeout=120).run()
        at.session_state[f"{name}:run"].cancel()
        begun.append(at.session_state)
    return begun[0]["transition:run"].sweep, begun[1]["spectrum:about"]


def rounded(value: float | int | str) -> float | int | str:
    """Return a number with six digits."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def main() -> None:
    """Compute the results, and write them."""
    sweep, plan = defaults()
    with Store() as store:
        results = run(sweep, store, LocalResults)
        stored = [store.results(job, sweep.trials) for job in sweep.jobs]
    if results.failures:
        sys.exit(next(iter(results.failures.values())))
    trials = [[[*own[:3], rounded(own.seconds), _all(own.scores)] for own in job.values()] for job in stored]
    spectra = [[_all(row) for row in rows] for rows in collect(LocalResults(plan.measure, plan.draws))]
    content = {
        "transition": {"about": to_toml(sweep), "results": trials},
        "spectrum": {"about": python_script(plan), "results": spectra},
    }
    # Without a time in it: equal results give equal files.
    opening.FILE.write_bytes(gzip.compress(json.dumps(content).encode(), mtime=0))
    print(opening.FILE.name, opening.FILE.stat().st_size)


def _all(values: dict[str, Any]) -> dict[str, Any]:
    return {name: rounded(value) for name, value in values.items()}


if __name__ == "__main__":
    main()
