"""Phase retrieval from coded diffraction patterns, beside its bound: python -m benchmarks.diffraction.

Images of 256 x 256 pixels from 8 patterns, exact and counted; writes a section of benchmarks/RESULTS.md. Five
minutes of one core.
"""

import time
from collections.abc import Iterator

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab import catalog
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.protocol import Limits

IMAGE = CodedDiffraction(side=256)
PHOTONS = (1e2, 1e3, 1e4, 1e6)
REACHED = 1e-5


def seconds_to(name: str) -> float | None:
    """Return the processor time, scoring and data included, until the error is 1e-5; None where it never is."""
    # The run is repeated up to that iteration, since times of a trace are those of the clock on the wall.
    errors = lrlab.solve(IMAGE, name).table["error"]
    reached = [k for k, error in enumerate(errors, 1) if error <= REACHED]
    if not reached:
        return None
    begin = time.process_time()
    lrlab.solve(IMAGE, name, max_iter=reached[0])
    return time.process_time() - begin


def rows() -> Iterator[str]:
    """Yield a line of the table for each solver."""
    specs = [IMAGE.replace(photons=photons) for photons in PHOTONS]
    bounds = [catalog.family(spec.model).best(spec)["bound_error"] for spec in specs]
    for entry in catalog.solvers_for(IMAGE.model):
        seconds = seconds_to(entry.name)
        cells = [entry.name, "–" if seconds is None else f"{seconds:.1f} s"]
        for spec, bound in zip(specs, bounds, strict=True):
            # The quadrature of the posterior over 5e5 noisy magnitudes takes minutes.
            slow = entry.name == "gamp"
            cells.append("–" if slow else f"{lrlab.solve(spec, entry.name).metrics['error'] / bound:.3f}")
        print(cells, flush=True)
        yield "| " + " | ".join(cells) + " |"
    yield "| bound of the error |  | " + " | ".join(f"{bound:.2g}" for bound in bounds) + " |"


def main() -> None:
    """Measure, write."""
    head = "| solver | to an error of 1e-5 | " + " | ".join(f"{photons:g} photons" for photons in PHOTONS) + " |"
    lines = "\n".join([head, "|---" * (2 + len(PHOTONS)) + "|", *rows()])
    about = (
        "`python -m benchmarks.diffraction`: the phantom of 256 x 256 pixels from 8 patterns behind phase masks, at "
        f"most {Limits().max_iter} iterations from the spectral start, seed 0. First processor time, exact patterns "
        "(data and scores included), then errors over the Cramér-Rao bound, by the mean count of a detector's pixel. "
    )
    write_section("Coded diffraction patterns", f"{about}{machine(())}\n\n{lines}")


if __name__ == "__main__":
    main()
