"""What the first screen says of a model: measurements, pictures of truth and estimates, a sentence on a run."""

import re
from functools import partial

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.figures import picture, recovery
from lrlab.figures.picture import measured
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import Run, recoveries, truth_of
from lrlab.model_entry import Outcome
from lrlab.models import views
from lrlab.models.matrix_views import frequency_scores
from lrlab.parameters import declared
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job


def outcome(trace, over=True):
    job = trace.job
    return Outcome(
        job.solver, job.entry.title, trace.rows[-1] if trace.rows else {}, len(trace.rows), over, dict(job.options),
        theory.predictions(job), trace.stop is Stop.MAX_ITER,
    )  # fmt: skip


def verdict(spec, *solvers, **settings):
    return catalog.family(spec.model).verdict(spec, [outcome(lrlab.solve(spec, name, **settings)) for name in solvers])


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_every_model_shows_its_equation_and_its_first_measurements(model):
    spec = catalog.spec(model, seed=1234)
    shown = catalog.family(model).measured(spec)
    assert spec.equation.count("{") == spec.equation.count("}") and "=" in spec.equation
    assert re.match(r"[\d,]+ [a-z]+", shown.words) and shown.panels
    assert all(np.isfinite(panel.values).any() for panel in shown.panels)
    figure = measured(shown.panels, 300).plotly()
    assert figure.layout.height == 300 and all(trace.type == "heatmap" for trace in figure.data)


def test_what_is_shown_is_what_solvers_get():
    bits = catalog.spec("one-bit-sensing", n=1000, p=5, seed=3)
    [panel] = catalog.family(bits.model).measured(bits).panels
    np.testing.assert_array_equal(panel.values.ravel(), bits.build().y[:400])
    table = catalog.spec("multilabel-regression", seed=4)
    problem = table.build()
    [panel] = catalog.family(table.model).measured(table).panels
    for row, column, value in zip(problem.operator.rows, problem.operator.columns, problem.b, strict=True):
        if row < len(panel.values):
            assert panel.values[row, column] == value
    sensing = catalog.spec("rank-one-sensing", m=300, d1=9, d2=8, rank=2, noise=0.1, seed=5)
    measurement, truth = catalog.family(sensing.model).measured(sensing).panels
    operator, shown = sensing.build().operator, sensing.replace(m=1).build()
    np.testing.assert_array_equal(measurement.values, np.outer(operator.X[0], operator.Y[0]))
    assert measurement.title == f"x₁y₁ᵀ, and ⟨x₁y₁ᵀ, W⟩ = {shown.b[0]:.3g}".replace("-", "−")
    np.testing.assert_allclose(truth.values, shown.truth.dense())


@pytest.mark.slow
def test_a_verdict_names_prediction_threshold_and_limit():
    spec = catalog.spec("one-bit-sensing", n=6000, p=40, noise=0.1**0.5)
    job = make_job(spec, "pairwise-moment")
    theory.exact_predictions(job)
    sentence = verdict(spec, "pairwise-moment", "probit")
    predicted, simulated = map(
        float, re.match(r"Predicted error ([\d.]+) \(.*?\), measured ([\d.]+)", sentence).groups()
    )
    assert predicted == pytest.approx(simulated, rel=0.15)
    assert (
        "n/p = 150 is above its asymptotic threshold 11.9" in sentence
        and "lowest here" in sentence
        and "probit" in sentence
    )
    below = verdict(catalog.spec("one-bit-sensing", n=400, p=50), "pairwise-moment")
    assert "n/p = 8 is below its asymptotic threshold 10.1" in below


def test_a_verdict_counts_unknowns_and_says_who_recovers():
    spec = catalog.spec("rank-one-sensing", m=300, d1=12, d2=10, rank=2)
    assert "recovered by 1 of 1 solver," in verdict(spec, "gauss-newton")
    few = verdict(spec.replace(m=30), "gauss-newton", max_iter=5)
    assert "recovered by 0 of 1" in few and "for 40 degrees of freedom, 0.75 for each, too few to determine it" in few
    phase = verdict(catalog.spec("phase-retrieval", m=120, p=12), "gauss-newton")
    assert "recovered by 1 of 1 solver," in phase
    assert "polynomial-time methods succeed from 2.03 and any method from 2" in phase


