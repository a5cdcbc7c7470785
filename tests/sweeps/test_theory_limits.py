"""Limits along an axis, and scores as a share of them."""

import numpy as np
import pytest

import lrlab
from lrlab.engine.results import LocalResults
from lrlab.model_entry import Success
from lrlab.runs import theory
from lrlab.shell.sweep import show
from lrlab.store.store import Store
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.theory import limits
from lrlab.theory.predicted_overlap import best_overlap


def test_limits_along_an_axis_are_those_of_state_evolution():
    spec = lrlab.spec("one-bit-phase-retrieval", p=1000, sparsity=50)
    points = limits(Sweep(spec=spec, axes={"ratio": Span(0.2, 5.0, 5, "log")}, solvers=["gamp"]))
    assert len(points) > 40
    for x, numbers in points[::7].to_dict("index").items():
        exact = best_overlap(spec.replace(n=round(1000 * x)))
        assert numbers == {"limit_best_overlap": exact.best, "limit_best_fast_overlap": exact.fast}
    assert (points["limit_best_overlap"] >= points["limit_best_fast_overlap"]).all()


def test_limits_of_links_of_their_own_are_at_the_points_of_the_sweep_and_single_where_no_region_is_hard():
    spec = lrlab.spec("one-bit-sensing", n=300, p=100)
    points = limits(Sweep(spec=spec, axes={"noise": [0.1, 0.4, 1.0]}, solvers=["sir"]))
    assert list(points.index) == [0.1, 0.4, 1.0] and list(points) == ["limit_best_overlap"]


def test_the_overlap_stands_as_a_share_of_the_best_in_tables_rules_and_the_shell(capsys):
    spec, axes = lrlab.spec("one-bit-sensing", p=20), {"ratio": [5, 20]}
    plain = lrlab.sweep(spec, axes, ["sir"], trials=1, start=LocalResults)
    assert "fraction_of_best" not in plain, "bounds take seconds: only those who ask for them get them"
    for ratio, bound in ((5, 0.9), (20, 0.99)):
        theory.cache(spec.replace(n=20 * ratio), {"best_overlap": bound})
    rows = lrlab.sweep(spec, axes, ["marginal-mean", "sir"], trials=2, start=LocalResults)
    assert rows["fraction_of_best"].to_numpy() == pytest.approx((rows["overlap"] / rows["best_overlap"]).to_numpy())
    rule = Success("fraction_of_best", above=0.8)
    sweep = Sweep(spec=spec, axes=axes, solvers=["marginal-mean"], trials=2, success=rule)
    with Store(None) as store:
        results = run(sweep, store, LocalResults)
    own = rows[rows["solver"] == "marginal-mean"].groupby("ratio")["fraction_of_best"]
    assert results.table("fraction_of_best")["mean"].to_numpy() == pytest.approx(own.mean().to_numpy())
    assert list(results.table("error")["successes"]) == list(own.apply(lambda shares: (shares > 0.8).sum()))
    cells = cell_rows(results)
    assert cells[0]["metrics"]["fraction_of_best"][1] == pytest.approx(own.median().iloc[0])
    show(cells, "error", ["fraction_of_best"])
    assert "median fraction_of_best" in capsys.readouterr().out.splitlines()[0]


def test_where_nothing_is_possible_there_is_no_share():
    spec = lrlab.spec("one-bit-phase-retrieval", n=40, p=100)
    assert best_overlap(spec).best == 0.0 and theory.fractions(spec) == {}
    rows = lrlab.sweep(spec, {"n": [40]}, ["gamp"], trials=1, start=LocalResults)
    assert "fraction_of_best" not in rows and np.isfinite(rows["overlap"]).all()
