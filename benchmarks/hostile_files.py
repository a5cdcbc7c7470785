"""Measures how files and models that are meant to break a reader are refused: seconds, memory, and the sentence.

    PYTHONPATH=. python benchmarks/hostile_files.py [PART OF A NAME]

Each is opened in a process of its own that has the readers loaded; memory is the growth of its peak.
"""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

# Its reader is loaded with the others.
import sklearn.datasets  # noqa: F401

from lrlab.parameters import InputError
from tests.data.hostile import CASES, Case

SECONDS, MEGABYTES = 1.0, 200.0


def peak() -> float:
    """Return the largest resident size of this process so far in MB."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1e3


def refusal(case: Case, path: Path) -> str:
    """Return how a file is refused, with seconds and memory."""
    before, started = peak(), time.perf_counter()
    try:
        case.opened(path, case.labels)
        words = "ACCEPTED"
    except InputError as error:
        words = str(error) if re.search(case.refusal, str(error)) else f"OTHER WORDS {error}"
    except BaseException as error:
        words = f"RAISED {error!r}"
    return f"{time.perf_counter() - started:.3f} s {peak() - before:4.0f} MB  {words[:230]}"


def main(part: str = "") -> None:
    """Print a line for each case, and those beyond the limits again."""
    beyond = list[str]()
    chosen = [name for name in CASES if part in name]
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            line = elsewhere(CASES[name], CASES[name].write(Path(folder)))
        print(f"{name:<45} {line}", flush=True)
        figures = re.match(r"([\d.]+) s +(\d+) MB +(?!ACCEPTED|OTHER WORDS|RAISED)", line)
        if not figures or float(figures[1]) > SECONDS or float(figures[2]) > MEGABYTES:
            beyond.append(f"{name:<45} {line}")
    limits = f"{SECONDS:g} s, {MEGABYTES:g} MB or their sentence"
    print(f"\n{len(beyond)} of {len(chosen)} beyond {limits}:", *beyond, sep="\n")


def elsewhere(case: Case, path: Path) -> str:
    """Return what `refusal` returns in a process of its own, ENDED where that dies."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        os.write(theirs, refusal(case, path).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as stream:
        line = stream.read().decode()
    os.waitpid(child, 0)
    return line or "ENDED"


if __name__ == "__main__":
    main(*sys.argv[1:])
