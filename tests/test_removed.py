"""Names of removed solvers: Python, shell, TOML and addresses of pages say what to use instead."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import lrlab
from lrlab import catalog
from lrlab.__main__ import main
from lrlab.parameters import InputError
from lrlab.removed import SOLVERS
from lrlab.sweeps.toml import parse
from tests.ui.driving import drawn, errors

SENTENCE = "precgd was removed in 0.3: use gauss-newton"
SWEEP = """
model = "rank-one-sensing"
solvers = ["gauss-newton", "precgd"]
[axes]
m = [100, 200]
"""


@pytest.mark.parametrize(("name", "instead"), SOLVERS.items())
def test_a_removed_solver_is_refused_with_one_that_exists_for_its_models(name, instead):
    assert name not in catalog.NAMES and instead in catalog.NAMES
    model = catalog.solver(instead).models[0]
    with pytest.raises(InputError, match=f"{name} was removed in 0.3: use {instead}$"):
        lrlab.solve(lrlab.spec(model), name)


def test_shell_and_sweep_files_say_it_too(capsys):
    assert main(["solve", "rank-one-sensing", "--solver", "precgd"]) == 2
    assert SENTENCE in capsys.readouterr().err
    with pytest.raises(InputError, match=f".*{SENTENCE}"):
        parse(SWEEP)


@pytest.mark.parametrize("page", ["converge", "sweep"])
def test_an_address_with_a_removed_solver_says_it_and_shows_the_others(page):
    at = AppTest.from_file(str(Path(__file__).parents[1] / "pages" / f"{page}.py"), default_timeout=60)
    at.query_params.update({"model": "rank-one-sensing", "solvers": "altmin,precgd", "precgd.damping": "0.2"})
    drawn(at.run())
    assert any(SENTENCE in error for error in errors(at))
    assert at.query_params["solvers"] == "altmin"
