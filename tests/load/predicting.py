"""A class that predicts at one server: a teacher, and students who all choose at once, for some rounds."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.load.visitor import Visitor

QUESTION = "lesson=one-bit&step=2"
COUNT = re.compile(r"<strong>(\d+)</strong> of (\d+)")


@dataclass
class Predicted:
    """What came of a class. counted: seconds from each choice until the teacher's screen shows it; right: who saw it.

    answered: seconds from the teacher's press until a student's screen shows the truth.
    """

    students: int
    counted: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    right: int = 0

    def __str__(self) -> str:
        """Return it in one line."""
        return (
            f"{len(self.counted)} predictions of {self.students} students are on the teacher's screen, the last after "
            f"{max(self.counted):.2f} s; {self.right} screens show the truth, the last after {max(self.answered):.2f} s"
        )


def shown(visitor: Visitor, words: str) -> bool:
    """Return whether a visitor sees some words."""
    return any(words in text for text in visitor.texts.values())


def counted(teacher: Visitor) -> int:
    """Return how many predictions the teacher's screen shows."""
    match = COUNT.search(teacher.texts.get("class.count", ""))
    return int(match[1]) if match else 0


async def predict(address: str, students: int, rounds: int = 2) -> Predicted:
    """Let a teacher open a class, and so many students predict, in each round all at once; then show the truth."""
    start, outcome = Visitor(address, page="learn", query=QUESTION), Predicted(students)
    start.cookie = f"lrlab={'0123456789abcdef' * 2}"
    await start.open()
    await start.press("class-open")
    await start.until(lambda: start.goes_to)
    query = urlsplit(start.goes_to).query
    teacher = Visitor(address, page="class", query=query, cookie=start.cookie)
    await teacher.open()
    visitors = [Visitor(address, page="class", query=query.partition("&")[0]) for _ in range(students)]
    for visitor in visitors:
        await visitor.open()
    for number in range(rounds):
        pressed = time.monotonic()
        choices = (visitor.press(f"class-choice-{number}-{k % 3}") for k, visitor in enumerate(visitors))
        watching = asyncio.create_task(_count(teacher, students, pressed, outcome))
        await asyncio.gather(*choices)
        await watching
        pressed = time.monotonic()
        await teacher.press("class-step")
        for visitor in visitors:
            await visitor.until(lambda: shown(visitor, "Right is: "))  # noqa: B023
            outcome.answered.append(time.monotonic() - pressed)
        outcome.right += sum(shown(one, "Right is: ") for one in visitors)
        await teacher.until(lambda: shown(teacher, "Right is: "))
        for visitor in (teacher, *visitors):
            visitor.texts.clear()
        # The button comes after the words, and disappears for a moment while the page is drawn again.
        await teacher.until(lambda: any(name.endswith("class-again") for name in teacher.buttons))
        await teacher.press("class-again")
        last = f"class-choice-{number + 1}-2"
        for visitor in visitors:
            await visitor.until(lambda: any(key.endswith(last) for key in visitor.buttons))  # noqa: B023
    await asyncio.gather(*(one.close() for one in (start, teacher, *visitors)))
    return outcome


async def _count(teacher: Visitor, students: int, pressed: float, outcome: Predicted) -> None:
    known = 0
    while known < students:
        await teacher.until(lambda: counted(teacher) > known)  # noqa: B023
        now, before, known = time.monotonic(), known, counted(teacher)
        outcome.counted += [now - pressed] * (known - before)
