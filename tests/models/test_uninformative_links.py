"""Links whose first two Hermite coefficients vanish, and constants: the words of refusals and the lines of maps."""

import pytest

from lrlab import catalog
from lrlab.model_entry import Level
from lrlab.models import signals
from lrlab.models.custom_link import CustomLink
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.theory.hermite import answers_needed

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
    entry, level = catalog.solver("link-free-refinement"), Level("overlap", 0.5, False)
    spec = CustomLink(link=CUBIC, n=1000, p=20)
    needed = answers_needed(spec.link_function, 20)
    above, below = (
        signals.index_lines(spec.replace(n=round(share * needed)), entry, {}, level) for share in (1.1, 0.9)
    )
    assert list(above.values()) == [True] and list(below.values()) == [False] and "p^(k/2)" in next(iter(above))
    assert not any("p^(k/2)" in name for name in signals.index_lines(CustomLink(link="sin 2z"), entry, {}, level))
    assert not signals.index_lines(spec.replace(sparsity=3), entry, {}, level)
