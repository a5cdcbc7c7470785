"""What the engine costs: start, first iterate, trials against this process, cancelling, thirty runs at once.

python benchmarks/engine.py [ADDRESS]
"""

import statistics
import sys
import time
from collections.abc import Callable

import psutil

import lrlab
from lrlab.engine.engine import Engine
from lrlab.engine.live import LiveRuns
from lrlab.engine.results import LocalResults, collect
from lrlab.runs.job import Job, make_job
from lrlab.runs.trial import Trial, run_trial

SPEC = lrlab.spec("one-bit-sensing", n=3000, p=20)


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def job(seed: int = 0, **settings: object) -> Job:
    """Return Algorithm 1 at n = 3000, p = 20."""
    return make_job(SPEC.replace(seed=seed), "pairwise-moment", **settings)


def first_iterate(engine: Engine, run: Job) -> float:
    """Return the time from the call to the first row that `refresh` shows."""
    started = time.perf_counter()
    following = engine.follow([run])
    wait_for_rows(following)
    passed = time.perf_counter() - started
    following.cancel()
    following.wait()
    return passed


def wait_for_rows(following: LiveRuns) -> None:
    """Refresh until there is a row."""
    while not following.runs[0].trace.rows and following.alive:
        time.sleep(0.001)
        following.refresh()


def cancelling(engine: Engine) -> float:
    """Return how long two runs take to end once they are cancelled."""
    following = engine.follow([job(k, tol=0, max_iter=1_000_000) for k in range(2)])
    wait_for_rows(following)
    return seconds(lambda: (following.cancel(), following.wait()))


def cancelling_sleeping_calls(engine: Engine) -> float:
    """Return the seconds until work is done again when calls that ignore cancellation are cancelled."""
    stream = engine.map(time.sleep, [600.0] * 64)
    time.sleep(0.3)
    stream.cancel()
    return seconds(lambda: collect(engine.map(abs, range(64))))


def processor_seconds() -> float:
    """Return the processor time of this process and of all that it has started and that are there."""
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (me, *me.children(recursive=True)))


def processor(work: Callable[[], object]) -> float:
    """Return the processor time that something takes in all processes."""
    before = processor_seconds()
    work()
    return processor_seconds() - before


def follow(engine: Engine, runs: int) -> None:
    """Follow long runs one after the other, each of which sends twenty messages a second."""
    for k in range(runs):
        engine.follow([job(k, tol=0, max_iter=1_000_000, max_seconds=0.5)]).wait()


def costs(engine: Engine) -> list[tuple[str, str]]:
    """Return the processor time of what is sent between processes."""
    tasks = processor(lambda: [collect(engine.map(abs, [k])) for k in range(500)])
    large = processor(lambda: collect(engine.map(bytes, [2**22] * 25)))
    followed = processor(lambda: follow(engine, 10))
    return [
        ("processor time of a task that does nothing", f"{tasks / 500 * 1e3:.2f} ms"),
        ("processor time of a result of 4 MiB", f"{large / 25 * 1e3:.1f} ms"),
        ("processor time of a run of 0.5 s that is followed", f"{followed / 10:.2f} s"),
    ]


def many(engine: Engine, runs: int = 30) -> tuple[float, float, float]:
    """Return the median and worst time to the first iterate of many runs started at once, and until all are over."""
    started = time.perf_counter()
    followings = [engine.follow([job(k)]) for k in range(runs)]
    first: dict[int, float] = {}
    while any(following.alive for following in followings):
        time.sleep(0.001)
        for k, following in enumerate(followings):
            if following.refresh() and k not in first and following.runs[0].trace.rows:
                first[k] = time.perf_counter() - started
    return statistics.median(first.values()), max(first.values()), time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    rows: list[tuple[str, str]] = []
    started, before = time.perf_counter(), processor_seconds()
    engine = Engine(*sys.argv[1:2])
    rows.append(("start returns", f"{time.perf_counter() - started:.2f} s"))
    engine.warm()
    rows.append(("first worker ready", f"{time.perf_counter() - started:.2f} s"))
    rows.append(("processor time of the start", f"{processor_seconds() - before:.2f} s"))
    rows.append(("first iterate, first click", f"{first_iterate(engine, job()) * 1e3:.0f} ms"))
    clicks = [first_iterate(engine, job(k)) for k in range(20)]
    rows.append(
        ("first iterate, median and worst of 20", f"{statistics.median(clicks) * 1e3:.0f}, {max(clicks) * 1e3:.0f} ms")
    )

    trials = [Trial(make_job(SPEC.replace(noise=0.1), "pairwise-moment"), number) for number in range(1000)]
    here = seconds(lambda: collect(LocalResults(run_trial, trials))) / len(trials)
    there = seconds(lambda: collect(engine.map(run_trial, trials))) / len(trials)
    rows.append(("a trial, here and on all workers", f"{here * 1e3:.2f}, {there * 1e3:.2f} ms"))
    idle = seconds(lambda: collect(engine.map(abs, range(100_000)))) / 100_000
    rows.append(("an item that does nothing", f"{idle * 1e6:.1f} us"))

    sweep = engine.map(run_trial, trials * 10)
    time.sleep(1.0)
    beside = [first_iterate(engine, job(k)) for k in range(20)]
    sweep.cancel()
    rows.append(("first iterate beside a sweep", f"{statistics.median(beside) * 1e3:.0f}, {max(beside) * 1e3:.0f} ms"))

    ends = [cancelling(engine) for _ in range(10)]
    rows.append(("cancel, median and worst of 10", f"{statistics.median(ends) * 1e3:.0f}, {max(ends) * 1e3:.0f} ms"))
    back = cancelling_sleeping_calls(engine)
    rows.append(("cancel of calls that ignore it", f"next work done after {back:.2f} s"))
    rows.append(("30 runs at once: first (median, worst), all", "{:.2f}, {:.2f}, {:.2f} s".format(*many(engine))))
    rows += costs(engine)
    ending = seconds(engine.close)
    rows.append(("end", f"{ending * 1e3:.0f} ms"))
    for what, cost in rows:
        print(f"{what:<46} {cost}")


if __name__ == "__main__":
    main()
