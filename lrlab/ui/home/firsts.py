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
        "Squared overlap over noise and measurements per unknown. The whole plane appears coarsely; then trials go "
        "where half of them succeed, beside the line of theory. A click on a cell opens its trial.",
        {},
    ),
    First(
        "papers",
        "Compute a published figure again",
        "Figures and tables of five papers on this machine, beside the numbers that were printed, with what is exact "
        "at their sizes, and with solvers that they did not have.",
        {},
    ),
    First(
        "converge",
        "Recover a matrix from rank-one numbers",
        "700 numbers x^T W y of a 50 x 50 matrix of rank 5, half as many again as it has unknowns. Heat maps of the "
        "estimates, their singular values, and errors down to the last digit.",
        {"model": "rank-one-sensing", "m": "700", "solvers": "gauss-newton,tangent-descent,altmin"},
    ),
    First(
        "transition",
        "Count the unknowns",
        "A network of squared units is learnt from few samples. Success begins just above the line of its degrees of "
        "freedom; add another solver, and see how many more samples it wants.",
        {"model": "polynomial-network"},
    ),
    First(
        "converge",
        "Fill a table of which 1% is known",
        "Features of rows and columns predict 250,000 entries from 2,500, even in rows of which nothing was seen. Set "
        "features to canonical: the same number is then hopeless.",
        {"model": "inductive-completion", "observed": "0.01", "solvers": "gauss-newton,altmin"},
    ),
    First(
        "converge",
        "See a picture without its phases",
        "Of 1,536 projections of a phantom only the magnitudes are kept. Flows and Gauss-Newton bring the picture "
        "back; the star is where theory says that they start.",
        {"model": "phase-retrieval", "truth": "phantom", "p": "256", "m": "1536"},
    ),
    First(
        "converge",
        "Beat the condition number",
        "Output weights from 1 down to a thousandth. Projected gradients, scaled gradients and Gauss-Newton find even "
        "the smallest unit, at a speed that does not depend on its size.",
        {"model": "polynomial-network", "condition": "1000", "solvers": "gauss-newton,scaled-gradient,ep-rom"},
    ),
    First(
        "own_data",
        "Bring your own labels",
        "Upload rows with features and labels, hide part of them if you like, and see whether low rank beats a "
        "classifier for each label. Take predictions and models home.",
        {},
    ),
    First(
        "sweep",
        "Compare solvers along an axis",
        "Three ways to recover a signal without its phases, from 1.2 to 6 measurements an entry. Bands are intervals, "
        "every trial is kept: pause, close the browser, and go on tomorrow.",
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
