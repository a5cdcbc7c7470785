"""Exported code: what a page gives as Python and as a notebook prints the page's numbers in a process of its own."""

import pytest

from tests.thorough import a_third
from tests.ui.exporting import compare, exported, printed

SPECTRUM = {"model": "one-bit-phase-retrieval", "p": "8", "n": "400", "points": "2", "trials": "2"}


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "given"),
    a_third(
        [
            ("converge", {"n": "400", "p": "8", "noise": "0.3", "solvers": "pairwise-moment,sir", "seed": "1003"}),
            ("sweep", {"n": "400", "p": "8", "x-points": "2", "trials": "2", "solvers": "marginal-mean"}),
            ("spectrum", SPECTRUM),
        ]
    ),
    ids=["notebook of a run", "sweep", "spectrum"],
)
def test_exported_code_prints_the_numbers_of_the_page(page, given, tmp_path):
    at, python, notebook = exported(page, given)
    compare(at, page, printed(notebook if page == "converge" else python, tmp_path))
