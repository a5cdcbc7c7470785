"""The documentation has a page of every solver and model; `make docs` builds it."""

import importlib
import re
from pathlib import Path

import pytest

from lrlab import catalog, settings
from tests import attempts

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def generated(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "extension"))
    return importlib.import_module("generated")


def test_every_solver_and_model_has_a_page(generated):
    pages = generated.pages()
    shown = [of for name, (_, *of) in pages.items() if name.startswith("solvers/") and of]
    assert [entry for [entry] in shown] == list(catalog.ENTRIES)
    assert {f"models/{name}.md" for name in catalog.MODELS} < set(pages)
    lists = generated.solver_list() + generated.model_list()
    listed = set(re.findall(r"^[a-z0-9-]+$", lists, re.M))
    assert {Path(name).stem for name in pages if "/" in name and not name.endswith("/index.md")} == listed


def test_a_page_has_what_the_entry_says_and_a_figure_of_a_run(generated):
    entry = catalog.solver("gauss-newton", "rank-one-sensing")
    page = generated.solver_page(entry)
    options = [f"| `{name}` | " for name in entry.options]
    for part in (entry.title, entry.summary, entry.update, "Zilber", *options, "Plotly.newPlot", 'spec("rank-one'):
        assert part in page, part
    page = generated.model_page(catalog.model_entry("phase-retrieval"))
    for part in (
        r"\langle a_i, x\rangle",
        "| `m` | number of measurements | 2 to",
        "wirtinger-flow.md",
        "squared overlap",
    ):
        assert part in page, part


def test_a_page_has_the_settings(generated):
    for name, one in settings.SETTINGS.items():
        assert f"| `{name}` | {one.laptop:g} | {one.classroom:g} | {one.meaning} |" in generated.profiles()
    assert all(name in generated.texts() for name in settings.TEXTS)


def test_a_link_of_a_page_leads_somewhere(generated):
    pages = {f"generated/{name}" for name in generated.pages()} | {str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md")}
    for path in DOCS.rglob("*.md"):
        if "generated" in path.parts or "_build" in path.parts:
            continue
        folder = path.parent.relative_to(DOCS)
        for link in re.findall(r"\]\(([\w./-]+\.md)", path.read_text()):
            assert str((DOCS / folder / link).resolve().relative_to(DOCS)) in pages, f"{path.name}: {link}"


def test_the_table_of_what_was_tried_is_that_of_the_tests():
    written = attempts.rows(attempts.TABLE.read_text())
    declared = attempts.attempts()
    assert len(written) == len(declared) > 30
    for row, one in zip(written, declared, strict=True):
        assert row.startswith(one.row), "python -m tests.attempts --write"
        assert int(row.removeprefix(one.row).strip(" |")) > 0, "a case that passed"
