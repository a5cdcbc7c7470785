"""Measure the lab beside its peers.

python -m benchmarks.peers [--families single_index,...] [--only TEXT] [--repeats 11] [--threads 1] [--write] [--check]

A family is a module of this package with TITLE, DISTRIBUTIONS (whose versions are reported) and CONTESTS. --write puts
the tables into benchmarks/RESULTS.md, a section per family, and ratios that --check needs into ratios.json. --check
measures only what scikit-learn or bare BLAS is the peer of, and fails where the advantage over that peer in the same
run has fallen by more than a third against the stored one.
"""

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import peers
from benchmarks.peers.frame import Contest, Outcome, measure
from benchmarks.peers.report import machine, table, write_section

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
    if given.write and outcomes and not given.only:
        head = (
            f"`python -m benchmarks.peers`: medians of {given.repeats} interleaved repeats, each on new data, BLAS"
            f" threads: {given.threads}, CPU time; in brackets quartiles of the ratio. {machine(family.DISTRIBUTIONS)}"
        )
        write_section(f"Speed: {family.TITLE}", "\n\n".join([head, *(table(*pair) for pair in outcomes)]))
        stored = json.loads(RATIOS.read_text()) if RATIOS.exists() else {}
        stored |= {
            f"{contest.title}: {own} over {peer}": round(outcome.ratio(own, peer)[1], 3)
            for contest, outcome in outcomes
            for own, peer in contest.checked.items()
            if peer in outcome.seconds
        }
        RATIOS.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")


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
                # What was never stored has nothing to fall behind.
                stored.setdefault(name, float("inf"))
                lowest[name] = min(lowest.get(name, float("inf")), outcome.ratio(own, peer)[1])
            slow = [name for name, ratio in lowest.items() if ratio > ALLOWED * stored[name]]
            if not slow:
                break
        for name, ratio in lowest.items():
            print(
                f"{'SLOWER' if name in slow else 'ok':<7}{name}: {ratio:.3g} x, stored {stored[name]:.3g} x", flush=True
            )
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
