"""Records golden numbers, and compares today's numbers with them.

python -m tests.golden.record                      compares all entries; the status is 1 if one differs
python -m tests.golden.record --write NAME...      records entries again; a name may be a pattern ("*/gnimc/*")

An entry whose solver, preset or page no longer exists is a difference, too: `--write` of its name deletes it.
"""

import argparse
import gzip
import json
import math
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

# Read when numpy is imported: sums on more threads are rounded in another order.
os.environ["STREAMLIT_LOGGER_LEVEL"] = "error"
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

from tests.golden.entries import Entry, timed, wanted  # noqa: E402

FOLDER = Path(__file__).parent
PROCESSES = 2
TOLERANCE = 1e-10
"""Largest relative difference between two machines for a run that is deterministic up to rounding."""
SMALL, LEAST = 1e-3, 1e-6
"""Differences of numbers below this fraction of the largest in a list, or below this, are relative to that."""
LOOSE: dict[str, tuple[float, bool, str]] = {
    "low-rank/*gauss-newton/*": (0.1, False, "inner conjugate gradients end by a test that rounding decides"),
    "low-rank/tangent-descent/*": (1e-4, True, "conjugate directions are restarted by a test that rounding decides"),
    "low-rank/r2rils/*": (math.inf, False, "its least-squares problems are singular"),
    "low-rank/complete-then-regress/*": (1e-3, False, "the steps of its completion are conjugate gradients, too"),
    "low-rank/nuclear-norm/*": (1e-9, False, "momentum is restarted by a test that rounding decides"),
    "low-rank/geco/*": (1e-8, True, "eigenvectors of close eigenvalues"),
    "single-index/link-free-refinement/*": (1e-5, True, "samples exchange positions in the order of projections"),
    "one-bit-completion/*": (1e-10, False, "it ends where rounding hides the descent"),
    "*/trace-norm-*": (1e-10, False, "it ends where rounding hides the descent"),
    "single-index/unbiased-logistic/*": (1e-10, False, "it ends where rounding hides the descent"),
    "presets/soltani2018-improper-*": (2e-3, True, "its measurements do not determine the matrix"),
    "theory/logistic/*": (1e-5, True, "draws on data that are nearly separable"),
    "theory/probit/*": (1e-8, True, "BFGS ends by a test that rounding decides"),
    "theory/best/one-bit-phase-retrieval/*": (1e-4, True, "slices of its sampler end by a test that rounding decides"),
    "phase-retrieval/gamp/*": (1e-10, False, "it converges or settles by a test at the tolerance"),
}
"""By pattern of entries: the tolerance, whether stop and iteration count must agree, and why.

Measured by comparing the OpenBLAS kernels for Haswell, and NumPy without AVX-512, with the kernels for SkylakeX.
"""
Numbers = dict[str, Any]


def short(value: Any) -> str:
    """Return a value as one line of text."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def read() -> Numbers:
    """Return the recorded numbers by name."""
    return {k: v for file in sorted(FOLDER.glob("*.json.gz")) for k, v in json.loads(gzip.open(file).read()).items()}


def write(numbers: Numbers) -> None:
    """Write the numbers that differ from the recorded ones, a file per first part of their names."""
    recorded = read()
    changed = {name for name in {*recorded, *numbers} if recorded.get(name, ...) != numbers.get(name, ...)}
    for first in {name.partition("/")[0] for name in changed}:
        own = {name: numbers[name] for name in sorted(numbers) if name.startswith(f"{first}/")}
        text = json.dumps(own, separators=(",", ":"), indent=0)
        (FOLDER / f"{first}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def compute(entries: Mapping[str, Entry], recorded: Numbers, here: bool = False) -> Iterator[tuple[str, Any, float]]:
    """Yield name, today's numbers and seconds of each entry, computed in two processes, or in this one if `here`."""
    work = list(entries), list(entries.values()), [recorded.get(name) for name in entries]
    if here:
        yield from map(timed, *work)
        return
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(timed, *work)


