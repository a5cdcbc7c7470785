"""Predictions of a class: the answer to a lesson's question, or the point of an axis that begins recovery.

A prediction is the number of an option, 0, 1, ..., or a line (`drawing`); workers compute the truth once all have
predicted.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from lrlab import catalog, lessons
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Question, Step
from lrlab.models.axes import axes, first_range, is_whole, place
from lrlab.parameters import InputError, Value, display_name
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_trial
from lrlab.sweeps.definition import Span
from lrlab.ui.shared import progress
from lrlab.ui.widgets.axis import Axis, spaced

TRIALS, POSITIONS = 10, 13
"""At each position of an axis; positions of an axis."""
AXES = ("per-freedom", "ratio", "m", "n", "masks", "observed")
"""The first of these that a model has is the axis of its place."""


class Truth(NamedTuple):
    """The knowledge about the right answer so far: the right option or -1, words, and success rates.

    shares: by the numbers of the options that have trials.
    """

    right: int
    words: str
    shares: Mapping[int, float]


class Poll(Protocol):
    """Something to predict. axis: the title of the options; "" if they aren't points of an axis."""

    title: str
    text: str
    options: list[str]
    axis: str

    def begin(self) -> Results:
        """Have the workers compute the truth."""

    def truth(self, computed: Results, answers: Collection[Any] = ()) -> Truth:
        """Return the knowledge about it so far; its words may compare the predictions with it."""

    def rows(self, answers: Collection[Any], computed: Results | None) -> list[dict[str, object]]:
        """Return the predictions of a round as rows of a table, by default the count of each option."""
        chosen, right = list(answers), -1 if computed is None else self.truth(computed).right
        options = enumerate(self.options)
        return [{"option": text, "predictions": chosen.count(k), "right": int(k == right)} for k, text in options]


class LessonPoll(Poll):
    """The question of a step (0, 1, ...) of a lesson."""

    def __init__(self, lesson: str, step: int) -> None:
        self.lesson, self.number = lesson, step
        self.step: Step = lessons.load(lesson).steps[step]
        assert self.step.question
        self.question: Question = self.step.question
        self.title, self.text, self.axis = self.step.title, self.step.filled(self.question.text), ""
        self.options = [choice.text for choice in self.question.choices]

    def begin(self) -> Results:  # noqa: D102
        return on_workers(answer, [(self.lesson, self.number)])

    def truth(self, computed: Results, answers: Collection[Any] = ()) -> Truth:  # noqa: ARG002, D102
        number = progress.computed(computed).get(0)
        if number is None:
            return Truth(-1, "", {})
        right = self.question.right(number)
        return Truth(right, f"Computed: {rounded(number)}. Right is: {self.options[right]}.", {})


def answer(question: tuple[str, int]) -> float:
    """Return the number that decides which choice is right, of a lesson and a step."""
    lesson, step = question
    return lessons.load(lesson).steps[step].number("answer")


class PlacePoll(Poll):
    """The first point of an axis with a success rate of 50%."""

    def __init__(self, job: Job) -> None:
        """Take the axis of the job's model; InputError if its family has no rule of success."""
        self._axis = axis_of(job.spec.model)
        self.rule = rule = catalog.family(job.spec.model).goal.rule(float(getattr(job.spec, "noise", 0.0)))
        self.title, self.axis = f"Where does {job.entry.title} begin to recover?", self._axis.title
        side = "below" if rule.below is not None else "above"
        self.text = (
            f"A trial succeeds when its {display_name(rule.metric)} ends {side} {rule.level:g}. "
            f"From which point on is the success rate 50%? Place it on the axis: {self.axis}."
        )
        self.options = [f"{value:,g}" for value in self._axis.values]
        settings: dict[str, Value] = {**dict(job.options), **job.limits._asdict()}
        places = [place(job.spec, self._axis.name, value) for value in self._axis.values]
        jobs = [make_job(spec, job.solver, **settings) for spec in places]
        # All positions have their first trials before any has its last.
        self.trials = [Trial(one, number) for number in range(TRIALS) for one in jobs]

    def begin(self) -> Results:  # noqa: D102
        return on_workers(run_trial, self.trials)

    def truth(self, computed: Results, answers: Collection[Any] = ()) -> Truth:  # noqa: ARG002, D102
        values: dict[int, list[float]] = {}
        for number, result in progress.computed(computed).items():
            score = result.scores.get(self.rule.metric, float("nan"))
            values.setdefault(number % len(self.options), []).append(score)
        shares = {at: float(self.rule.reached(several).mean()) for at, several in sorted(values.items())}
        if computed.alive:
            return Truth(-1, "", shares)
        right = next((at for at, share in shares.items() if share >= 0.5), -1)
        words = f"The success rate is at least 50% from {self.options[right]} on." if right >= 0 else ""
        return Truth(right, words or "The success rate stays below 50% on this axis.", shares)


def axis_of(model: str) -> Axis:
    """Return the axis along which measurements are added, with its values; InputError if a model has none."""
    entry, known = catalog.model_entry(model), axes(catalog.MODELS[model])
    name = next((name for name in AXES if name in known), None)
    if name is None:
        raise InputError("model", "one whose number of measurements can be varied", model, "take another model")
    low, high, scale = first_range(entry, name)
    whole = is_whole(entry.spec, name)
    values = spaced(Span(low, high, POSITIONS, scale), name, whole=whole)
    return Axis(name, known[name], tuple(sorted({float(f"{value:.2g}") for value in values})), scale, name, whole)


def of_lesson(lesson: str, step: int) -> list[Poll]:
    """Return the questions of a lesson, beginning with a step."""
    steps = lessons.load(lesson).steps
    numbers = [k for k, one in enumerate(steps) if one.question]
    return [LessonPoll(lesson, k) for k in sorted(numbers, key=lambda k: (k < step, k))]


def of_jobs(jobs: Sequence[Any]) -> list[Poll]:
    """Return the first point of recovery of each job."""
    return [PlacePoll(job) for job in jobs]
