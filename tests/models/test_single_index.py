"""Single-index models: seeds, blocks, pictures, links, designs; what the first screen says of every model."""

import io
import itertools
import re
from functools import partial

import numpy as np
import pytest
from PIL import Image

import lrlab
from lrlab import catalog
from lrlab.engine.live import LiveRun
from lrlab.figures import recovery
from lrlab.figures.recovery import Recovery, measured
from lrlab.figures.runs import recoveries, truth_of
from lrlab.model_entry import Outcome, Success
from lrlab.models import pictures, signals, single_index, views
from lrlab.models.single_index import CustomLink, FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.models.views import frequency_scores
from lrlab.parameters import InputError, declared
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from lrlab.theory.hermite import answers_needed

SPECS = [
    OneBitSensing(n=4000, p=8, noise=0.3),
    FlippedLogistic(n=4000, p=8, flip=0.1, intercept=0.7, noise=0.4),
    OneBitPhaseRetrieval(n=4000, p=8, threshold=0.8, noise=0.2),
    CustomLink(link="sin 2z", n=4000, p=8, noise=0.3, flip=0.1),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_answers_follow_the_link(spec):
    problem = spec.replace(n=200_000).build()
    index = problem.X @ problem.truth
    edges = np.quantile(index, np.linspace(0, 1, 21))
    for low, high in zip(edges, edges[1:], strict=False):
        inside = (index >= low) & (index <= high)
        expected = problem.link(index[inside]).mean()
        assert problem.y[inside].mean() == pytest.approx(expected, abs=5 / np.sqrt(inside.sum()))


def test_data_too_large_to_keep_is_drawn_anew_in_each_pass(monkeypatch):
    spec = OneBitSensing(n=1001, p=6)
    stored = spec.build()
    stored.block_rows = 300
    monkeypatch.setattr(single_index, "IN_MEMORY", 0)
    drawn = spec.build()
    drawn.block_rows = 300
    drawn.load(everything=False)
    for _ in range(2):
        blocks = list(drawn.blocks())
        assert [len(y) for _, y in blocks] == [300, 300, 300, 101]
        assert (np.vstack([X for X, _ in blocks]) == stored.X).all()
        assert (np.concatenate([y for _, y in blocks]) == stored.y).all()
    assert "_data" not in vars(drawn), "nothing was kept"


def test_scores_are_sign_free_and_scale_free():
    problem = OneBitSensing(n=500, p=40, sparsity=5, noise=0.2).build()
    rng = np.random.default_rng(0)
    b = problem.truth + 1e-4 * rng.standard_normal(40)
    scores = problem.score(b)
    for same in (-b, 3.0 * b):
        assert problem.score(same) == pytest.approx(scores)
    u = b / np.linalg.norm(b)
    assert scores["error"] == pytest.approx(np.linalg.norm(u - problem.truth))
    assert scores["overlap"] == pytest.approx((u @ problem.truth) ** 2)
    assert scores["error"] ** 2 == pytest.approx(2 - 2 * np.sqrt(scores["overlap"]))
    assert scores["misfit"] == pytest.approx(np.mean((problem.y - problem.link(problem.X @ u)) ** 2))
    assert scores["support"] == 1.0
    assert problem.score(np.zeros(40))["overlap"] == 0.0


@pytest.mark.parametrize("name", ["phantom", "digit-3"])
@pytest.mark.parametrize("side", [8, 16, 64])
def test_pictures_are_truths(name, side):
    problem = OneBitSensing(n=100, p=side * side, truth=name).build()
    image = pictures.picture(name, side)
    assert image.shape == (side, side) and 0 <= image.min() < image.max() <= 1
    assert (problem.truth == image.ravel() / np.linalg.norm(image)).all()


def png(array, form="PNG"):
    content = io.BytesIO()
    Image.fromarray(array).save(content, form)
    return content.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_an_uploaded_picture_travels_in_the_spec(form):
    gray = np.add.outer(np.arange(200), np.arange(300)).astype(np.uint8)
    text = pictures.encode(png(gray, form), 32)
    spec = OneBitSensing(p=1024, truth="upload", picture=text)
    assert hash(spec) == hash(spec.replace()) and len(text) < 4096
    assert (spec.build().truth.reshape(32, 32) > 0).mean() > 0.9


NO_PICTURE = "picture must be a PNG or JPEG, got a file that cannot be read as one"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        *((content, NO_PICTURE) for content in (
            b"", b"just a text named .png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, png(np.ones((8, 8), np.uint8))[:50],
            png(np.ones((8, 8), np.uint8), "BMP"),
        )),
        (png(np.zeros((8, 8), np.uint8)), "not black all over"),
        ("", "got none: upload one"),
        ("no base64!", "picture must be a text made by"),
        ("aGVsbG8=", "picture must be a text made by"),
        (pictures.encode(png(np.ones((8, 8), np.uint8)), 8), r"of 16 x 16 pixels \(p = 256\), got 64 pixels"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused_in_one_sentence(content, sentence):
    with pytest.raises(InputError, match=sentence):
        picture = content if isinstance(content, str) else pictures.encode(content, 16)
        OneBitSensing(p=256, truth="upload", picture=picture)


MODELS = ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link")
DESIGNS = ("gaussian", "correlated", "student", "rademacher")


def test_flips_thin_out_the_answers_of_every_model():
    for spec in (OneBitSensing(n=100_000, p=3, noise=0.0), OneBitPhaseRetrieval(n=100_000, p=3)):
        clean, flipped = spec.build(), spec.replace(flip=0.2).build()
        assert (clean.X == flipped.X).all()
        assert (clean.y != flipped.y).mean() == pytest.approx(0.2, abs=0.01)
        assert flipped.link.moments == pytest.approx([0.6 * moment for moment in clean.link.moments])


@pytest.mark.parametrize("design", DESIGNS)
def test_designs_have_their_moments(design):
    spec = OneBitSensing(n=100_000, p=4, design=design, correlation=-0.7, freedom=6)
    X = spec.build().X
    lag = np.abs(np.subtract.outer(range(4), range(4)))
    expected = (-0.7) ** lag if design == "correlated" else np.eye(4)
    assert np.cov(X.T) == pytest.approx(expected, abs=0.03)
    kurtosis = {"student": 6.0, "rademacher": 1.0}.get(design, 3.0)
    assert (X**4).mean() == pytest.approx(kurtosis, rel=0.15)
    assert (spec.replace(n=500).build().X == X[:500]).all(), "more measurements extend the data"
    assert bool(spec.remark) == (design != "gaussian")


@pytest.mark.parametrize(("model", "design"), list(itertools.product(MODELS, DESIGNS)))
def test_limits_are_said_of_independent_gaussian_entries(model, design):
    spec = catalog.spec(model, n=400, p=8, design=design, entries="equal", flip=0.05, sparsity=3, seed=2)
    assert ("Gaussian" in spec.remark) == (design != "gaussian")
    for entry in catalog.solvers_for(model):
        try:
            job = make_job(spec, entry.name)
        except InputError:
            continue
        assert design == "gaussian" or not any(name.startswith("limit") for name in theory.predictions(job))
        assert not entry.predict_iterations(spec, dict(job.options), 3), "equal entries are no prior of GAMP's"
    trace = run_job(make_job(spec, "link-free-refinement", max_iter=1))
    assert spec.remark in trace.summary()["message"]


CUBIC = "sign(z)*sign(abs(z) - 1.1774100225154747)"


@pytest.mark.parametrize(
    "spec", [CustomLink(link="1"), FlippedLogistic(flip=0.5), OneBitPhaseRetrieval(threshold=0.0)], ids=repr
)
def test_constants_are_refused_by_all_solvers_alike(spec):
    sentences = set()
    for entry in catalog.solvers_for(spec.model):
        with pytest.raises(InputError) as refusal:
            make_job(spec, entry.name)
        sentences.add(str(refusal.value))
    assert len(sentences) == 1 and "carries nothing" in sentences.pop()


def test_maps_have_the_rate_of_fast_methods_where_it_is_true():
    entry, level = catalog.solver("link-free-refinement"), Success("overlap", above=0.5)
    spec = CustomLink(link=CUBIC, n=1000, p=20)
    needed = answers_needed(spec.link_function, 20)
    above, below = (
        signals.index_lines(spec.replace(n=round(share * needed)), entry, {}, level) for share in (1.1, 0.9)
    )
    assert list(above.values()) == [True] and list(below.values()) == [False] and "p^(k/2)" in next(iter(above))
    assert not any("p^(k/2)" in name for name in signals.index_lines(CustomLink(link="sin 2z"), entry, {}, level))
    assert not signals.index_lines(spec.replace(sparsity=3), entry, {}, level)


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
    assert all(np.isfinite(panel.values).any() for panel in shown.panels.values())
    figure = measured(shown.panels, 300).plotly()
    assert figure.layout.height == 300 and all(trace.type == "heatmap" for trace in figure.data)


def test_what_is_shown_is_what_solvers_get():
    bits = catalog.spec("one-bit-sensing", n=1000, p=5, seed=3)
    [panel] = catalog.family(bits.model).measured(bits).panels.values()
    np.testing.assert_array_equal(panel.values.ravel(), bits.build().y[:400])
    table = catalog.spec("multilabel-regression", seed=4)
    problem = table.build()
    [panel] = catalog.family(table.model).measured(table).panels.values()
    for row, column, value in zip(problem.operator.rows, problem.operator.columns, problem.b, strict=True):
        if row < len(panel.values):
            assert panel.values[row, column] == value
    sensing = catalog.spec("rank-one-sensing", m=300, d1=9, d2=8, rank=2, noise=0.1, seed=5)
    (title, measurement), (_, truth) = catalog.family(sensing.model).measured(sensing).panels.items()
    operator, shown = sensing.build().operator, sensing.replace(m=1).build()
    np.testing.assert_array_equal(measurement.values, np.outer(operator.X[0], operator.Y[0]))
    assert title == f"x₁y₁ᵀ, and ⟨x₁y₁ᵀ, W⟩ = {shown.b[0]:.3g}".replace("-", "−")
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
    runs = recoveries(spec, [LiveRun(trace.job, trace)])
    drawn = recovery.views(spec.view, runs, height=400)
    assert len(drawn.data) == 2 and np.array_equal(drawn.data[0].z, true.values.astype(np.float32), equal_nan=True)
    frames = recovery.frames(partial(recovery.views, spec.view, height=400), runs)
    assert np.array_equal(frames[-1]["data"][0]["z"], shown.values.astype(np.float32), equal_nan=True)


def test_a_table_of_films_has_names_and_films_of_a_genre_are_alike():
    spec = lrlab.spec("one-bit-completion", truth="films", rank=3)
    view = spec.view(None)
    assert view.rows == views.PERSONS and view.columns == views.FILMS
    layout = recovery.views(spec.view, [Recovery("A"), Recovery("B"), Recovery("C")], height=400).layout
    named = [k for k in range(1, 5) if layout[f"xaxis{k if k > 1 else ''}"].get("ticktext")]
    assert named == [3, 4], "below the last tile of each column"
    alike = np.corrcoef(spec.factors().V @ np.diag(spec.factors().s))
    assert alike[0, 3] > 0.9 > abs(alike[0, 1])


def test_the_rank_of_an_image_is_the_largest_that_can_be_asked_for():
    assert lrlab.spec("rank-one-sensing", truth="digit-0", rank=30).view(None) is not None
