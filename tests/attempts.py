"""Attacks and faults that tests try, by the mark `attempt`, and their table in SECURITY.md.

`python -m tests.attempts --write` runs all of them, soak included, and writes the table if they pass.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "SECURITY.md"
BEGIN, END = "<!-- attempts -->\n", "<!-- end of attempts -->\n"
TWO = "-n", "2", "--dist", "loadfile"
HEAD = "| attempt | outcome | test | passed |\n|---|---|---|---|\n"


class Attempt(NamedTuple):
    """An attack or fault, its outcome, and its test (file, name)."""

    tried: str
    outcome: str
    file: str
    test: str

    @property
    def row(self) -> str:
        """Return the first columns of its row."""
        return f"| {self.tried} | {self.outcome} | `{self.file}` | "


def attempts() -> list[Attempt]:
    """Return all attempts in the order of the files of tests."""
    return [one for file in sorted((ROOT / "tests").rglob("test_*.py")) for one in _of(file)]


def _of(file: Path) -> Iterator[Attempt]:
    for node in ast.walk(ast.parse(file.read_text())):
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.attempt":
                tried, outcome = (ast.literal_eval(part) for part in mark.args)
                yield Attempt(tried, outcome, str(file.relative_to(ROOT)), node.name)


def rows(text: str) -> list[str]:
    """Return the rows of the table in a text."""
    return text.partition(BEGIN)[2].partition(END)[0].removeprefix(HEAD).splitlines()


class _Passed:
    """Counts the cases of each test that passed."""

    def __init__(self) -> None:
        self.count = Counter[tuple[str, str]]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            file, _, name = report.nodeid.partition("::")
            self.count[file, name.partition("[")[0]] += 1


def main() -> int:
    """Run the tests of all attempts; with --write, write the table if all pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to SECURITY.md")
    write, passed = parser.parse_args().write, _Passed()
    if status := pytest.main([*TWO, "-m", "attempt", *sorted({one.file for one in attempts()})], plugins=[passed]):
        return int(status)
    lines = [f"{one.row}{passed.count[one.file, one.test]} |\n" for one in attempts()]
    if write:
        before, _, rest = TABLE.read_text().partition(BEGIN)
        TABLE.write_text(before + BEGIN + HEAD + "".join(lines) + END + rest.partition(END)[2])
    print("".join(lines), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
