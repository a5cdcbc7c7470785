"""The page *learn*, run as Streamlit runs it: every lesson from its first step to its summary."""

import pytest

from lrlab import lessons
from tests.thorough import a_third
from tests.ui.driving import accepted, components, figures, opened, words


@pytest.mark.slow
@pytest.mark.parametrize("name", a_third([*lessons.lessons()], parts=6))
def test_a_lesson_is_gone_through_step_by_step(name):
    lesson, at = lessons.load(name), accepted("learn", lesson=name)
    for k, step in enumerate(lesson.steps):
        assert at.header[0].value == step.title
        assert len(at.latex) == bool(step.equation)
        if step.question:
            assert len(figures(at)) == 1
            at.button(key="learn-choice-0").click().run()
            right = step.question.right(step.number("answer")) == 0
            said = "**Yes.**" if right else f"**No.** {step.filled(step.question.choices[0].why)}"
            assert any(word.value.startswith(said) for word in at.markdown)
            [slider] = [data for data in components(at) if "texts" in data]
            assert step.figure.slider.values[slider["at"]] == step.start, "the slider goes to what was asked"
            assert step.figure.slider.values[slider["origin"]] == step.figure.slider.before
        assert len(figures(at)) == 1
        last, key = step.figure.slider.values[-1], f"learn.{name}.{k}"
        at.session_state[f"{key}:at"] = last
        at.run()
        assert step.figure.module.sentence(step.figure, last) == words(at, f"{key}.words")
        at.button(key="learn-next").click().run()
        assert not at.exception and at.query_params["step"] == str(k + 2)
    assert lesson.closing in [m.value for m in at.markdown]
    following = [one.title for one in lessons.lessons().values() if one.place == lesson.place + 1]
    assert [one.label for one in at.button if one.key == "learn-following"] == [f"Next lesson: {t}" for t in following]
    at.button(key="learn-all").click().run()
    assert at.title[0].value == "Learn" and "lesson" not in at.query_params
    [badges] = [one.value for one in at.caption if "badge[done]" in one.value]
    assert f"about {lesson.minutes} minutes" in badges


def test_an_unknown_lesson_is_one_sentence_and_the_old_address_of_the_lecture_leads_to_the_lessons():
    assert "one-bit" in opened("learn", lesson="one-bits").error[0].value
    assert accepted("learn", lecture="true").title[0].value == "Learn"