def differences(recorded: Any, today: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """Yield a line per place where two entries differ by more than a tolerance."""
    if isinstance(recorded, dict) and isinstance(today, dict):
        for key in dict.fromkeys([*recorded, *today]):
            yield from differences(recorded.get(key), today.get(key), tolerance, f"{where}.{key}".lstrip("."))
    elif isinstance(recorded, list) and isinstance(today, list) and len(recorded) == len(today):
        least = SMALL * max((abs(one) for one in recorded if isinstance(one, float)), default=0.0)
        for k, (one, other) in enumerate(zip(recorded, today, strict=True)):
            if not close(one, other, least, tolerance):
                yield from differences(one, other, tolerance, f"{where}[{k}]")
    elif not close(recorded, today, 0.0, tolerance):
        yield f"{where}: recorded {short(recorded)}, now {short(today)}"


def close(one: Any, other: Any, least: float, tolerance: float) -> bool:
    """Return whether two values are equal, or numbers whose relative difference is within a tolerance."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= tolerance * max(abs(one), abs(other), least, LEAST)
    return bool(one == other)


def deviations(name: str, recorded: Any, today: Any) -> list[str]:
    """Return where an entry differs by more than its tolerance.

    The number of iterates counts only for entries whose stop is compared.
    """
    tolerance, ends, _ = next(
        (rule for pattern, rule in LOOSE.items() if fnmatch(name, pattern)), (TOLERANCE, True, "")
    )
    if not ends and "stop" in recorded and "stop" in today:
        measured = [[one for key, one in entry.items() if isinstance(one, list)] for entry in (recorded, today)]
        number = min(len(one) for columns in measured for one in columns)
        recorded, today = ([one[:number] for one in columns] for columns in measured)
    return list(differences(recorded, today, tolerance))


def compare(names: Iterable[str] | None = None, here: bool = False) -> list[str]:
    """Return a line per entry that differs, among all entries or the named ones.

    Entries that exist on one side only are always listed.
    """
    recorded, entries = read(), wanted()
    report = [f"{name}: recorded, but there is no such entry now" for name in recorded.keys() - entries.keys()]
    report += [f"{name}: not recorded" for name in entries.keys() - recorded.keys()]
    chosen = set(recorded if names is None else names)
    known = {name: entry for name, entry in entries.items() if name in chosen and recorded.get(name) is not None}
    for name, today, _ in compute(known, recorded, here):
        if wrong := deviations(name, recorded[name], today):
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            report.append(f"{name}: {wrong[0]}{more}")
    return sorted(report)


def record(patterns: Sequence[str]) -> list[str]:
    """Record the entries that match a pattern, delete entries that no longer exist, and return a line per change."""
    recorded, entries = read(), wanted()
    chosen = {name for name in {*recorded, *entries} if any(fnmatch(name, pattern) for pattern in patterns)}
    numbers = {name: value for name, value in recorded.items() if name not in chosen}
    for name, today, seconds in compute({name: entries[name] for name in entries if name in chosen}, {}):
        numbers[name] = today
        print(f"{seconds:7.2f} s  {name}", file=sys.stderr, flush=True)
    write({name: value for name, value in numbers.items() if not failed(value)})
    return [
        f"{name}: {today['failed']}, not recorded" if failed(today := numbers.get(name)) else name
        for name in sorted({*recorded, *numbers})
        if recorded.get(name, ...) != numbers.get(name, ...)
    ]


def failed(numbers: Any) -> bool:
    """Return whether an entry could not be computed."""
    return isinstance(numbers, dict) and "failed" in numbers


def sample(seed: int) -> list[str]:
    """Return the names of a tenth of the entries, chosen by a seed, and of all quantities of theorems."""
    names = sorted(read())
    quantities = [name for name in names if name.startswith("presets/")]
    return [*random.Random(seed).sample(names, len(names) // 10), *quantities]


def main() -> int:
    """Compare or record, as the command line says, and return the status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", nargs="+", metavar="NAME")
    given = parser.parse_args()
    began = time.perf_counter()
    report = record(given.write) if given.write else compare()
    print(*report, sep="\n")
    what = "changed" if given.write else "differ"
    print(f"{len(report)} entries {what}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return int(bool(report) and not given.write)


if __name__ == "__main__":
    sys.exit(main())
