"""Classes of this server: their questions and predictions. The server keeps these in memory, without names.

A prediction is the number of an option, 0, 1, ..., or a line (`drawing`); workers compute the truth once all have
predicted.
"""

import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import streamlit as st

from lrlab import catalog, lessons
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.figures.numbers import rounded
from lrlab.lessons import Question, Step
from lrlab.models.axes import axes, first_range, is_whole, place
from lrlab.parameters import InputError, Value, display_name
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_trial
from lrlab.sweeps.definition import Span
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets.controls import Axis, spaced
from lrlab.ui.widgets.text import show_error

TRIALS, POSITIONS = 10, 13
"""At each position of an axis; positions of an axis."""
AXES = ("per-freedom", "ratio", "m", "n", "masks", "observed")
"""The first of these that a model has is the axis of its place."""
PAGE = "class"
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of a code: no I and O, which look like digits."""
MOST_ROOMS = 50
IDLE_SECONDS = 1800.0
"""After how long without anybody a class is over."""
OPEN, RUNNING, SHOWN = "open", "running", "shown"
"""A round: the class predicts; the truth is computed; it is shown."""


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


class Round:
    """One question to a class, with the prediction of each browser: the number of an option, or a drawing."""

    def __init__(self, poll: Poll) -> None:
        self.poll, self.answers = poll, dict[str, Any]()
        self.computed: Results | None = None

    @property
    def counts(self) -> list[int]:
        """How many have chosen each option."""
        chosen = list(self.answers.values())
        return [chosen.count(k) for k in range(len(self.poll.options))]

    @property
    def truth(self) -> Truth | None:
        """The knowledge about the right answer; None while the class predicts."""
        return None if self.computed is None else self.poll.truth(self.computed, [*self.answers.values()])

    @property
    def state(self) -> str:
        """OPEN, RUNNING or SHOWN."""
        return OPEN if self.computed is None else RUNNING if self.computed.alive else SHOWN


class Room:
    """A class. owner: the browser of its teacher; rounds: the last one is the present one; stage: grows with each step.

    members: the browsers of students. over: whether the teacher has ended it.
    """

    def __init__(self, code: str, owner: str, title: str, polls: Sequence[Poll]) -> None:
        self.code, self.owner, self.title, self.polls = code, owner, title, polls
        self.at, self.stage, self.changes, self.over = 0, 0, 0, False
        self.rounds, self.members = [Round(polls[0])], set[str]()
        self.used_at = time.monotonic()
        self._lock = threading.RLock()

    @property
    def round(self) -> Round:
        """The present round."""
        return self.rounds[-1]

    def join(self, member: str) -> None:
        """Count a student."""
        with self._lock:
            self.changes += member not in self.members
            self.members.add(member)

    def answer(self, number: int, member: str, prediction: Any) -> None:
        """Take the prediction of a student in a round (0, 1, ...), which replaces the previous one, until it closes."""
        with self._lock:
            if number == len(self.rounds) - 1 and self.round.state == OPEN and not self.over:
                self.round.answers[member] = prediction
                self.changes += 1

    def reveal(self) -> None:
        """End the predictions, and have the truth computed; InputError if lrlab reaches no worker."""
        # Not under the lock: otherwise all subscriptions would wait until there are workers.
        number, computed = len(self.rounds), self.round.poll.begin()
        with self._lock:
            if number == len(self.rounds) and self.round.state == OPEN:
                self.round.computed = computed
                self.stage += 1
                return
        computed.cancel()

    def ask(self, step: int) -> None:
        """Begin a round: step 0 asks once more, 1 goes to the next question."""
        with self._lock:
            self.at = (self.at + step) % len(self.polls)
            self.rounds.append(Round(self.polls[self.at]))
            self.stage += 1

    def end(self) -> None:
        """End the class: nothing of it is kept."""
        with self._lock:
            if self.round.computed is not None:
                self.round.computed.cancel()
            self.over = True
            self.stage += 1
        _rooms.pop(self.code, None)

    def refresh(self) -> None:
        """Read what the workers have computed."""
        with self._lock:
            self.used_at = time.monotonic()
            if self.round.computed is not None and self.round.computed.alive:
                self.round.computed.refresh()
                self.stage += not self.round.computed.alive

    @property
    def rows(self) -> list[dict[str, object]]:
        """The predictions of all rounds, a row for each option, or for each column of a drawing."""
        return [
            {"round": number, "question": one.poll.title, **row}
            for number, one in enumerate(self.rounds, 1)
            for row in one.poll.rows([*one.answers.values()], one.computed)
        ]


class Present:
    """A tab's view of a class until the next step; then Streamlit renders the page again."""

    def __init__(self, room: Room) -> None:
        self.room, self.stage = room, room.stage

    @property
    def alive(self) -> bool:
        """Whether the class is still at this step."""
        return self.room.stage == self.stage and not self.room.over

    @property
    def version(self) -> object:
        """Differs if a prediction or a result has come."""
        computed = self.room.round.computed
        return self.room.changes, computed and computed.version

    def refresh(self) -> None:
        """Read what the workers have computed."""
        self.room.refresh()

    def cancel(self) -> None:
        """Do nothing: the class goes on without this tab."""


_rooms: dict[str, Room] = {}
_lock = threading.Lock()


def open_room(owner: str, title: str, polls: Sequence[Poll]) -> Room:
    """Return a new class of a browser, which replaces the previous one; InputError if there are too many."""
    with _lock:
        for room in list(_rooms.values()):
            if room.owner == owner or time.monotonic() > room.used_at + IDLE_SECONDS:
                room.over = True
                del _rooms[room.code]
        if len(_rooms) >= MOST_ROOMS:
            raise InputError("classes", f"fewer than {MOST_ROOMS} on this server", len(_rooms), "wait until one ends")
        code = ""
        while not code or code in _rooms:
            code = "".join(secrets.choice(LETTERS) for _ in range(5))
        _rooms[code] = room = Room(code, owner, title, polls)
        return room


def find(code: str) -> Room | None:
    """Return the class of a code, None if there is none."""
    with _lock:
        return _rooms.get(code.strip().upper())


def offer(title: str, polls: Callable[[], Sequence[Poll]], *, disabled: bool = False) -> None:
    """Show the button that opens a class with its question."""
    about = (title, polls)
    st.button("Poll the class", "class-open", on_click=_open, args=about, type="tertiary", disabled=disabled)


def _open(title: str, polls: Callable[[], Sequence[Poll]]) -> None:
    try:
        room = open_room(live.browser_key(), title, polls())
    except InputError as error:
        show_error(error)
        return
    st.session_state["class:from"] = str(st.session_state["page"]), st.query_params.to_dict()
    live.go(PAGE, {"code": room.code, "teacher": "true"})
