"""Theory over a plane or an axis: regions in which no method reaches a level, contours at the cells' sizes, limits."""

import itertools
import math

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.engine.results import LocalResults
from lrlab.model_entry import Success
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial
from lrlab.shell.sweep import show
from lrlab.store.store import Store
from lrlab.sweeps.definition import Span, Sweep, spec_at
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.theory import limits, lines, regions
from lrlab.theory.predicted_overlap import best_overlap, best_ratios
from tests.thorough import a_third

PLANES = {
    "threshold": ("one-bit-phase-retrieval", {"threshold": Span(0.3, 2.0, 9), "ratio": Span(0.2, 20.0, 9, "log")}, {}),
    "sparse": (
        "one-bit-phase-retrieval",
        {"threshold": Span(0.3, 2.0, 9), "ratio": Span(0.1, 10.0, 9, "log")},
        {"p": 1000, "sparsity": 50},
    ),
    "sparsity": ("one-bit-sensing", {"sparsity": Span(32, 150, 9), "n": Span(20, 800, 9, "log")}, {"p": 200}),
    "two of the link": (
        "one-bit-phase-retrieval",
        {"threshold": Span(0.3, 2.0, 5), "noise": Span(0.0, 1.5, 5)},
        {"n": 120, "p": 20},
    ),
    "intercept": ("flipped-logistic", {"intercept": Span(-2.0, 2.0, 5), "p": Span(10, 200, 5, "log")}, {"n": 500}),
    "any link": ("custom-link", {"flip": Span(0.0, 0.3, 5), "ratio": Span(0.5, 50.0, 5, "log")}, {}),
}


def sweep_of(model, axes, more, **definition):
    return Sweep(spec=lrlab.spec(model, **more), axes=axes, solvers=["gamp"], **definition)


def winding(region, x, y):
    """Return how often the outlines of a region wind around a point."""
    total, dx, dy = 0.0, np.array(region.x) - x, np.array(region.y) - y
    for loop in np.split(np.arange(len(dx)), np.flatnonzero(np.isnan(dx)) + 1):
        angles = np.arctan2(dy[loop], dx[loop])
        turns = np.diff(angles[np.isfinite(angles)])
        total += np.sum((turns + np.pi) % (2 * np.pi) - np.pi)
    return round(total / (2 * np.pi))


@pytest.mark.slow
@pytest.mark.parametrize("plane", a_third(PLANES))
def test_regions_agree_with_direct_state_evolution(plane):
    sweep = sweep_of(*PLANES[plane])
    by_name = {region.name: region for region in regions(sweep)[0]}
    assert ("hard" in by_name) == (plane == "sparse") and {"impossible", "possible"} <= set(by_name)
    rng, counted = np.random.default_rng(1003), 0
    for _ in range(40):
        point = {}
        for axis, values in sweep.grid.items():
            low, high = min(values), max(values)
            value = rng.uniform(low, high) if low <= 0 else np.exp(rng.uniform(np.log(low), np.log(high)))
            point[axis] = float(round(value)) if axis in ("n", "p", "sparsity") else value
        spec = spec_at(sweep.spec, point.items())
        # What chance adds at this size, in log n/p at the level 0.5.
        by_chance = math.exp(2.0 * math.sqrt(6.0 / (spec.sparsity or spec.p)))
        needed, ratio = best_ratios(spec, 0.5), by_chance * spec.n / spec.p
        if min(abs(math.log(ratio / value)) for value in needed) < 0.1:
            continue
        counted += 1
        x, y = point.values()
        inside = {name for name, region in by_name.items() if winding(region, x, y)}
        limits = best_overlap(spec.replace(n=round(by_chance * spec.n)))
        expected = "possible" if limits.fast > 0.5 else "hard" if limits.best > 0.5 else "impossible"
        assert inside == {expected} - {"possible"}, point
    assert counted > 20


def test_no_region_is_claimed_for_few_entries():
    """At one entry, p = 100, n = 140 and noise 2 nine of ten runs succeed where the limit for large p is below."""
    axes = {"sparsity": Span(1, 8, 3), "n": Span(20, 800, 5, "log")}
    assert not regions(sweep_of("one-bit-sensing", axes, {"p": 100, "noise": 2.0}))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "p", "level"),
    [("one-bit-sensing", 20, 0.5), ("one-bit-sensing", 20, 0.9), ("flipped-logistic", 100, 0.5)],
)
def test_impossible_is_what_hardly_any_trial_of_gamp_exceeds(model, p, level):
    """At 0.9 of the limit between 30% and 46% of the trials do."""
    limit = p * best_ratios(lrlab.spec(model), level).best
    never = limit * math.exp(-2.1 * math.sqrt((4.0 - 2.0 * level) / p / level))
    for n, possible in ((round(0.9 * limit), True), (math.floor(never), False)):
        spec = lrlab.spec(model, n=n, p=p)
        job = make_job(spec, "gamp")
        above = np.mean([run_trial(Trial(job, k)).scores["overlap"] > level for k in range(30)])
        margin = catalog.family(model).margins(spec, Success("overlap", above=level))["impossible"]
        assert (margin > 0) == possible, (n, margin)
        assert above > 0.15 if possible else above < 0.15


