"""The cards of the home page: pages that open running, by `run=1`, or finished."""

from collections.abc import Mapping

from lrlab.ui.lessons.lesson_view import lesson_card
from lrlab.ui.papers import gallery
from lrlab.ui.shared.cards import Card

RUN: Mapping[str, str] = {"run": "1"}


EXPLORE = (
    Card(
        "converge",
        "Watch solvers converge",
        "500 signs of noisy projections of a signal with 10 non-zero of 1,000 entries. Message passing and hard "
        "thresholding end five to nine times closer than the mean of y x.",
        RUN,
        "converge-first",
    ),
    Card(
        "converge",
        "Recover a digit from single bits",
        "A handwritten 3, from the signs of 6,000 projections. The image sharpens while the solvers run; afterwards "
        "a slider shows the iterates.",
        {**RUN, "truth": "digit-3", "p": "64", "n": "6000"},
        "converge-digit",
    ),
    Card(
        "spectrum",
        "See a spectral method fail, as theory predicts",
        "One-bit phase retrieval: between two thresholds the largest eigenvalue joins the bulk, and the overlap with "
        "the signal drops to a random guess's, as in the asymptotic limit.",
        RUN,
        "spectrum-phase",
    ),
    Card(
        "transition",
        "Map a phase transition",
        "Success rate over rank and number of measurements. A coarse map of the whole plane "
        "comes first; further trials go to the points of 50% success, just above the line of the degrees of freedom.",
        RUN,
        "transition-first",
    ),
    Card(
        "converge",
        "Recover a matrix from rank-one measurements",
        r"700 numbers $x^\top W y$ of a 50 x 50 matrix $W$ of rank 5, 1.5 times its degrees of freedom. Heat maps of "
        "the estimates, their singular values, and errors down to rounding.",
        {**RUN, "model": "rank-one-sensing", "m": "700", "solvers": "gauss-newton,tangent-descent,altmin"},
        "converge-rank-one",
    ),
    Card(
        "transition",
        "Compare success with degrees of freedom",
        "A network of squared units is learned from few samples. Success begins just above the line of its degrees of "
        "freedom; add another solver, and see how many more samples it needs.",
        {**RUN, "model": "polynomial-network"},
        "transition-network",
    ),
    Card(
        "converge",
        "Complete a table from 1% of its entries",
        "100 features on either side predict 250,000 entries from 2,500, even in rows without any observed entry. "
        "Least squares for all 10,000 coefficients, and completion without features, need more numbers.",
        {**RUN, "model": "inductive-completion", "observed": "0.01", "solvers": "gauss-newton,altmin"},
        "converge-completion",
    ),
    Card(
        "converge",
        "Complete a matrix of movie ratings from yes and no",
        "Half of 10,000 ratings that simulated users give to simulated movies. Two genres make a matrix of rank 2: "
        "nine in ten of the likelier ratings come out right.",
        {**RUN, "model": "one-bit-completion", "truth": "films", "rank": "2", "solvers": "one-bit-trace-norm"},
        "converge-films",
    ),
    Card(
        "converge",
        "Recover an image from magnitudes",
        "A phantom from the magnitudes of 1,536 projections. Gradient flows and Gauss-Newton recover the image; the "
        "star is the predicted error of their initialization.",
        {**RUN, "model": "phase-retrieval", "truth": "phantom", "p": "256", "m": "1536"},
        "converge-phantom",
    ),
    Card(
        "converge",
        "Recover ill-conditioned weights",
        "Output weights from 1 down to a thousandth. Projected gradients, scaled gradients and Gauss-Newton recover "
        "even the smallest unit, at a speed that does not depend on its weight.",
        {**RUN, "model": "polynomial-network", "condition": "1000", "solvers": "gauss-newton,scaled-gradient,ep-rom"},
        "converge-condition",
    ),
    Card(
        "transition",
        "Compare solvers along an axis",
        "Three solvers recover a signal from magnitudes, with 1.2 to 6 measurements per entry. Bands are intervals; "
        "every trial is stored: pause, close the browser, and resume tomorrow.",
        {
            **RUN,
            "model": "phase-retrieval",
            "solvers": "gauss-newton,amplitude-flow,wirtinger-flow",
            "p": "64",
            "trials": "10",
            "x-axis": "ratio",
            "y-axis": "none",
            "x-from": "1.2",
            "x-points": "13",
            "field": "real",
        },
        "sweep-phase",
    ),
)
"""Pages that run."""

YOURS = (
    Card(
        "own_data",
        "Fit your data",
        "Drop a file: responses, a matrix with missing entries, ratings, diffraction patterns or labels. lrlab "
        "recognizes it, compares solvers on held-out data, and returns the estimate as a file.",
        {"measurements": "breast-cancer", **RUN},
        "own-data",
    ),
)
"""Pages for people's own files."""


PAPER = "yi2015-fig2"
"""The experiment of the card *Papers*: a full result that reproduces all claims."""


def cards() -> tuple[Card, ...]:
    """Return the cards in sight: one for each page."""
    run, eigengaps, diagram, paper = EXPLORE[0], EXPLORE[2], EXPLORE[3], gallery.card(PAPER)
    paper = paper._replace(text=f"{paper.text}  \n{gallery.in_sight(PAPER)}", badges=())
    return (lesson_card("one-bit")._replace(badges=()), run, diagram, eigengaps, paper, *YOURS)


def more_cards() -> tuple[Card, ...]:
    """Return the cards of further examples."""
    return tuple(card for card in EXPLORE if card not in cards())
