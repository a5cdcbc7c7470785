"""Processor time and memory as problems grow: python -m benchmarks.scaling [--quick | --tables].

Runs the preset `growth-of-costs`, stores its result with the package, where the papers page draws it, and writes the
exponents beside the papers' formulas into benchmarks/RESULTS.md. With --tables, which takes some minutes and 4 GB,
tables of which up to 3e7 entries are observed instead.
"""

import sys
from collections.abc import Sequence

import lrlab
from benchmarks import ship
from benchmarks.peers.report import machine, write_section
from lrlab.presets import shipped
from lrlab.presets.evidence import power
from lrlab.presets.items import cost
from lrlab.presets.result import Verdict
from lrlab.runs.job import make_job, memory_needed
from lrlab.runs.run import Trial

NAME = "growth-of-costs"
HEAD = "| sizes | solver | time grows by | formula | memory grows by | formula |\n|---|---|---|---|---|---|"


def row(panel: str, series: str, verdicts: Sequence[Verdict]) -> str:
    """Return the exponents of a series and of its formulas, with intervals; verdicts: a cost each."""
    cells = [panel, series]
    for one in verdicts:
        assert one.samples is not None
        (slope, (low, high)), claimed = power(one.samples, [series], {}), one.rule["level"]
        mark = "" if low <= claimed else " **above**"
        cells += [f"{slope:.2f} ({low:.2f} to {high:.2f}){mark}", f"{claimed:g}"]
    return "| " + " | ".join(cells) + " |"


def tables() -> None:
    """Write what five iterations take on tables of which more and more entries are observed."""
    rows = []
    for observed in (0.003, 0.03, 0.3):
        table = {"features": "canonical", "n1": 10_000, "n2": 10_000, "rank": 3, "observed": observed}
        spec = lrlab.spec("inductive-completion", **table)
        for solver in ("als", "tangent-descent", "matrix-irls", "gauss-newton"):
            job = make_job(spec, solver, max_iter=5, tol=0, max_seconds=600)
            [row] = cost(Trial(job, 0))
            claimed = memory_needed(spec, job.entry, dict(job.options)) / 1e6
            cells = f"{spec.measurements:,}", solver, f"{row['processor']:.3g} s", f"{row['megabytes']:,.0f}"
            rows.append("| " + " | ".join([*cells, f"{claimed:,.0f}"]) + " |")
            print(rows[-1], flush=True)
    words = (
        "`python -m benchmarks.scaling --tables`: tables of 10,000 x 10,000, rank 3; processor time of five iterations "
        f"and the peak of what is allocated beside what is claimed, the data included. {machine(())}"
    )
    head = "| entries | solver | five iterations | peak MB | claimed MB |\n|---|---|---|---|---|"
    write_section("Large tables", "\n\n".join([words, "\n".join([head, *rows])]))


def main() -> None:
    """Run, store, write."""
    if "--tables" in sys.argv:
        return tables()
    ship.write(NAME, quick="--quick" in sys.argv)
    stored = shipped.load(NAME)
    assert stored is not None
    judged: dict[tuple[str, str], list[Verdict]] = {}
    for panel in ship.made_anew(stored).panels:
        for one in panel.judged:
            judged.setdefault((panel.title, *one.rule["series"]), []).append(one)
    rows = [row(*names, verdicts) for names, verdicts in judged.items()]
    words = (
        f"`python -m benchmarks.scaling` ({stored.seconds:.0f} s of one core; figures under *Other experiments* on the"
        " page *papers*): exponents of processor time of five iterations and of peak memory, with 95% intervals, beside"
        " those of the formulas, which bound them from above. What does not grow with the size holds them down at the"
        f" small end. {stored.run} runs. {machine(())}"
    )
    write_section("Growth with the size", "\n\n".join([words, "\n".join([HEAD, *rows])]))


if __name__ == "__main__":
    main()