def test_small_phase_retrieval_is_not_impossible_below_the_limit():
    """At p = 8 and m/p = 1.75, below the limit 2 of complex signals, 7 of 16 are recovered exactly."""
    margins = catalog.family("phase-retrieval").margins
    for p, sign in ((8, 1.0), (2000, -1.0)):
        spec = lrlab.spec("phase-retrieval", field="complex", p=p, m=round(1.75 * p))
        assert math.copysign(1.0, margins(spec, Success("overlap", above=0.99))["impossible"]) == sign


def at(points, x):
    """Return where a line passes x."""
    return next(
        np.exp(np.interp(x, (a[0], b[0]), np.log((a[1], b[1]))))
        for a, b in itertools.pairwise(sorted(map(tuple, points)))
        if a[0] <= x <= b[0]
    )


@pytest.mark.slow
def test_weak_recovery_and_the_level_are_two_lines():
    axes = {"threshold": Span(0.2, 2.0, 10), "ratio": Span(0.5, 20.0, 10, "log")}
    sweep = sweep_of("one-bit-phase-retrieval", axes, {"p": 1000})
    _, drawn = regions(sweep)
    assert set(drawn) == {"asymptotic weak recovery", "asymptotic overlap = 0.5"}
    for threshold, ratio in ((0.3, 3.44), (1.0, 0.925)):
        assert at([p for p in drawn["asymptotic weak recovery"] if p[0] == p[0]], threshold) == pytest.approx(
            ratio, rel=0.03
        )
    level = at([p for p in drawn["asymptotic overlap = 0.5"] if p[0] == p[0]], 1.0)
    assert best_overlap(sweep.spec.replace(n=round(1000 * level))).fast == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_predictions_of_some_solvers_have_their_names():
    axes = {"threshold": Span(0.2, 1.5, 3), "ratio": Span(0.5, 400.0, 3, "log")}
    solvers = ["gamp", "pairwise-moment", "phd", "link-free-refinement"]
    sweep = Sweep(spec=lrlab.spec("one-bit-phase-retrieval"), axes=axes, solvers=solvers)
    own = {f"{kind}, {sweep.titles[name]}" for kind in ("overlap = 0.5", "threshold") for name in solvers[1:3]}
    assert set(lines(sweep).dropna()["line"]) == {f"asymptotic {words}" for words in own}
    # Without an intercept a logistic link has no second moment.
    axes = {"intercept": [0.0, 1.0], "ratio": [4, 30, 300]}
    assert len(lines(Sweep(spec=lrlab.spec("flipped-logistic"), axes=axes, solvers=["phd"])))
    assert set(regions(sweep)[1]) == {
        "asymptotic overlap = 0.5, Approximate message passing (GAMP)",
        "asymptotic weak recovery",
    }


def test_an_error_below_a_level_is_an_overlap_above_one():
    model, axes, more = PLANES["threshold"]
    by_error = sweep_of(model, axes, more, success=Success("error", below=math.sqrt(2.0 - 2.0 * math.sqrt(0.5))))
    (one, _), (other, _) = regions(by_error)[0], regions(sweep_of(model, axes, more))[0]
    assert one.x == pytest.approx(other.x, nan_ok=True) and one.y == pytest.approx(other.y, nan_ok=True)
    for rule in (Success("misfit", below=0.5), Success("overlap", below=0.5), Success("overlap", above=1.5)):
        assert not regions(sweep_of(model, axes, more, success=rule))[0]


@pytest.mark.parametrize("more", [{"design": "student"}, {"truth": "digit-3", "p": 64}, {"entries": "equal"}])
def test_where_theory_says_nothing_nothing_is_drawn(more):
    model, axes, _ = PLANES["threshold"]
    plane = sweep_of(model, axes, more)
    assert regions(plane) == ((), {}) and lines(plane).empty
    assert limits(sweep_of(model, {"threshold": axes["threshold"]}, more)).empty
    assert theory.fractions(plane.spec) == {} and not catalog.family(model).asymptotics(plane.spec)
    low_rank = Sweep(spec=lrlab.spec("rank-one-sensing"), axes={"rank": [1, 2], "m": [60, 300]}, solvers=["altmin"])
    assert regions(low_rank) == ((), {})


@pytest.mark.slow
def test_compressed_sensing_has_the_limit_of_gamp_and_no_impossible_region():
    axes = {"ratio": Span(0.05, 0.95, 5), "sparsity-ratio": Span(0.05, 0.95, 5)}
    found, drawn = regions(sweep_of("compressed-sensing", axes, {"noise": 0.05}, success=Success("error", below=0.1)))
    assert [region.name for region in found] == ["possible"]
    assert set(drawn) == {"asymptotic error = 0.1"}


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
    # Where nothing is possible, there is none.
    spec = lrlab.spec("one-bit-phase-retrieval", n=40, p=100)
    assert best_overlap(spec).best == 0.0 and theory.fractions(spec) == {}
    rows = lrlab.sweep(spec, {"n": [40]}, ["gamp"], trials=1, start=LocalResults)
    assert "fraction_of_best" not in rows and np.isfinite(rows["overlap"]).all()
