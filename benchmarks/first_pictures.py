"""Measures the first pictures of theorems: all of a quick run, at the stored position of its slider and at every other.

    python -m benchmarks.first_pictures [NAME ...] [--write]

Seconds are processor time of one process on one thread, planning and drawing with it; a server has a worker a core. As
machines differ, they stand also as multiples of what a loop of plain Python takes there (ten million squares added up).
Beside them the claims that the quick run decides. `--write` puts the table into benchmarks/RESULTS.md.
"""

import argparse
import time

from threadpoolctl import threadpool_limits

from benchmarks.peers.report import write_section
from lrlab import presets
from lrlab.engine.messages import Failure
from lrlab.presets.moved import start, values
from lrlab.presets.result import UNDECIDED

TITLE = "First pictures of theorems"
USUAL_SECONDS = 0.55
"""What the loop takes on the machine of the other sections."""
GOAL_SECONDS = 2.0
COLUMNS = (
    "| theorem | runs | stored position, s | scaled | slowest other position | s | scaled | claims decided |\n"
    "|---|---|---|---|---|---|---|---|"
)


def loop_seconds() -> float:
    """Return what the loop takes."""
    began = time.process_time()
    sum(i * i for i in range(10_000_000))
    return time.process_time() - began


def first_picture(name: str, at: float | None) -> tuple[int, float, str]:
    """Return the runs of a quick run, its seconds, and how many of its claims are decided."""
    began = time.process_time()
    plan = presets.plan(presets.load(name, True, at))
    results = [plan.function(item) for item in plan.items]
    assert not any(isinstance(one, Failure) for one in results)
    judged = [verdict for panel in plan.finish(results).panels for verdict in panel.judged]
    seconds = time.process_time() - began
    return len(plan.items), seconds, f"{sum(one.word != UNDECIDED for one in judged)} of {len(judged)}"


def row(name: str) -> str:
    """Return the line of a theorem in the table."""
    preset = presets.load(name)
    scale = USUAL_SECONDS / loop_seconds()
    runs, seconds, decided = first_picture(name, None)
    others = {at: first_picture(name, at)[1] for at in values(preset) if at != start(preset)}
    at = max(others, key=lambda one: others[one])
    where = f"{preset.content['slider']['name']} = {at:g}"
    times = [f"{value:.2f}" for value in (seconds, scale * seconds, others[at], scale * others[at])]
    mark = " **over**" if scale * max(seconds, others[at]) > GOAL_SECONDS else ""
    return f"| `{name}`{mark} | {runs} | {times[0]} | {times[1]} | {where} | {times[2]} | {times[3]} | {decided} |"


def main(names: list[str], write: bool) -> None:
    """Print the table, and write it if asked."""
    theorems = [name for name in presets.names() if presets.load(name).is_theorem]
    with threadpool_limits(1):
        # Libraries are loaded before the first figure is timed, as on a server.
        first_picture("jain2013-claim3", None)
        loop = loop_seconds()
        print(f"loop: {loop:.2f} s\n{COLUMNS}", flush=True)
        rows = list[str]()
        for name in names or theorems:
            rows.append(row(name))
            print(rows[-1], flush=True)
    if write:
        text = (
            "`python -m benchmarks.first_pictures --write`: processor time of all of a quick run, on one"
            " thread of one process (a server has a worker a core), raw, and scaled to a machine on which ten million"
            f" squares are added up in {USUAL_SECONDS} s; here that took {loop:.2f} s, and is timed again before each"
            f" line. Scaled, none may take more than {GOAL_SECONDS:g} s. At its stored position a page shows the full"
            f" result, at once.\n\n{COLUMNS}\n" + "\n".join(rows)
        )
        write_section(TITLE, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    main(given.names, given.write)
