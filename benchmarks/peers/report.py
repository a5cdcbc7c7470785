"""Tables of comparisons as Markdown, and the sections of benchmarks/RESULTS.md, each replaced by itself."""

import importlib.metadata
import os
import platform
import re
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.peers.frame import Contest, Outcome

RESULTS = Path(__file__).parents[1] / "RESULTS.md"
HEAD = "| work | lrlab | error | other tool | its error | time, lrlab / other |\n|---|---|---|---|---|---|"


def pairs(contest: Contest, outcome: Outcome) -> dict[str, Any]:
    """Return error, the other's error and quartiles of the ratio of times, per solver of lrlab and other tool."""
    mine = [entrant.name for entrant in contest.ours]
    return {
        f"{contest.title}: {own} over {other}": {
            "error": float(f"{outcome.error(own):.3g}"),
            "other_error": float(f"{outcome.error(other):.3g}"),
            "ratio": [float(f"{q:.3g}") for q in outcome.ratio(own, other)],
        }
        for own in mine
        for other in outcome.seconds
        if other not in mine
    }


def summary(stored: dict[str, Any]) -> str:
    """Return the table of all stored pairs, the largest advantage first."""
    rows = []
    for name, one in sorted(stored.items(), key=lambda item: item[1]["ratio"][1]):
        title, _, methods = name.partition(": ")
        own, _, other = methods.partition(" over ")
        low, ratio, high = (f"{q:.3g}" for q in one["ratio"])
        cells = (title, own, f"{one['error']:.3g}", other, f"{one['other_error']:.3g}", f"{ratio} ({low} to {high})")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([HEAD, *rows])


def table(contest: Contest, outcome: Outcome) -> str:
    """Return one comparison: errors, times, and how many times as long each of ours takes as each entrant."""
    mine = [entrant.name for entrant in contest.ours]
    lines = [f"**{contest.title}**" + (f" (target: {contest.target})" if contest.target else ""), ""]
    lines += ["| method | error | CPU ms | " + " | ".join(f"{name} takes" for name in mine) + " |"]
    lines += ["|---" * (3 + len(mine)) + "|"]
    for name, seconds in outcome.seconds.items():
        ratios = ["" if own == name else _times(outcome.ratio(own, name)) for own in mine]
        cells = [name, f"{outcome.error(name):.3g}", f"{1e3 * statistics.median(seconds):.3g}", *ratios]
        lines += ["| " + " | ".join(cells) + " |"]
    lines += [f"| {name} | not here: {reason} |" + " |" * (1 + len(mine)) for name, reason in outcome.missing.items()]
    return "\n".join(lines)


def _times(quartiles: list[float]) -> str:
    low, median, high = (f"{q:.3g}" for q in quartiles)
    return f"{median} x ({low}-{high})"


def machine(distributions: Iterable[str]) -> str:
    """Return what kind of machine this is, and the versions of what was compared."""
    names, versions = sorted({"numpy", "scipy", *distributions}), list[str]()
    for name in names:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    return f"{cores()} x {cpu()}, {platform.system()}, Python {platform.python_version()}; {', '.join(versions)}."


def cpu() -> str:
    """Return the model of the processor."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return model[1].strip() if model else platform.machine()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def write_section(title: str, body: str, path: Path = RESULTS) -> None:
    """Replace the section of this title, or append it; all other sections stay as they are."""
    text = path.read_text()
    section = f"## {title}\n\n{body.strip()}\n"
    old = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    text = text[: old.start()] + section + "\n" + text[old.end() :] if old else text.rstrip() + "\n\n" + section
    path.write_text(text.rstrip() + "\n")
