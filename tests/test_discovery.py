"""Discovery from Python: tables of models and solvers, public names, short representations."""

import subprocess
import sys

import pytest

import lrlab
from lrlab import catalog

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
