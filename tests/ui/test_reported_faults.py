"""Faults that users saw on the pages and that must not come back."""

import pytest

from lrlab import solve, spec
from lrlab.runs import theory
from tests.ui.driving import figures, opened


@pytest.fixture(autouse=True)
def warm(engine):
    """Let every page find the session's engine."""


def test_phase_retrieval_names_its_signal_and_says_what_a_mark_is():
    at = opened("converge", model="phase-retrieval", p="40", m="300", solvers="gauss-newton")
    titles = [figure["layout"]["xaxis"].get("title", {}).get("text", "") for figure in figures(at)]
    assert "true entry  xⱼ" in titles
    [words] = [caption.value for caption in at.caption if caption.value.startswith("A mark: ")]
    assert "real or the imaginary part of an entry" in words and "phase" in words
    short = opened("converge", model="phase-retrieval", p="10", m="100", solvers="gauss-newton")
    assert any("The real parts of all entries come first" in caption.value for caption in short.caption)


def test_no_advice_to_raise_max_iter_where_theory_says_that_nothing_helps():
    below = solve(spec("one-bit-sensing", n=100, p=40, noise=2.0), "pairwise-moment", max_iter=2, tol=0)
    above = solve(spec("one-bit-sensing", n=4000, p=10), "pairwise-moment", max_iter=2, tol=0)
    assert "raise max_iter" not in below.ending and "raise max_iter" in above.ending
    assert "do not help at this n/p" in below.ending


def test_where_the_limit_is_zero_the_end_of_a_run_says_what_is_expected_at_its_own_size():
    trace = solve(spec("custom-link", n=3000, p=5), "pairwise-moment", max_iter=2, tol=0)
    expected = theory.exact_predictions(trace.job)["predicted_overlap"]
    expected_words = f"tends to 0 asymptotically; at this n and p it is {expected:.2g} on average"
    assert expected > 0.3 and expected_words in trace.ending


def test_excess_risk_is_offered_where_it_exists():
    for model in ("multilabel", "one-bit-multilabel"):
        at = opened("sweep", model=model)
        [show] = [box for box in at.selectbox if box.label == "Show"]
        assert ("excess risk" in show.options) == bool(getattr(spec(model), "best_known", False))


def test_from_to_and_points_are_off_where_values_are_listed():
    at = opened("sweep", p="8", solvers="marginal-mean", **{"x-values": "20, 40"})
    ends = [box for box in at.number_input if box.label in ("from", "to", "points")]
    assert len(ends) >= 3 and all(box.disabled for box in ends[:3])
    free = opened("sweep", p="8", solvers="marginal-mean")
    assert not any(box.disabled for box in free.number_input if box.label in ("from", "to", "points"))
