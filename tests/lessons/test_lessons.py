"""Lessons: files, questions answered by computing, what their figures show, shipped theory, and the glossary."""

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import shipped_theory
from lrlab import lessons
from lrlab.lessons import PLACE
from lrlab.protocol import Spec
from lrlab.runs import theory
from lrlab.theory import bulk as noise
from lrlab.theory import spiked

STEPS = [
    pytest.param(step, id=f"{name}-{k}")
    for name, lesson in lessons.lessons().items()
    for k, step in enumerate(lesson.steps)
]
QUESTIONS = [param for param in STEPS if param.values[0].question]
OTHER_SEED = 1001


@pytest.mark.parametrize("lesson", lessons.lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_has_an_equation_and_a_question(lesson):
    assert any(step.equation for step in lesson.steps) and any(step.question for step in lesson.steps)


@pytest.mark.parametrize("step", STEPS)
def test_the_parts_of_a_step_fit_each_other(step):
    texts = [step.text]
    assert set(step.terms) <= lessons.terms().keys()
    if step.question:
        slider, question = step.figure.slider, step.question
        assert {slider.before, step.start} <= set(slider.values) and set(question.hidden) <= set(step.figure.labels)
        texts += [question.text, question.feedback, *(choice.why for choice in question.choices)]
    assert {at for _, at in step.numbers.values()} <= set(step.figure.slider.values if step.figure else ())
    for text in texts:
        filled = step.filled(text)
        assert not PLACE.search(filled)
        sizes = [abs(step.number(name)) for name in PLACE.findall(text)]
        assert all(f"{size:.3g}" in filled for size in sizes if 1e-3 < size < 1e3)


@pytest.mark.parametrize("step", QUESTIONS)
def test_the_answer_is_computed_and_holds_on_other_data_and_wrong_choices_have_reasons(step):
    question, answer = step.question, step.number("answer")
    choices, right = question.choices, question.right(answer)
    assert [k for k, choice in enumerate(choices) if choice.over < answer <= choice.to] == [right]
    assert [bool(choice.why) for choice in choices] == [k != right for k in range(len(choices))]
    assert not PLACE.search(step.filled(question.feedback))
    other = replace(step.figure, spec=step.figure.spec.replace(seed=OTHER_SEED))
    assert question.right(replace(step, figure=other).number("answer")) == right


@pytest.mark.slow
@pytest.mark.parametrize("step", [param for param in STEPS if param.values[0].figure])
def test_a_figure_has_titled_axes_and_says_what_it_shows_at_both_ends(step):
    for at in (step.figure.slider.values[0], step.figure.slider.values[-1]):
        drawn = step.figure.draw(at).plotly().to_plotly_json()
        axes = [axis for name, axis in drawn["layout"].items() if name.startswith(("xaxis", "yaxis"))]
        assert axes and all(axis["title"]["text"] for axis in axes if axis.get("visible", True))
        assert step.figure.sentence(at).endswith(".")
        assert "nan" not in step.figure.sentence(at)


@pytest.mark.parametrize("step", lessons.load("one-bit-cost").steps[:2])
def test_limits_along_bits_have_no_steps_between_whole_numbers(step):
    drawn = step.figure.draw(step.start)
    [limit] = [one for one in drawn.data if one.name == "information-theoretic limit"]
    assert list(limit.x) == list(range(1, 9)) and np.all(np.diff(limit.y, n=2) > -1e-3)


@pytest.mark.parametrize("ratio", [0.1, 0.9, 3.0])
def test_the_density_of_the_bulk_integrates_to_the_share_of_eigenvalues_that_are_not_zero(ratio):
    low, high = noise.support(ratio, 1.7)
    # The root at both ends becomes smooth in the angle.
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    total = float(np.sum(noise.density(x, ratio, 1.7) * np.sin(angle))) * (high - low) / 2 * np.pi / 4000
    assert total == pytest.approx(min(1.0, 1.0 / ratio), abs=1e-5)


def test_the_bulk_ends_at_the_edge_of_the_spiked_model():
    from lrlab.spectra.pairwise import histogram

    spec = lessons.load("eigengap").steps[0].figure.spec
    [bulk] = [trace for trace in histogram(spec, "M", [spec]).data if trace.name == "bulk, predicted"]
    limit = spiked.predict(spec.link_function.moments, spec.n / spec.p, "M")
    assert bulk.x[-1] == pytest.approx(limit.second)


def read_off(figure, at, of):
    """Return a number as people read it off the figure at a position of its slider, from what is drawn alone."""
    drawn = figure.draw(at)
    return READERS[figure.kind]({one.name: one for one in drawn.data if one.name}, drawn.layout, at, of)


def at_slider(traces, layout, at, of):
    """Read the mark of a series, or the line of theory, at the position of the slider."""
    one = next(trace for name, trace in traces.items() if name == of or name.startswith(f"{of},"))
    return float(np.interp(at, *(np.asarray(side, dtype=float) for side in (one.x, one.y))))


def last_iterate(traces, layout, at, of):
    """Read where a curve ends."""
    return float(np.asarray(traces[of].y, dtype=float)[-1])


def successes(traces, layout, at, of):
    """Count the marks below the line of success."""
    [level] = [one.y[0] for name, one in traces.items() if name.startswith("success")]
    return float(np.sum(np.asarray(traces[of].y, dtype=float) < level))


def gap_or_written(traces, layout, at, of):
    """Read how far the largest eigenvalue lies beyond the edge, or the number at the end of a text above the figure."""
    if of == "gap":
        return float(traces["largest eigenvalue"].x[0] - traces["edge, predicted"].x[0])
    words = "squared overlap" if "largest eigenvalue" in traces else of
    [text] = [note.text for note in layout["annotations"] if words in note.text]
    return float(re.search(r"[\d.]+$", text)[0])


READERS = {
    "scores": at_slider,
    "counts": at_slider,
    "runs": last_iterate,
    "outcomes": successes,
    "histogram": gap_or_written,
    "pictures": gap_or_written,
}


@pytest.mark.slow
@pytest.mark.parametrize("step", QUESTIONS)
def test_the_figure_shows_the_answer_and_something_else_before_it(step):
    of, at = step.numbers["answer"]
    assert at == step.start
    shown, answer = read_off(step.figure, at, of), step.number("answer")
    assert shown == pytest.approx(answer, rel=6e-3, abs=1e-12)
    assert step.question.right(shown) == step.question.right(answer) >= 0
    drawn = step.before.draw(step.figure.slider.before, alone=True)
    assert any(one.x is not None or one.z is not None for one in drawn.data), "the figure is empty"
    # Another case, or the same one without the series in question.
    assert step.figure.slider.before != at or of not in [one.name for one in drawn.data]


def test_all_that_is_to_be_shipped_is():
    assert sorted(theory.shipped()) == sorted(map(theory.key_of, shipped_theory.items()))


@pytest.mark.slow
def test_what_is_shipped_is_what_is_computed_now():
    items = [item for item in shipped_theory.items() if not isinstance(item, Spec)]
    quick = [item for item in items if item.entry.sample_seconds(item.spec, dict(item.options)) < 2.5e-3]
    assert len(quick) > 10
    for item in quick[::4]:
        assert theory.shipped()[theory.key_of(item)] == pytest.approx(theory.exact(item), rel=1e-4), item


def test_a_default_has_its_bound_at_once():
    spec = theory.without_seed(next(iter(shipped_theory.jobs())).spec)
    numbers = theory.cached(spec)
    assert 0.02 < numbers["best_error"] < 0.04
