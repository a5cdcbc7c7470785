"""Live updates that a class gets from one server: of runs that take seconds, and for dragged sliders."""

import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.load.visitor import Visitor

LONG = "solvers=pairwise-moment&tol=0&max_iter=1000000&max_seconds=0.2"
"""A run of thousands of iterates, some seconds with their scores."""
SLIDER, POSITIONS_A_SECOND, DRAG_SECONDS, LAST_SECONDS = "one-bit-sensing.n.slider", 30.0, 4.0, 10.0
SHORTEST_SECONDS = 0.5


@dataclass
class Rates:
    """Updates or answers a second that each tab saw, and how many of the tabs ended right."""

    tabs: int
    each: list[float] = field(default_factory=list)
    right: int = 0
    last: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        """Return it in one line."""
        words = f"a second: least {min(self.each):.1f}, median {statistics.median(self.each):.1f}"
        late = f"; the last answer after {max(self.last):.2f} s" if self.last else ""
        return f"{words}; {self.right} of {self.tabs} end right{late}"


async def _class(address: str, sessions: int, query: str, seeds: Sequence[int]) -> list[Visitor]:
    visitors = [Visitor(address, query=f"{query}&seed={seeds[k] if seeds else k}") for k in range(sessions)]
    for visitor in visitors:
        await visitor.open()
    return visitors


async def watch(address: str, sessions: int, seeds: Sequence[int] = ()) -> Rates:
    """Let so many sessions run something of seconds at once; count the updates of each from its first iterate on."""
    visitors, rates = await _class(address, sessions, LONG, seeds), Rates(sessions)

    async def run(visitor: Visitor) -> None:
        await visitor.press("converge-run")
        await visitor.until(lambda: visitor.over_at, 240.0)
        since = [at for times in visitor.live.arrived.values() for at in times if at >= visitor.first_at]
        # A run that is over at once has updates, and no rate of them; the last one says that it is over.
        if since and (lasted := max(since) - visitor.first_at) > SHORTEST_SECONDS:
            rates.each.append(len(since) / lasted)
        rates.right += "Running." not in visitor.cards

    await asyncio.gather(*(run(visitor) for visitor in visitors))
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return rates


async def drag(address: str, sessions: int, seeds: Sequence[int] = ()) -> Rates:
    """Let so many sessions drag the slider of n at once, there and back again; count the answers of each."""
    visitors, rates = await _class(address, sessions, "solvers=pairwise-moment", seeds), Rates(sessions)

    async def move(visitor: Visitor) -> None:
        (slider,) = [data for key, data in visitor.sliders.items() if key.endswith(SLIDER)]
        texts, stream, began = json.loads(slider["texts"]), slider["stream"], time.monotonic()
        count = int(DRAG_SECONDS * POSITIONS_A_SECOND)
        for k in range(count):
            position = abs((k + len(texts)) % (2 * len(texts) - 2) - len(texts) + 1)
            await visitor.live.drag(stream, position)
            await asyncio.sleep(max(0.0, began + (k + 1) / POSITIONS_A_SECOND - time.monotonic()))
        rested, words = time.monotonic(), f"{int(texts[position]):,} bits"
        rates.each.append(sum(at < rested for at in visitor.live.arrived.get(stream, [])) / (rested - began))
        try:
            await visitor.until(lambda: words in visitor.texts["converge.measured.words"], LAST_SECONDS)
        except TimeoutError:
            return
        rates.last.append(time.monotonic() - rested)
        rates.right += 1

    await asyncio.gather(*(move(visitor) for visitor in visitors))
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    return rates
