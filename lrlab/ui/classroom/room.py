"""Classes of this server: who has predicted what in each round. The server keeps them only in memory, without names."""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from lrlab.engine.results import Results
from lrlab.parameters import InputError
from lrlab.ui.classroom.polls import Poll, Truth
from lrlab.ui.shared import live
from lrlab.ui.widgets.text import show_error

PAGE = "class"
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of a code: no I and O, which look like digits."""
MOST_ROOMS = 50
IDLE_SECONDS = 1800.0
"""After how long without anybody a class is over."""
OPEN, RUNNING, SHOWN = "open", "running", "shown"
"""A round: the class predicts; the truth is computed; it is shown."""


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
        code = next(code for code in iter(_new_code, "") if code not in _rooms)
        _rooms[code] = room = Room(code, owner, title, polls)
        return room


def _new_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(5))


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
