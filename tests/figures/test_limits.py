"""Bounds and information-theoretic limits: among the metrics of a run, and as lines of its figure."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.figures import convergence
from lrlab.figures.recovery import Recovery
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.theory.predicted_overlap import best_overlap
from lrlab.ui.converge.result_tabs import theory_caption


def test_metrics_name_the_limit_for_large_sizes_and_a_bound_only_where_it_holds():
    spec = lrlab.spec("one-bit-sensing", n=400, p=100, sparsity=40, seed=77)
    metrics = lrlab.solve(spec, "marginal-mean").metrics
    assert metrics["limit_best_overlap"] == best_overlap(spec).best > metrics["overlap"]
    assert "limit_best_fast_overlap" not in metrics and "best_overlap" not in metrics


def test_few_non_zero_entries_have_no_limits():
    for sparsity in (1, 5, 20):
        spec = lrlab.spec("one-bit-sensing", n=60, p=1000, sparsity=sparsity, noise=1.0)
        assert catalog.family(spec.model).asymptotics(spec) == {}
        assert "limit_overlap" not in theory.predictions(make_job(spec, "gamp"), sampled=False)


def test_captions_say_what_dots_and_curves_are():
    limited = Recovery("gamp", predictions={"limit_overlap": 0.5, "limit_best_overlap": 0.8}, expected=[0.2, 0.4])
    words = theory_caption([limited], "overlap")
    assert "asymptotic information-theoretic limit; small problems may end beyond it." in words
    assert "each iterate of gamp" in words and "on average" not in words and "polynomial-time methods" not in words
    hard = Recovery("sir", predictions={"limit_best_overlap": 0.8, "limit_best_fast_overlap": 0.5})
    assert "and the limit of polynomial-time methods" in theory_caption([hard], "error")
    here = Recovery("sir", predictions={"predicted_overlap": 0.5, "best_overlap": 0.6})
    assert "at this n and p" in theory_caption([here], "overlap") and "limit" not in theory_caption([here], "overlap")
    assert theory_caption([limited], "misfit") == theory_caption([], "error") == ""


@pytest.mark.parametrize("measure", ["overlap", "error"])
def test_bounds_limits_and_expected_iterates_are_drawn(measure):
    best = {"best_overlap": 0.9, "best_overlap_low": 0.8, "best_overlap_high": 0.95}
    best |= {"best_error": 0.3, "best_error_low": 0.2, "best_error_high": 0.4}
    predictions = {"predicted_overlap": 0.5, "limit_best_overlap": 0.81, "limit_best_fast_overlap": 0.64} | best
    rows = [{"iteration": k, "seconds": 0.1 * k, "overlap": 0.5, "error": 0.7} for k in (1, 2, 3)]
    run = Recovery("gamp", rows=rows, predictions=predictions, expected=[0.25, 0.49])
    drawn = {trace.name or trace.hovertemplate: trace for trace in convergence.curves([run], measure).data}
    levels = {words: drawn[words].y[0] for words in convergence.LIMITS.values()}
    overlaps = np.array([0.81, 0.64])
    wanted = overlaps if measure == "overlap" else np.sqrt(2 - 2 * np.sqrt(overlaps))
    assert list(levels.values()) == pytest.approx(list(wanted))
    assert drawn[convergence.BOUNDS["best"]].y[0] == best[f"best_{measure}"], "not the error of the mean overlap"
    [path] = [
        trace for trace in drawn.values() if trace.hovertemplate and "after %{x} iterations" in trace.hovertemplate
    ]
    assert list(path.x) == [1, 2] and path.y[0] == pytest.approx(0.25 if measure == "overlap" else 1.0)
    assert not any("iterations" in (t.hovertemplate or "") for t in convergence.curves([run], measure, "seconds").data)
