"""Theory at the size at hand beside simulation: predicted mean and band, and 200 seeds: `--write` into RESULTS.md.

OPENBLAS_NUM_THREADS=1 python -m benchmarks.finite_theory [--write]

Six models at p = 5, 10, 20, 50 and 100, and in each the solvers whose overlap theory predicts at finite sizes, and the
best on average over signals beside the best of all solvers. A cell passes where the means differ by at most two
standard errors of their difference; 95% are to pass. No two cells share the seeds of their runs, and theory has ten
times as many draws as there are runs, so that the cells are independent up to a tenth of the variances.
"""

import argparse
import re
from typing import Any, NamedTuple

import numpy as np

import lrlab
from benchmarks.peers.report import RESULTS
from lrlab.runs import theory
from lrlab.runs.job import make_job

SEEDS, FIRST, DRAWS = 200, 40_000, 2000
SIZES = (5, 10, 20, 50, 100)
TITLE = "Theory at the size at hand"
MODELS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "one-bit sensing, noise 0.1, n/p = 30": (
        "one-bit-sensing", {"ratio": 30, "noise": 0.1}, ("pairwise-moment", "sir")
    ),
    "one-bit sensing, noise 1, n/p = 10": (
        "one-bit-sensing", {"ratio": 10, "noise": 1.0}, ("pairwise-moment", "marginal-mean", "gamp")
    ),
    "flipped logistic, flip 0.1, n/p = 20": (
        "flipped-logistic", {"ratio": 20, "flip": 0.1}, ("marginal-mean", "sir")
    ),
    "flipped logistic, intercept 2, n/p = 40": (
        "flipped-logistic", {"ratio": 40, "intercept": 2.0}, ("save", "sir")
    ),
    "one-bit phase retrieval, t = 1, n/p = 5": (
        "one-bit-phase-retrieval", {"ratio": 5, "threshold": 1.0}, ("spectral-optimal", "phd", "gamp")
    ),
    "sin(2 z), n/p = 20": ("custom-link", {"ratio": 20, "link": "sin(2*z)"}, ("marginal-mean", "sir")),
}  # fmt: skip


class Cell(NamedTuple):
    """Predicted and simulated mean and band of an overlap, and the difference of the means in standard errors."""

    model: str
    p: int
    solver: str
    predicted: tuple[float, float, float]
    simulated: tuple[float, float, float]
    difference: float


def cell(number: int, title: str, p: int, solver: str) -> Cell:
    """Return one cell of the table; number: its place, which gives its seeds."""
    model, settings, _ = MODELS[title]
    given = {name: value for name, value in settings.items() if name != "ratio"}
    spec = lrlab.spec(model, p=p, n=settings["ratio"] * p, **given)
    job = make_job(spec, solver)
    drawn = job.entry.sample(spec, dict(job.options), DRAWS)
    assert drawn is not None
    first = FIRST + SEEDS * number
    runs = [lrlab.solve(spec.replace(seed=first + k), solver, max_iter=1000) for k in range(SEEDS)]
    ran = np.array([run.rows[-1]["overlap"] for run in runs])
    error = np.hypot(drawn.std(ddof=1) / np.sqrt(len(drawn)), ran.std(ddof=1) / np.sqrt(len(ran)))
    three = [(float(v.mean()), *map(float, np.quantile(v, theory.BAND))) for v in (drawn, ran)]
    return Cell(title, p, solver, three[0], three[1], float((ran.mean() - drawn.mean()) / error))


def words(numbers: tuple[float, float, float]) -> str:
    """Return a mean with its band."""
    return f"{numbers[0]:.3f} ({numbers[1]:.3f}-{numbers[2]:.3f})"


def section(cells: list[Cell]) -> str:
    """Return the section of RESULTS.md."""
    inside = sum(abs(one.difference) <= 2.0 for one in cells)
    square = np.mean([one.difference**2 for one in cells])
    head = (
        "`python -m benchmarks.finite_theory --write`: mean squared overlap, with the 10% and 90% points, of"
        f" {DRAWS} draws of theory at n and p, and of {SEEDS} runs with seeds of their own in each cell. The means are"
        f" within two standard errors of their difference in {inside} of {len(cells)} cells"
        f" ({100 * inside / len(cells):.0f}%; of exact means 95% are). The mean square of the last column is"
        f" {square:.2f}, of exact means 1 +- {np.sqrt(2.0 / len(cells)):.2f}.\n\n"
        "| model | p | solver | theory at this size | runs | difference / its error |\n|---|---|---|---|---|---|\n"
    )
    rows = [
        f"| {one.model} | {one.p} | {one.solver} | {words(one.predicted)} | {words(one.simulated)} "
        f"| {one.difference:+.1f} |"
        for one in cells
    ]
    return head + "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, or put it into RESULTS.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", help="put the section into benchmarks/RESULTS.md")
    write = options.parse_args().write
    cells = []
    for title, (_, _, solvers) in MODELS.items():
        for p in SIZES:
            for solver in solvers:
                cells.append(cell(len(cells), title, p, solver))
                print(cells[-1], flush=True)
    text = section(cells)
    print(text)
    if write:
        rest = re.sub(rf"^## {TITLE}\n.*?(?=^## |\Z)", "", RESULTS.read_text(), flags=re.MULTILINE | re.DOTALL)
        RESULTS.write_text(f"{rest.rstrip()}\n\n## {TITLE}\n\n{text}")


if __name__ == "__main__":
    main()
