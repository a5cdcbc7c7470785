"""The examples on the home page: each is a page with parameters."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Example(NamedTuple):
    """A page, its parameters (`address`), and what it shows there (`text`)."""

    page: str
    title: str
    text: str
    address: Mapping[str, str] = MappingProxyType({})


EXAMPLES = (
    Example(
        "converge",
        "Watch solvers converge",
        "3,000 signs of noisy projections of a signal with 20 entries. Algorithm 1 ends at the predicted error; a "
        "refinement that does not use the link function either ends ten times closer.",
    ),
    Example(
        "converge",
        "Recover a digit from single bits",
        "A handwritten 3, from the signs of 6,000 projections. The picture sharpens while the solvers run; afterwards "
        "a slider shows the iterates.",
        {"truth": "digit-3", "p": "64", "n": "6000"},
    ),
    Example(
        "spectrum",
        "See a spectral method fail, and theory say where",
        "One-bit phase retrieval: between two thresholds the largest eigenvalue joins the bulk, and the overlap with "
        "the signal drops to zero, as predicted.",
        {"model": "one-bit-phase-retrieval"},
    ),
    Example(
        "transition",
        "Map a phase transition",
        "Squared overlap against noise and measurements per unknown. A coarse map of the whole plane comes first; "
        "further trials go where half of them succeed, near the line of theory. A click on a cell opens its trial.",
    ),
    Example(
        "papers",
        "Recompute a published figure",
        "Figures and tables of five papers, computed on this machine beside the printed numbers, with exact "
        "predictions at their sizes and with newer solvers.",
    ),
    Example(
        "converge",
        "Recover a matrix from rank-one measurements",
        r"700 numbers $x^\top W y$ of a 50 x 50 matrix $W$ of rank 5, 1.5 times its number of unknowns. Heat maps of "
        "the estimates, their singular values, and errors down to rounding.",
        {"model": "rank-one-sensing", "m": "700", "solvers": "gauss-newton,tangent-descent,altmin"},
    ),
    Example(
        "transition",
        "Compare success with degrees of freedom",
        "A network of squared units is learnt from few samples. Success begins just above the line of its degrees of "
        "freedom; add another solver, and see how many more samples it needs.",
        {"model": "polynomial-network"},
    ),
    Example(
        "converge",
        "Complete a table from 1% of its entries",
        "Features of rows and columns predict 250,000 entries from 2,500, even in rows without any observed entry. "
        "With canonical features the same number of entries is far too small.",
        {"model": "inductive-completion", "observed": "0.01", "solvers": "gauss-newton,altmin"},
    ),
    Example(
        "converge",
        "Recover a picture from magnitudes",
        "A phantom from the magnitudes of 1,536 projections. Gradient flows and Gauss-Newton recover the picture; the "
        "star is the predicted error of their start.",
        {"model": "phase-retrieval", "truth": "phantom", "p": "256", "m": "1536"},
    ),
    Example(
        "converge",
        "Recover ill-conditioned weights",
        "Output weights from 1 down to a thousandth. Projected gradients, scaled gradients and Gauss-Newton recover "
        "even the smallest unit, at a speed that does not depend on its weight.",
        {"model": "polynomial-network", "condition": "1000", "solvers": "gauss-newton,scaled-gradient,ep-rom"},
    ),
    Example(
        "own_data",
        "Fit your own labels",
        "Upload rows with features and labels, hide some labels if you like, and compare low-rank solvers with a "
        "classifier for each label. Download predictions and models.",
    ),
    Example(
        "sweep",
        "Compare solvers along an axis",
        "Three solvers recover a signal from magnitudes, with 1.2 to 6 measurements per entry. Bands are intervals; "
        "every trial is stored: pause, close the browser, and resume tomorrow.",
        {
            "model": "phase-retrieval",
            "solvers": "gauss-newton,reweighted-amplitude-flow,wirtinger-flow",
            "p": "64",
            "x-from": "1.2",
            "x-points": "13",
            "field": "real",
        },
    ),
)
