"""Declarations, settings, public names and tables from Python."""

import math
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lrlab
from lrlab import aliases, catalog, settings
from lrlab.__main__ import main
from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError, Parameter, declared, settle
from lrlab.sweeps.toml import parse
from tests.ui.driving import accepted, errors, opened


def example(
    problem,
    *,
    rank: Annotated[int, Parameter(meaning="rank", low=1, high=30)] = 5,
    step: Annotated[float, Parameter(meaning="step", symbol="η", low=0)] = 1.0,
    exact: Annotated[bool, Parameter(meaning="exact")] = True,
    start: Annotated[str, Parameter(meaning="start", choices=("spectral", "random"))] = "spectral",
    rng=None,
):
    return rank, step, exact, start


@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ({}, (5, 1.0, True, "spectral")),
        ({"rank": "7", "step": "1e-3", "exact": "no", "start": "random"}, (7, 1e-3, False, "random")),
        ({"rank": 1.0, "step": 2}, (1, 2.0, True, "spectral")),
        ({"rank": "3e1"}, (30, 1.0, True, "spectral")),
    ],
)
def test_values_and_texts_are_read(given_values, expected):
    settled = settle(declared(example), given_values)
    assert tuple(settled.values()) == expected
    assert [type(v) for v in settled.values()] == [int, float, bool, str]


@pytest.mark.parametrize(
    ("given_values", "sentence"),
    [
        ({"rank": 31}, "rank must be a whole number in 1..30, got 31: lower rank to 30 or less"),
        ({"rank": 0}, "rank must be a whole number in 1..30, got 0: raise rank to 1 or more"),
        ({"rank": 2.5}, "rank must be a whole number in 1..30, got 2.5: give rank such a value, for example 5"),
        ({"rank": "many"}, "rank must be a whole number in 1..30, got many: give rank such a value, for example 5"),
        ({"rank": True}, "rank must be a whole number in 1..30, got True: give rank such a value, for example 5"),
        ({"step": math.nan}, "step must be a number in 0..any, got nan: give step such a value, for example 1"),
        ({"step": "inf"}, "step must be a number in 0..any, got inf: give step such a value, for example 1"),
        ({"exact": "maybe"}, "exact must be true or false, got maybe: give exact such a value, for example True"),
        ({"start": "spectra"}, 'start must be one of spectral, random, got spectra: did you mean "spectral"?'),
        ({"rnk": 3}, 'parameter must be one of rank, step, exact, start, got rnk: did you mean "rank"?'),
    ],
)
def test_bad_values_get_one_sentence(given_values, sentence):
    with pytest.raises(InputError) as caught:
        settle(declared(example), given_values)
    assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value))) == sentence


@pytest.mark.slow
@given(st.one_of(st.text(), st.integers(), st.floats(), st.binary(), st.none(), st.lists(st.integers())))
def test_any_value_is_settled_or_refused_in_one_line(value):
    for name in declared(example):
        try:
            settle(declared(example), {name: value})
        except InputError as error:
            assert "\n" not in str(error) and str(error).startswith(f"{name} must be ")


ROOT = Path(__file__).parents[1]


def test_a_profile_sets_what_is_not_set_by_itself(monkeypatch):
    assert settings.number("LRLAB_SWEEP_HOURS") == 24
    monkeypatch.setenv("LRLAB_PROFILE", "classroom")
    assert settings.number("LRLAB_SWEEP_HOURS") == 1
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "3.5")
    assert settings.number("LRLAB_SWEEP_HOURS") == 3.5
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "inf")
    assert settings.number("LRLAB_SWEEP_HOURS") == float("inf")
    monkeypatch.setenv("LRLAB_PROFILE", "school")
    with pytest.raises(InputError, match="LRLAB_PROFILE must be one of laptop, classroom"):
        settings.profile()


@pytest.mark.parametrize("bad", ["many", "nan", "0", "-1"])
@pytest.mark.parametrize("name", list(settings.SETTINGS))
def test_a_wrong_value_is_one_sentence(monkeypatch, name, bad):
    monkeypatch.setenv(name, bad)
    with pytest.raises(InputError, match=f"{name} must be a number in .*, got {bad}: "):
        settings.number(name)


def test_every_setting_is_in_the_table():
    used = {name for path in (ROOT / "lrlab").rglob("*.py") for name in re.findall(r"LRLAB_[A-Z_]+", path.read_text())}
    assert used - {"LRLAB_PROFILE", "LRLAB_"} == {*settings.SETTINGS, *settings.TEXTS}


FIRST = """
import lrlab
print(len(lrlab.solvers("phase-retrieval")), len(lrlab.models()))
import lrlab.models.axes, lrlab.solvers.methods
print(lrlab.models.axes.__name__, "wirtinger-flow" in lrlab.solvers("phase-retrieval").index)
"""


def test_tables_list_models_and_solvers_with_what_they_need():
    models, solvers = lrlab.models(), lrlab.solvers(model="rank-one-sensing")
    assert list(models.index) == list(catalog.MODELS) and models.loc["multilabel", "family"] == "multilabel"
    assert list(solvers.index) == [one.name for one in catalog.solvers_for("rank-one-sensing")]
    assert solvers.loc["svp", "needs"] == "rank" and "singular value decomposition" in solvers.loc["svp", "cost"]
    assert "one-bit-sensing" in lrlab.solvers().models.biht and len(lrlab.solvers()) == len(catalog.ENTRIES)
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


SENTENCE = "got precgd: "
SWEEP = """
model = "rank-one-sensing"
solvers = ["gauss-newton", "precgd"]
[axes]
m = [100, 200]
"""


def test_a_removed_solver_is_refused_in_the_shell_and_in_sweep_files(capsys):
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


def test_old_names_of_values_mean_those_of_today_in_files_figures_and_choices():
    text = SWEEP.replace("rank-one-sensing", "one-bit-sensing").replace('"gauss-newton", "precgd"', '"pairwise-moment"')
    text = text.replace("[axes]\nm =", 'trials = 2\nsuccess = { metric = "share_of_best", above = 0.5 }\n[axes]\nn =')
    sweep = parse(text)
    assert sweep.success is not None and sweep.success.metric == "fraction_of_best"
    small = lrlab.spec("rank-one-sensing", d1=6, d2=6, rank=1)
    table = lrlab.sweep(small, axes={"m": [20, 40]}, solvers=["gauss-newton"], trials=2, start=LocalResults)
    assert lrlab.map(table, show="share").to_json() == lrlab.map(table, show="success_rate").to_json()
    shown = Parameter(meaning="the value", name="show", kind=str, choices=("error", "success_rate"))
    assert shown.check("share") == "success_rate"
    assert catalog.solver("altmin").settle({"inner": "auto"}) == catalog.solver("altmin").settle({})


@pytest.mark.parametrize("page", ["converge", "transition"])
def test_an_address_with_a_removed_solver_says_it_and_shows_the_others(page):
    at = opened(page, model="rank-one-sensing", solvers="altmin,precgd", **{"precgd.damping": "0.2"})
    assert any(SENTENCE in error for error in errors(at))
    assert at.query_params["solvers"] == "altmin"
