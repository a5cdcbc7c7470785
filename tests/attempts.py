"""Attacks and faults that tests try, by the mark `attempt`, and their table in SECURITY.md.

`make soak` runs all of them; `python -m tests.attempts` writes the table.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "SECURITY.md"
BEGIN, END = "<!-- attempts -->\n", "<!-- end of attempts -->\n"
HEAD = "| attempt | outcome | test |\n|---|---|---|\n"


def rows() -> Iterator[str]:
    """Yield a row per attempt or fault, with its outcome and its test, in the order of the files of tests."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.attempt":
                    tried, outcome = (ast.literal_eval(part) for part in mark.args)
                    yield f"| {tried} | {outcome} | `{file.relative_to(ROOT)}` |\n"


def written(text: str) -> str:
    """Return a text with the rows of today in its table."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + HEAD + "".join(rows()) + END + rest.partition(END)[2]


if __name__ == "__main__":
    TABLE.write_text(written(TABLE.read_text()))
