"""A class at one server: everybody loads *converge*, presses Run and follows, and some touch a widget meanwhile."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.load.visitor import Visitor

MOST_SESSIONS = 200
MOST_SECONDS = 300.0
TOUCH_SECONDS = 1.0
"""How long after Run a widget is touched, and how long after its answer again."""
TOUCHES = 3


@dataclass
class Outcome:
    """Seconds that each session waited from Run to its first iterate and its end, and for answers of widgets."""

    sessions: int
    first: list[float] = field(default_factory=list)
    over: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    bytes: int = 0

    def __str__(self) -> str:
        """Return it in one line."""
        words = f"{len(self.over)} of {self.sessions} finish"
        for name, values in (("loaded", self.loaded), ("first iterate", self.first), ("end", self.over)):
            if values:
                words += f"; {name} median {statistics.median(values):.2f} s, slowest {max(values):.2f} s"
        if self.answers:
            words += f"; {len(self.answers)} touches: median {statistics.median(self.answers):.3f} s, "
            words += f"worst {max(self.answers):.2f} s"
        return f"{words}; {self.bytes / 1e6:.1f} MB sent"


async def attend(
    address: str,
    sessions: int,
    *,
    seconds: float = 60.0,
    seeds: Sequence[int] = (),
    query: str = "solvers=pairwise-moment",
    touching: int = 0,
    stay: float = 0.0,
) -> Outcome:
    """Let sessions load the page one after the other, press Run together, and follow their runs.

    seeds: one per session; if empty, all sessions run the same job. touching: number of sessions that change a widget
    meanwhile. stay: seconds until the tabs close.
    """
    assert sessions <= MOST_SESSIONS and seconds <= MOST_SECONDS
    outcome, visitors = Outcome(sessions), list[Visitor]()
    for k in range(sessions):
        seed = f"&seed={seeds[k]}" if seeds else ""
        visitors.append(Visitor(address, query=query + seed))
        began = time.monotonic()
        await visitors[-1].open()
        outcome.loaded.append(time.monotonic() - began)
    await asyncio.gather(*(_run(visitor, k < touching, seconds, outcome) for k, visitor in enumerate(visitors)))
    await asyncio.sleep(stay)
    outcome.bytes = sum(visitor.bytes for visitor in visitors)
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return outcome


async def _run(visitor: Visitor, touches: bool, seconds: float, outcome: Outcome) -> None:
    pressed = time.monotonic()
    await visitor.press("converge-run")
    toucher = asyncio.create_task(_touch(visitor, outcome)) if touches else None
    try:
        await visitor.until(lambda: visitor.over_at, seconds)
    except TimeoutError:
        outcome.stuck.append(f"{visitor.cards.partition('</style>')[2][:300]} {list(visitor.texts.values())[-3:]}")
        if toucher:
            toucher.cancel()
    else:
        outcome.over.append(visitor.over_at - pressed)
    if visitor.first_at:
        outcome.first.append(visitor.first_at - pressed)
    if toucher:
        await asyncio.gather(toucher, return_exceptions=True)


async def _touch(visitor: Visitor, outcome: Outcome) -> None:
    for k in range(TOUCHES):
        await asyncio.sleep(TOUCH_SECONDS)
        outcome.answers.append(await visitor.touch("one-bit-sensing.n", 2001 + k))
