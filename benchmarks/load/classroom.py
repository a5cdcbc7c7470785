"""Classes at one server: visitors who run and touch a widget, who follow long runs, drag a slider, or predict.

Each function returns the seconds that visitors waited, or rates per second, by what they are about.
"""

import asyncio
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from benchmarks.load.visitor import Visitor

Measured = dict[str, list[float]]
MOST_SESSIONS = 200
TOUCHES = 2
LONG = "solvers=pairwise-moment&tol=0&max_iter=1000000&max_seconds=0.2"
"""A run of thousands of iterates, some seconds with their scores."""
SLIDER, POSITIONS_PER_SECOND, DRAG_SECONDS = "one-bit-sensing.n.slider", 30.0, 4.0
SHORTEST_SECONDS = 0.5
COUNT = re.compile(r"<strong>(\d+)</strong> of (\d+)")


@asynccontextmanager
async def visiting(address: str, sessions: int, query: str, first: int) -> AsyncIterator[list[Visitor]]:
    """Open *Run* in so many tabs, each with a seed of its own, and close them."""
    assert sessions <= MOST_SESSIONS
    visitors = [Visitor(address, query=f"{query}&seed={first + k}") for k in range(sessions)]
    for visitor in visitors:
        await visitor.open()
    yield visitors
    await asyncio.gather(*(visitor.close() for visitor in visitors))


async def attend(address: str, sessions: int, first: int = 1000, touching: int = 10) -> Measured:
    """Let visitors press Run together and follow it, while some change n."""
    waited: Measured = defaultdict(list)

    async def run(visitor: Visitor, touches: int) -> None:
        pressed = time.monotonic()
        await visitor.press("converge-run")
        for k in range(touches):
            waited["answer to a change"].append(await visitor.touch("one-bit-sensing.n", 2001 + k))
        await visitor.until(lambda: visitor.over_at)
        waited["first iterate"].append(visitor.first_at - pressed)
        waited["end"].append(visitor.over_at - pressed)

    async with visiting(address, sessions, "solvers=pairwise-moment", first) as visitors:
        await asyncio.gather(*(run(visitor, TOUCHES * (k < touching)) for k, visitor in enumerate(visitors)))
    return waited


async def follow(address: str, sessions: int) -> Measured:
    """Let visitors run something long at once; count the updates of each from its first iterate on."""
    rates: Measured = defaultdict(list)

    async def run(visitor: Visitor) -> None:
        await visitor.press("converge-run")
        await visitor.until(lambda: visitor.over_at)
        since = [at for times in visitor.live.arrived.values() for at in times if at >= visitor.first_at > 0.0]
        # A short run has updates, but no rate of them.
        if since and (lasted := max(since) - visitor.first_at) > SHORTEST_SECONDS:
            rates["updates per second"].append(len(since) / lasted)

    async with visiting(address, sessions, LONG, 3000) as visitors:
        await asyncio.gather(*map(run, visitors))
    return rates


async def drag(address: str, sessions: int) -> Measured:
    """Let visitors drag the slider of n at once, there and back again; count the answers of each."""
    rates: Measured = defaultdict(list)

    async def move(visitor: Visitor) -> None:
        (slider,) = [data for key, data in visitor.sliders.items() if key.endswith(SLIDER)]
        texts, stream, began = json.loads(slider["texts"]), slider["stream"], time.monotonic()
        for k in range(int(DRAG_SECONDS * POSITIONS_PER_SECOND)):
            position = abs((k + len(texts)) % (2 * len(texts) - 2) - len(texts) + 1)
            await visitor.live.drag(stream, position)
            await asyncio.sleep(max(0.0, began + (k + 1) / POSITIONS_PER_SECOND - time.monotonic()))
        rested, words = time.monotonic(), f"{int(texts[position]):,} bits"
        answers = sum(at < rested for at in visitor.live.arrived.get(stream, []))
        rates["answers per second to a slider"].append(answers / (rested - began))
        await visitor.until(lambda: words in visitor.texts["converge.measured.words"])
        rates["last answer to a slider"].append(time.monotonic() - rested)

    async with visiting(address, sessions, "solvers=pairwise-moment", 4000) as visitors:
        await asyncio.gather(*map(move, visitors))
    return rates


async def predict(address: str, students: int, rounds: int = 2) -> Measured:
    """Let a teacher open a class, and students all predict at once in each round and see the answer."""
    waited: Measured = defaultdict(list)
    start = Visitor(address, page="learn", query="lesson=one-bit&step=2", cookie=f"lrlab={'0123456789abcdef' * 2}")
    await start.open()
    await start.press("class-open")
    await start.until(lambda: start.goes_to)
    query = urlsplit(start.goes_to).query
    teacher = Visitor(address, page="class", query=query, cookie=start.cookie)
    visitors = [Visitor(address, page="class", query=query.partition("&")[0]) for _ in range(students)]
    for visitor in (teacher, *visitors):
        await visitor.open()
    for number in range(rounds):
        pressed = time.monotonic()
        choices = (visitor.press(f"class-choice-{number}-{k % 3}") for k, visitor in enumerate(visitors))
        watching = asyncio.create_task(teacher.until(lambda: counted(teacher) == students))
        await asyncio.gather(*choices)
        await watching
        waited["all predictions on the teacher's screen"].append(time.monotonic() - pressed)
        pressed = time.monotonic()
        await teacher.press("class-step")
        for visitor in (*visitors, teacher):
            await visitor.until(lambda: visitor.shows("Right is: "))  # noqa: B023
            waited["answer on a screen"].append(time.monotonic() - pressed)
            visitor.texts.clear()
        # The button comes after the words, and disappears for a moment while the page is drawn again.
        await teacher.until(lambda: any(name.endswith("class-again") for name in teacher.buttons))
        await teacher.press("class-again")
        last = f"class-choice-{number + 1}-2"
        for visitor in visitors:
            await visitor.until(lambda: any(key.endswith(last) for key in visitor.buttons))  # noqa: B023
    await asyncio.gather(*(one.close() for one in (start, teacher, *visitors)))
    return waited


def counted(teacher: Visitor) -> int:
    """Return how many predictions the teacher's screen shows."""
    match = COUNT.search(teacher.texts.get("class.count", ""))
    return int(match[1]) if match else 0
