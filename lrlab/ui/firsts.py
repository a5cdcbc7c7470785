"""What to try first: each a page with good parameters."""

from typing import NamedTuple


class First(NamedTuple):
    """A page, its parameters, and what is to be seen there."""

    page: str
    title: str
    words: str
    address: dict[str, str]


FIRSTS = (
    First(
        "converge",
        "Watch solvers converge",
        "3,000 signs of noisy projections, a signal of 20 entries. Algorithm 1 ends where theory says it must; a "
        "refinement that does not know the link either gets ten times closer.",
        {},
    ),
    First(
        "converge",
        "See a digit come out of single bits",
        "A handwritten 3, from 6,000 projections of which only the sign is kept. The picture sharpens while the "
        "solvers run; afterwards a slider leads through the iterates.",
        {"truth": "digit-3", "p": "64", "n": "6000"},
    ),
    First(
        "spectrum",
        "Find where the eigenvector goes blind",
        "One-bit phase retrieval: between two thresholds the largest eigenvalue sinks into the bulk, and the overlap "
        "with the signal drops to zero, as predicted.",
        {"model": "one-bit-phase-retrieval"},
    ),
    First(
        "transition",
        "Map a phase transition",
        "Squared overlap over noise and measurements per unknown. Cells fill in, coarse to fine; the line was "
        "computed beforehand. A click on a cell opens its trial.",
        {},
    ),
    First(
        "papers",
        "Compute a published figure again",
        "Figures 1 to 3 of Yi, Wang, Caramanis and Liu (2015) on this machine, with the curves that are exact at their "
        "sizes beside those of the paper.",
        {},
    ),
    First(
        "converge",
        "Lose both sign and size",
        "One-bit phase retrieval tells only whether a projection is larger than a threshold. Methods built on the mean "
        "are refused, with the reason; second moments still find the signal.",
        {"model": "one-bit-phase-retrieval", "show": "overlap"},
    ),
)
