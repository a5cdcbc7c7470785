"""Processor time and memory as problems grow: python -m benchmarks.scaling [--quick].

Runs the preset `growth-of-costs`, stores its result with the package, where the papers page draws it, and writes the
exponents beside the papers' formulas into benchmarks/RESULTS.md.
"""

import sys

import pandas as pd

from benchmarks.peers.report import machine, write_section
from lrlab.presets import ship, shipped
from lrlab.presets.growth import QUANTITIES

NAME = "growth-of-costs"
HEAD = "| sizes | solver | time grows by | formula | memory grows by | formula |\n|---|---|---|---|---|---|"


def row(panel: str, series: str, fitted: pd.DataFrame) -> str:
    """Return the exponents of a series, with their intervals and those of the formulas."""
    cells = [panel, series]
    for quantity in (one.words for one in QUANTITIES):
        one = fitted[fitted["quantity"] == quantity].iloc[0]
        mark = "" if one["low_95"] <= one["claimed"] else " **above**"
        cells += [f"{one['exponent']:.2f} ({one['low_95']:.2f} to {one['high_95']:.2f}){mark}", f"{one['claimed']:g}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run, store, write."""
    ship.write(NAME, quick="--quick" in sys.argv)
    stored = shipped.load(NAME)
    assert stored is not None
    fits = stored.table[stored.table["level"] == "series"]
    rows = [row(*names, fitted) for names, fitted in fits.groupby(["panel", "series"], sort=False)]
    words = (
        f"`python -m benchmarks.scaling` ({stored.seconds:.0f} s of one core; figures under *Other experiments* on the"
        " page *papers*): exponents of processor time of five iterations and of peak memory, with 95% intervals, beside"
        " those of the formulas, which bound them from above. What does not grow with the size holds them down at the"
        f" small end. {stored.run} runs. {machine(())}"
    )
    write_section("Growth with the size", "\n\n".join([words, "\n".join([HEAD, *rows])]))


if __name__ == "__main__":
    main()
