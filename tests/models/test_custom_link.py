"""Any link, flips, entries and designs: what is drawn, and that every solver gives a result or one sentence."""

import itertools

import numpy as np
import pytest

from lrlab import catalog
from lrlab.model_entry import Success
from lrlab.models import signals
from lrlab.models.index_family import CustomLink, FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from lrlab.theory.hermite import answers_needed
from tests.thorough import a_third

MODELS = ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link")
DESIGNS = ("gaussian", "correlated", "student", "rademacher")
STOPS = {Stop.CONVERGED, Stop.FINISHED, Stop.NO_MINIMUM, Stop.STALLED, Stop.MAX_ITER, Stop.TIMEOUT}


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


EQUIVARIANT = ("sir", "phd", "glm")


@pytest.mark.parametrize(("model", "design"), a_third(list(itertools.product(MODELS, DESIGNS))))
def test_every_solver_gives_a_result_or_one_sentence(model, design):
    spec = catalog.spec(model, n=400, p=8, design=design, entries="equal", flip=0.05, sparsity=3, seed=2)
    ran = 0
    for entry in catalog.solvers_for(model):
        try:
            job = make_job(spec, entry.name, max_iter=6)
        except InputError as refusal:
            assert "\n" not in str(refusal)
            continue
        trace, ran = run_job(job), ran + 1
        assert trace.stop in STOPS and np.isfinite(trace.estimate).all()
        # Linear changes of x leave these as they are.
        predictable = design == "gaussian" or design == "correlated" and entry.name in EQUIVARIANT
        assert predictable or not any(name.startswith("limit") for name in theory.predictions(job))
        assert not entry.predict_iterations(spec, dict(job.options), 3), "equal entries are no prior of GAMP's"
        assert (spec.remark in trace.summary()["message"]) and ("Gaussian" in spec.remark) == (design != "gaussian")
    assert ran >= 2


CUBIC = "sign(z)*sign(abs(z) - 1.1774100225154747)"


def test_a_link_without_two_coefficients_is_refused_with_its_exponent():
    spec = CustomLink(link=CUBIC, n=1000, p=16)
    for solver in ("gamp", "link-free-refinement", "pairwise-moment", "sir", "phd"):
        with pytest.raises(InputError, match=r"exponent is 3: change the formula: .*order p\^1.5, here 1e\+02"):
            make_job(spec, solver)
    with pytest.raises(InputError, match="look like coin tosses"):
        make_job(spec.replace(link="sin(50*z)"), "gamp")


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