def test_a_verdict_says_which_recoveries_ended_at_a_limit():
    spec = catalog.spec("rank-one-sensing", m=300, d1=12, d2=10, rank=2)
    assert "recovered by 2 of 2 solvers, error" in verdict(spec, "gauss-newton", "altmin")
    stopped = verdict(spec, "gauss-newton", "altmin", max_iter=12)
    assert "recovered by 2 of 2 solvers, one of them at its limit, error" in stopped


def test_no_text_of_a_model_or_solver_has_a_formula_in_ascii():
    for model in catalog.MODELS:
        spec = catalog.model_entry(model).spec
        texts = [spec.summary, *(parameter.meaning for parameter in declared(spec).values())]
        texts += [measure.meaning for measure in catalog.family(model).measures.values()]
        for one in catalog.solvers_for(model):
            texts += [one.title, one.summary, *(option.meaning for option in one.options.values())]
        for text in texts:
            assert not re.search(r"\^[\dT(]|<[a-z], ?\w+>|\|\||\(Algorithm \d\)", text), text


def test_a_verdict_on_labels_compares_with_label_frequencies():
    spec = catalog.spec("multilabel", n=300, d=12, labels=14, rank=2, per_row=2)
    problem, alone = spec.build(), frequency_scores(spec)["precision_3"]
    first = np.argsort(-problem.Y.sum(axis=0))[:3]
    assert alone == pytest.approx(problem.Y_test[:, first].sum() / (3 * problem.Y_test.shape[0]), abs=0.03)
    assert f"the label-prevalence baseline gives precision@3 {alone:.2g}" in verdict(spec, "leml-squared", max_iter=5)


PICTURED = {
    "rank-one-sensing": {"truth": "digit-3", "m": 700, "d1": 24, "d2": 24, "rank": 4},
    "polynomial-network": {"weights": "digits", "p": 64, "r": 5, "m": 2000},
    "one-bit-completion": {"truth": "films", "rank": 3, "n1": 40, "n2": 40},
    "multilabel": {"n": 300, "d": 20, "labels": 12, "rank": 3},
    "one-bit-multilabel": {"m": 500, "d1": 15, "d2": 10},
}


@pytest.mark.parametrize("model", PICTURED)
def test_the_truth_is_drawn_as_itself_and_an_estimate_in_the_same_place(model):
    spec = lrlab.spec(model, **PICTURED[model])
    true = spec.view(None)
    known = truth_of(spec) or spec.truth()
    assert np.allclose(spec.view(known).values, true.values, equal_nan=True)
    solver = catalog.family(model).solvers[0]
    trace = lrlab.solve(spec, solver, max_iter=3)
    shown = spec.view(trace.estimate)
    assert shown.values.shape == true.values.shape and spec.view_words
    runs = recoveries(spec, [Run(trace.job, trace)])
    drawn = picture.views(spec.view, runs, height=400)
    assert len(drawn.data) == 2 and np.array_equal(drawn.data[0].z, true.values.astype(np.float32), equal_nan=True)
    frames = recovery.frames(partial(picture.views, spec.view, height=400), runs)
    assert np.array_equal(frames[-1]["data"][0]["z"], shown.values.astype(np.float32), equal_nan=True)


def test_a_table_of_films_has_names_and_films_of_a_genre_are_alike():
    spec = lrlab.spec("one-bit-completion", truth="films", rank=3)
    view = spec.view(None)
    assert view.rows == views.PERSONS and view.columns == views.FILMS
    layout = picture.views(spec.view, [Recovery("A"), Recovery("B"), Recovery("C")], height=400).layout
    named = [k for k in range(1, 5) if layout[f"xaxis{k if k > 1 else ''}"].get("ticktext")]
    assert named == [3, 4], "below the last tile of each column"
    alike = np.corrcoef(spec.factors().V @ np.diag(spec.factors().s))
    assert alike[0, 3] > 0.9 > abs(alike[0, 1])


def test_the_rank_of_an_image_is_the_largest_that_can_be_asked_for():
    assert lrlab.spec("rank-one-sensing", truth="digit-0", rank=30).view(None) is not None
