"""What the figure of a step shows after its question: the case that was asked, and so the answer."""

import re

import numpy as np
import pytest

from lrlab import lessons

QUESTIONS = [
    pytest.param(step, id=f"{name}-{k}")
    for name, lesson in lessons.lessons().items()
    for k, step in enumerate(lesson.steps, 1)
    if step.question
]


def read(figure, at, of):
    """Return a number as people read it off the figure at a position of its slider, from what is drawn alone."""
    drawn = figure.module.draw(figure, at)
    return READERS[figure.kind]({one.name: one for one in drawn.data if one.name}, drawn.layout, at, of)


def at_slider(traces, layout, at, of):
    """Read the mark of a series, or the line of theory, at the position of the slider."""
    one = traces[label(traces, of)]
    return float(np.interp(at, *(np.asarray(side, dtype=float) for side in (one.x, one.y))))


def label(traces, of):
    """Return the name of the series, or line, that a number of a step is of."""
    return next(name for name in traces if name == of or name.startswith(f"{of},"))


def last_iterate(traces, layout, at, of):
    """Read where a curve ends."""
    return float(np.asarray(traces[of].y, dtype=float)[-1])


def successes(traces, layout, at, of):
    """Count the marks below the line of success."""
    [level] = [one.y[0] for name, one in traces.items() if name.startswith("success")]
    return float(np.sum(np.asarray(traces[of].y, dtype=float) < level))


def spectrum(traces, layout, at, of):
    """Read how far the largest eigenvalue lies beyond the edge, or the overlap that is written above."""
    if of == "gap":
        return float(traces["largest eigenvalue"].x[0] - traces["edge, predicted"].x[0])
    return written(layout, "squared overlap")


def error(traces, layout, at, of):
    """Read the error above a picture."""
    return written(layout, of)


def written(layout, words):
    """Return the number at the end of a text with these words."""
    [text] = [note.text for note in layout["annotations"] if words in note.text]
    return float(re.search(r"[\d.]+$", text)[0])


READERS = {
    "scores": at_slider,
    "counts": at_slider,
    "runs": last_iterate,
    "outcomes": successes,
    "histogram": spectrum,
    "pictures": error,
}


@pytest.mark.slow
@pytest.mark.parametrize("step", QUESTIONS)
def test_the_figure_shows_the_answer(step):
    of, at = step.numbers["answer"]
    assert at == step.start
    shown, answer = read(step.figure, at, of), step.number("answer")
    assert shown == pytest.approx(answer, rel=6e-3, abs=1e-12)
    assert step.question.right(shown) == step.question.right(answer) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("step", QUESTIONS)
def test_before_the_answer_something_else_is_shown(step):
    of, at = step.numbers["answer"]
    drawn = step.before.module.draw(step.before, step.figure.slider.before, alone=True)
    assert any(one.x is not None or one.z is not None for one in drawn.data), "the figure is empty"
    # Another case, or the same one without the series in question.
    assert step.figure.slider.before != at or of not in [one.name for one in drawn.data]


@pytest.mark.parametrize("step", QUESTIONS)
def test_every_wrong_choice_is_answered_by_a_reason(step):
    right = step.question.right(step.number("answer"))
    assert [bool(choice.why) for choice in step.question.choices] == [
        k != right for k in range(len(step.question.choices))
    ]
