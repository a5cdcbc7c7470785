"""Says which work is sent the next task.

Followed jobs come first, and of several works the one with the fewest tasks under way. Followed jobs leave one worker
to a sweep that waits. The embedded engine has spare workers beyond the cores: one for followed jobs alone, the others
for work that has no task under way, so that nobody waits for the end of another's long items. Of people who follow jobs
one more than cores begins within some seconds, at most: of more at a time each would come so seldom to a core that no
curve grows smoothly, and short ones would not end sooner.
"""

from collections.abc import Sequence
from typing import Any

from lrlab.engine.work import Work

SHORT_SECONDS = 5.0
"""For how long others wait for jobs that may be over by then."""


def next_work(works: Sequence[Work[Any]], workers: int, spare: int, now: float) -> Work[Any] | None:
    """Return the work that has something to send and may have one more worker now; spare: workers beyond the cores."""
    waiting = [work for work in works if work.waiting]
    followed = [work for work in waiting if work.urgent]
    mapped = _may_be_mapped([work for work in waiting if not work.urgent], works, workers, spare)
    begun = sum(work.urgent and work.running > 0 and now < work.last_sent_at + SHORT_SECONDS for work in works)
    if not followed or (spare and begun > max(workers - spare, 0)):
        waiting = mapped
    elif not mapped:
        waiting = followed
    else:
        under_way = sum(work.running for work in works if work.urgent)
        last_was_followed = max(works, key=lambda work: work.last_sent_at).urgent
        shared = under_way < workers - 1 or (workers == 1 and not last_was_followed)
        waiting = followed if shared else mapped
    return min(waiting, key=turn, default=None)


def turn(work: Work[Any]) -> tuple[int, float]:
    """Return a key that orders works of one kind by their turns."""
    return work.running, work.last_sent_at


def _may_be_mapped(mapped: list[Work[Any]], works: Sequence[Work[Any]], workers: int, spare: int) -> list[Work[Any]]:
    """Return the works of items, of those that wait, that may have one more worker now."""
    under_way = sum(work.running for work in works if not work.urgent)
    if not spare or under_way < workers - spare:
        return mapped
    return [work for work in mapped if not work.running] if under_way < workers - 1 else []
