"""Single-index models: seeds, blocks, pictures, links, designs, scores, and one sentence for what is refused."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image

from lrlab import catalog
from lrlab.model_entry import Success
from lrlab.models import pictures, signals, single_index
from lrlab.models.index_family import CustomLink, FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from lrlab.solvers.single_index.family import inverse_trace
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
    if design == "correlated":
        assert inverse_trace(4, -0.7) == pytest.approx(np.trace(np.linalg.inv(expected)))
    kurtosis = {"student": 6.0, "rademacher": 1.0}.get(design, 3.0)
    assert (X**4).mean() == pytest.approx(kurtosis, rel=0.15)
    assert (spec.replace(n=500).build().X == X[:500]).all(), "more measurements extend the data"
    assert bool(spec.remark) == (design != "gaussian")


@pytest.mark.parametrize(("model", "design"), list(itertools.product(MODELS, DESIGNS)))
def test_limits_are_said_of_gaussian_rows_and_of_methods_that_linear_changes_leave_as_they_are(model, design):
    spec = catalog.spec(model, n=400, p=8, design=design, entries="equal", flip=0.05, sparsity=3, seed=2)
    assert ("Gaussian" in spec.remark) == (design != "gaussian")
    for entry in catalog.solvers_for(model):
        try:
            job = make_job(spec, entry.name)
        except InputError:
            continue
        predictable = design == "gaussian" or design == "correlated" and entry.name in ("sir", "phd", "glm")
        assert predictable or not any(name.startswith("limit") for name in theory.predictions(job))
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
