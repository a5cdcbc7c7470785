"""Discovery from Python: tables of models and solvers, public names, and what replaces removed solvers."""

import subprocess
import sys

import pytest

import lrlab
from lrlab import aliases, catalog
from lrlab.__main__ import main
from lrlab.aliases import REMOVED
from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError, Parameter
from lrlab.sweeps.toml import parse
from tests.ui.driving import accepted, errors, opened

FIRST = """
import lrlab
print(len(lrlab.solvers("phase-retrieval")), len(lrlab.models()))
import lrlab.models.axes, lrlab.solvers.methods
print(lrlab.models.axes.__name__, "wirtinger-flow" in lrlab.solvers("phase-retrieval").index)
"""


def test_tables_list_models_and_solvers_with_what_they_need():
    models, solvers = lrlab.models(), lrlab.solvers("rank-one-sensing")
    assert list(models.index) == list(catalog.MODELS) and models.loc["multilabel", "family"] == "multilabel"
    assert list(solvers.index) == [one.name for one in catalog.solvers_for("rank-one-sensing")]
    assert solvers.loc["svp", "needs"] == "rank" and "singular value decomposition" in solvers.loc["svp", "cost"]
    assert len(lrlab.solvers()) == len(catalog.ENTRIES)
    with pytest.raises(lrlab.InputError, match='did you mean "multilabel"?'):
        lrlab.solvers("multilable")


@pytest.mark.slow
def test_packages_are_tables_from_the_first_line_of_a_script_on():
    lines = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True).stdout.split()
    assert int(lines[0]) > 3 and int(lines[1]) == len(lrlab.models()) and lines[2:] == ["lrlab.models.axes", "True"]


def test_names_and_representations_are_for_readers():
    assert [name for name in dir(lrlab) if not name.startswith("__")] == sorted(lrlab.__all__)
    assert {"compare", "live", "map", "register"} < set(lrlab.__all__) and all(getattr(lrlab, n) for n in lrlab.__all__)
    spec = lrlab.spec("one-bit-sensing", n=300, p=5)
    assert repr(spec) == "lrlab.spec('one-bit-sensing', n=300, p=5)" and eval(repr(spec)) == spec
    assert "number of measurements" in spec._repr_html_() and "300" in spec._repr_html_()
    trace = lrlab.solve(spec, "biht", max_iter=3)
    assert repr(trace).startswith(f"<Trace of biht on {spec!r}: error {trace.metrics['error']:.3g}, ")
    assert "\n" not in repr(trace) and trace.ending in repr(trace)


SENTENCE = "precgd was removed in 0.3: use gauss-newton"
SWEEP = """
model = "rank-one-sensing"
solvers = ["gauss-newton", "precgd"]
[axes]
m = [100, 200]
"""


@pytest.mark.parametrize(("name", "instead"), REMOVED.items())
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


@pytest.mark.slow
def test_an_alias_is_the_solver_of_today_with_some_options_and_stands_beside_it(monkeypatch):
    monkeypatch.setitem(aliases.SOLVERS, "all-pairs", ("pairwise-moment", {"pairs": "all"}))
    spec = lrlab.spec("one-bit-sensing", n=200, p=5)
    table = lrlab.sweep(spec, axes={"n": [200]}, solvers=["all-pairs", "pairwise-moment"], trials=1, start=LocalResults)
    assert set(table["solver"]) == {"all-pairs", "pairwise-moment"} and table["error"].nunique() == 2
    trace = lrlab.solve(spec, "all-pairs")
    assert trace.job.entry.title.endswith(": all") and dict(trace.job.options)["pairs"] == "all"
    assert (trace.estimate == lrlab.solve(spec, "pairwise-moment", pairs="all").estimate).all()
    with pytest.raises(InputError, match="pairs must be one of all, got consecutive"):
        lrlab.solve(spec, "all-pairs", pairs="consecutive")
    at = accepted("converge", solvers="all-pairs,pairwise-moment")
    assert {"all-pairs", "pairwise-moment"} == set(at.query_params["solvers"].split(","))


def test_old_names_of_metrics_mean_those_of_today_in_files_figures_and_choices():
    text = SWEEP.replace("rank-one-sensing", "one-bit-sensing").replace('"gauss-newton", "precgd"', '"pairwise-moment"')
    text = text.replace("[axes]\nm =", 'trials = 2\nsuccess = { metric = "share_of_best", above = 0.5 }\n[axes]\nn =')
    sweep = parse(text)
    assert sweep.success is not None and sweep.success.metric == "fraction_of_best"
    small = lrlab.spec("rank-one-sensing", d1=6, d2=6, rank=1)
    table = lrlab.sweep(small, axes={"m": [20, 40]}, solvers=["gauss-newton"], trials=2, start=LocalResults)
    assert lrlab.map(table, show="share").to_json() == lrlab.map(table, show="success_rate").to_json()
    shown = Parameter(meaning="the value", name="show", kind=str, choices=("error", "success_rate"))
    assert shown.check("share") == "success_rate"


@pytest.mark.parametrize("page", ["converge", "transition"])
def test_an_address_with_a_removed_solver_says_it_and_shows_the_others(page):
    at = opened(page, model="rank-one-sensing", solvers="altmin,precgd", **{"precgd.damping": "0.2"})
    assert any(SENTENCE in error for error in errors(at))
    assert at.query_params["solvers"] == "altmin"
