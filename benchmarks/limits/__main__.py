"""Measure hot loops against their floors: python -m benchmarks.limits [--families NAME,...] [--repeats 7] [--write].

A family is a module of this package with loops(), which yields its loops; --write puts the table into
benchmarks/RESULTS.md.
"""

import argparse
import importlib
import pkgutil

from benchmarks import limits
from benchmarks.limits.frame import Loop, Measured, measure
from benchmarks.peers.report import write_section

HEAD = "| loop | ms | floor | ms | fraction of the loop | Gflop, GB of the floor |\n|---|---|---|---|---|---|"


def line(loop: Loop, at: Measured) -> str:
    """Return one row of the table."""
    low, median, high = (f"{100.0 * share:.0f}" for share in at.share)
    work = f"{loop.flops / 1e9:.3g}, {loop.bytes / 1e9:.3g}"
    cells = (loop.title, f"{1e3 * at.seconds:.3g}", loop.floor_words, f"{1e3 * at.floor:.3g}")
    return "| " + " | ".join((*cells, f"{median}% ({low}-{high})", work)) + " |"


def main() -> None:
    """Measure the families asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="", help="their modules, separated by commas")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    wanted = [name for name in given.families.split(",") if name]
    rows = [HEAD]
    print(HEAD)
    for info in pkgutil.iter_modules(limits.__path__):
        family = importlib.import_module(f"{limits.__name__}.{info.name}") if info.name != "__main__" else None
        if not hasattr(family, "loops") or (wanted and info.name not in wanted):
            continue
        for loop in family.loops():
            rows.append(line(loop, measure(loop, given.repeats, given.threads)))
            print(rows[-1], flush=True)
    if given.write:
        head = (
            f"`python -m benchmarks.limits --write`: medians of {given.repeats} interleaved repeats, BLAS threads:"
            f" {given.threads}, processor time; in parentheses the quartiles. The floor is the unavoidable linear"
            " algebra."
        )
        write_section("Floors of hot loops", head + "\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
