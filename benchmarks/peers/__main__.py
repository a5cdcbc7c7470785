"""Measure the lab beside its peers.

python -m benchmarks.peers [--families single_index,...] [--only TEXT] [--repeats 11] [--threads 1] [--write] [--check]

A family is a module of this package with TITLE, DISTRIBUTIONS (whose versions are reported) and CONTESTS. --write
stores the ratios in ratios.json and writes their table into benchmarks/RESULTS.md. --check measures the contests with
scikit-learn or bare BLAS, and fails if the advantage over them in the same run has fallen by more than a third against
the stored one.
"""

import argparse
import importlib
import json
import math
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import peers
from benchmarks.peers.frame import Contest, Outcome, measure
from benchmarks.peers.report import machine, pairs, summary, table, write_section

RATIOS = Path(__file__).with_name("ratios.json")
ALLOWED = 1.5
"""Our time over a peer's may grow by this factor: the advantage then falls by a third."""
TRIES = 3


def families(wanted: list[str]) -> Iterator[ModuleType]:
    """Yield the modules with contests, those of these names, or all."""
    for info in pkgutil.iter_modules(peers.__path__):
        if info.name != "__main__" and (not wanted or info.name in wanted):
            module = importlib.import_module(f"{peers.__name__}.{info.name}")
            if hasattr(module, "CONTESTS"):
                yield module


def chosen(family: ModuleType, text: str) -> list[Contest]:
    """Return the family's contests whose title contains a text."""
    return [contest for contest in family.CONTESTS if text in contest.title]


def report(family: ModuleType, given: argparse.Namespace) -> None:
    """Measure a family, print its tables, and store them if asked to."""
    outcomes = list[tuple[Contest, Outcome]]()
    for contest in chosen(family, given.only):
        outcomes.append((contest, measure(contest, given.repeats, given.threads)))
        print(table(*outcomes[-1]), end="\n\n", flush=True)
    if given.write:
        stored = json.loads(RATIOS.read_text())
        for contest, outcome in outcomes:
            stored |= pairs(contest, outcome)
        RATIOS.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")
        head = (
            f"`python -m benchmarks.peers --write`: medians of {given.repeats} interleaved repeats, each on new data,"
            f" BLAS threads: {given.threads}, processor time; in parentheses the quartiles; below 1 lrlab is"
            f" faster. {machine(family.DISTRIBUTIONS)}"
        )
        write_section("Solvers and other tools", head + "\n\n" + summary(stored))


def check(family: ModuleType, given: argparse.Namespace) -> bool:
    """Return whether every ratio is within its bound in one of three tries: a loaded machine disturbs single ones."""
    stored: dict[str, Any] = json.loads(RATIOS.read_text())
    good = True
    for contest in (contest for contest in chosen(family, given.only) if contest.checked):
        wanted = {*contest.checked, *contest.checked.values()}
        shorter = contest._replace(
            ours=tuple(e for e in contest.ours if e.name in wanted),
            peers=tuple(e for e in contest.peers if e.name in wanted),
        )
        lowest: dict[str, float] = {}
        for _ in range(TRIES):
            outcome = measure(shorter, given.repeats, given.threads)
            for own, peer in contest.checked.items():
                name = f"{contest.title}: {own} over {peer}"
                # A pair without a stored ratio has nothing to fall behind.
                stored.setdefault(name, {"ratio": [math.inf] * 3})
                lowest[name] = min(lowest.get(name, float("inf")), outcome.ratio(own, peer)[1])
            slow = [name for name, ratio in lowest.items() if ratio > ALLOWED * stored[name]["ratio"][1]]
            if not slow:
                break
        for name, ratio in lowest.items():
            before = stored[name]["ratio"][1]
            print(f"{'SLOWER' if name in slow else 'ok':<7}{name}: {ratio:.3g} x, stored {before:.3g} x", flush=True)
        good = good and not slow
    return good


def main() -> int:
    """Measure or check the families asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="", help="their modules, separated by commas")
    parser.add_argument("--only", default="", help="only contests whose title contains this")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    own = list(families([name for name in given.families.split(",") if name]))
    if given.check:
        return 0 if all([check(family, given) for family in own]) else 1
    for family in own:
        report(family, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
