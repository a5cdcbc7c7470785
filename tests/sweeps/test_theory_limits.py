"""Limits along an axis, and scores as a share of them."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.engine.results import LocalResults
from lrlab.runs import theory
from lrlab.shell.sweep import show
from lrlab.store.store import Store
from lrlab.sweeps.definition import Span, Success, Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.theory import limits
from lrlab.theory.predicted_overlap import best_overlap


def test_limits_along_an_axis_are_those_of_state_evolution():
    spec = lrlab.spec("one-bit-phase-retrieval", p=1000, sparsity=50)
    points = limits(Sweep(spec=spec, axes={"ratio": Span(0.2, 5.0, 5, "log")}, solvers=["gamp"]))
    by_name = {name: [point for point in points if point.limit == name] for name in ("limit_best", "limit_best_fast")}
    assert len(by_name["limit_best"]) == len(by_name["limit_best_fast"]) > 40
    for name, several in by_name.items():
        for _, x, scores in several[::7]:
            exact = best_overlap(spec.replace(n=round(1000 * x)))
            assert scores == {"overlap": exact.best if name == "limit_best" else exact.fast}
    assert all(b.scores["overlap"] >= f.scores["overlap"] for b, f in zip(*by_name.values(), strict=True))


def test_limits_of_links_of_their_own_are_at_the_points_of_the_sweep_and_single_where_no_region_is_hard():
    spec = lrlab.spec("one-bit-sensing", n=300, p=100)
    points = limits(Sweep(spec=spec, axes={"noise": [0.1, 0.4, 1.0]}, solvers=["sir"]))
    assert [(point.limit, point.x) for point in points] == [
        ("limit_best", 0.1),
        ("limit_best", 0.4),
        ("limit_best", 1.0),
    ]


@pytest.mark.parametrize("more", [{"design": "rademacher"}, {"truth": "digit-3", "p": 64}])
def test_where_theory_says_nothing_there_is_no_limit_and_no_share(more):
    spec = lrlab.spec("one-bit-sensing", **more)
    assert limits(Sweep(spec=spec, axes={"noise": [0.1, 0.4]}, solvers=["sir"])) == []
    assert theory.fractions(spec) == {} and not catalog.family(spec.model).asymptotics(spec)


def test_the_overlap_stands_as_a_share_of_the_best_in_tables_rules_and_the_shell(capsys):
    spec, axes = lrlab.spec("one-bit-sensing", p=20), {"ratio": [5, 20]}
    plain = lrlab.sweep(spec, axes, ["sir"], trials=1, start=LocalResults)
    assert "share_of_best" not in plain, "bounds take seconds, and are computed where they are asked for"
    for ratio, bound in ((5, 0.9), (20, 0.99)):
        theory.cache(spec.replace(n=20 * ratio), {"best_overlap": bound})
    rows = lrlab.sweep(spec, axes, ["marginal-mean", "sir"], trials=2, start=LocalResults)
    assert rows["share_of_best"].to_numpy() == pytest.approx((rows["overlap"] / rows["best_overlap"]).to_numpy())
    rule = Success("share_of_best", above=0.8)
    sweep = Sweep(spec=spec, axes=axes, solvers=["marginal-mean"], trials=2, success=rule)
    with Store(None) as store:
        results = run(sweep, store, LocalResults)
    own = rows[rows["solver"] == "marginal-mean"].groupby("ratio")["share_of_best"]
    assert results.table("share_of_best")["mean"].to_numpy() == pytest.approx(own.mean().to_numpy())
    assert list(results.table("error")["successes"]) == list(own.apply(lambda shares: (shares > 0.8).sum()))
    cells = cell_rows(results)
    assert cells[0]["metrics"]["share_of_best"][1] == pytest.approx(own.median().iloc[0])
    show(cells, "error", ["share_of_best"])
    assert "median share_of_best" in capsys.readouterr().out.splitlines()[0]


def test_where_nothing_is_possible_there_is_no_share():
    spec = lrlab.spec("one-bit-phase-retrieval", n=40, p=100)
    assert best_overlap(spec).best == 0.0 and theory.fractions(spec) == {}
    rows = lrlab.sweep(spec, {"n": [40]}, ["gamp"], trials=1, start=LocalResults)
    assert "share_of_best" not in rows and np.isfinite(rows["overlap"]).all()
