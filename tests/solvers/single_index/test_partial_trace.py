"""Links whose first two Hermite coefficients vanish: partial traces, their refinement, and the words of refusals."""

import itertools

import numpy as np
import pytest

from lrlab import catalog
from lrlab.model_entry import Level
from lrlab.models import signals
from lrlab.models.custom_link import CustomLink
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
from lrlab.solvers.single_index.partial_trace import partial_trace
from lrlab.theory.hermite import answers_needed, trace_overlap

CUBIC = "sign(z)*sign(abs(z) - 1.1774100225154747)"
QUARTIC = "sign((abs(z) - 0.5)*(abs(z) - 1.6083105988156614))"


def ends(spec, seeds, number=80):
    """Return the mean overlap of the starts, and the overlaps of the ends."""
    pairs = []
    for seed in range(2300, 2300 + seeds):
        problem = spec.replace(seed=seed).build()
        run = list(itertools.islice(partial_trace(problem, rng=np.random.default_rng(0)), number))
        pairs.append([problem.score(at.estimate)["overlap"] for at in (run[0], run[-1])])
    first, last = np.array(pairs).T
    return float(first.mean()), last


@pytest.mark.parametrize(("link", "n", "p"), [(CUBIC, 1000, 20), (QUARTIC, 1500, 10)])
def test_links_that_moments_do_not_see_are_recovered(link, n, p):
    spec = CustomLink(link=link, n=n, p=p)
    start, last = ends(spec, 5, 130)
    k = 3 if link == CUBIC else 4
    assert start == pytest.approx(trace_overlap(spec.link_function, k, n, p), abs=0.25)
    assert np.median(last) > 0.98 and np.mean(last > 0.95) > 0.8


def test_far_below_the_rate_of_fast_methods_nothing_is_claimed():
    spec = CustomLink(link=CUBIC, n=100, p=60)
    assert spec.n < answers_needed(spec.link_function, spec.p)
    _, last = ends(spec, 4, 30)
    assert np.median(last) < 0.3


def test_links_of_smaller_exponents_are_recovered_as_well():
    for link in ("sign(z)", "cos(2*z)"):
        _, last = ends(CustomLink(link=link, n=1500, p=10), 3, 30)
        assert np.median(last) > 0.95


def test_a_run_of_the_catalogue_ends_in_an_estimate_that_fits():
    trace = run_job(make_job(CustomLink(link=CUBIC, n=1500, p=20, noise=0.1, seed=2400), "partial-trace"))
    assert trace.metrics["overlap"] > 0.95 and trace.stop in (Stop.CONVERGED, Stop.SETTLED)


def test_a_link_without_two_coefficients_is_refused_with_its_exponent():
    spec = CustomLink(link=CUBIC, n=1000, p=16)
    for solver in ("gamp", "link-free-refinement", "pairwise-moment", "sir", "phd"):
        with pytest.raises(
            InputError, match=r"information exponent is 3.*take partial-trace.*order p\^1.5, here 1e\+02"
        ):
            make_job(spec, solver)
    with pytest.raises(InputError, match="those of a coin"):
        make_job(spec.replace(link="sin(50*z)"), "partial-trace")
    with pytest.raises(InputError, match="those of a coin"):
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
    entry, level = catalog.solver("partial-trace"), Level("overlap", 0.5, False)
    spec = CustomLink(link=CUBIC, n=1000, p=20)
    needed = answers_needed(spec.link_function, 20)
    above, below = (
        signals.index_lines(spec.replace(n=round(share * needed)), entry, {}, level) for share in (1.1, 0.9)
    )
    assert list(above.values()) == [True] and list(below.values()) == [False] and "p^(k/2)" in next(iter(above))
    assert not any("p^(k/2)" in name for name in signals.index_lines(CustomLink(link="sin 2z"), entry, {}, level))
    assert not signals.index_lines(spec.replace(sparsity=3), entry, {}, level)
