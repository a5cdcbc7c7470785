"""Lessons: their files, their questions answered by computing, their figures, and the glossary that they quote."""

from dataclasses import replace

import numpy as np
import pytest

from lrlab import lessons
from lrlab.lessons.definition import PLACE, read
from lrlab.theory import bulk as noise
from lrlab.theory import spiked

STEPS = [
    pytest.param(step, id=f"{name}-{k}")
    for name, lesson in lessons.lessons().items()
    for k, step in enumerate(lesson.steps)
]
QUESTIONS = [param for param in STEPS if param.values[0].question]
OTHER_SEED = 1001

LESSON = """
title = "A"
summary = "B"
place = 1
reference = "C"
closing = "D"
[[steps]]
title = "E"
text = "F [[half]]"
terms = ["link"]
[steps.figure]
kind = "scores"
model = "one-bit-sensing"
spec = {p = 8}
metric = "overlap"
series = [{label = "mean", solver = "marginal-mean"}]
slider = {axis = "ratio", values = [4, 8], before = 4}
[steps.question]
text = "G"
choices = [{text = "0", to = 0.5, why = "[[half]]"}, {text = "1", over = 0.5}]
feedback = "H [[answer]]"
[steps.numbers]
answer = {of = "mean", at = 8}
half = {of = "predicted mean", at = 4}
[[steps]]
title = "I"
text = "J"
equation = "y = x"
"""


def test_a_lesson_says_numbers_that_are_computed():
    step = read("a", LESSON).steps[0]
    assert step.filled(step.text) == f"F {step.figure.module.numbers(step.figure, 4)['predicted mean']:.3g}"
    assert step.question.right(step.number("answer")) == 1


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
        assert not PLACE.search(step.filled(text))


@pytest.mark.parametrize("step", QUESTIONS)
def test_the_answer_to_a_question_is_computed_and_holds_on_other_data(step):
    question, answer = step.question, step.number("answer")
    assert sum(choice.over < answer <= choice.to for choice in question.choices) == 1
    assert not PLACE.search(step.filled(question.feedback))
    other = replace(step.figure, spec=step.figure.spec.replace(seed=OTHER_SEED))
    assert question.right(replace(step, figure=other).number("answer")) == question.right(answer)


@pytest.mark.slow
@pytest.mark.parametrize("step", [param for param in STEPS if param.values[0].figure])
def test_a_figure_has_titled_axes_and_says_what_it_shows_at_both_ends(step):
    for at in (step.figure.slider.values[0], step.figure.slider.values[-1]):
        drawn = step.figure.module.draw(step.figure, at).plotly().to_plotly_json()
        axes = [axis for name, axis in drawn["layout"].items() if name.startswith(("xaxis", "yaxis"))]
        assert axes and all(axis["title"]["text"] for axis in axes if axis.get("visible", True))
        assert step.figure.module.sentence(step.figure, at).endswith(".")
        assert "nan" not in step.figure.module.sentence(step.figure, at)


@pytest.mark.parametrize("step", lessons.load("one-bit-cost").steps[:2])
def test_limits_along_bits_have_no_steps_between_whole_numbers(step):
    drawn = step.figure.module.draw(step.figure, step.start)
    [limit] = [one for one in drawn.data if one.name == "information-theoretic limit"]
    assert list(limit.x) == list(range(1, 9)) and np.all(np.diff(limit.y, n=2) > -1e-3)


def test_terms_are_those_of_the_glossary():
    needed = "link, overlap, moment, bulk, tangent space, degrees of freedom, incoherence, nuclear norm"
    assert set(needed.split(", ")) <= lessons.terms().keys()


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
