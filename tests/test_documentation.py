"""The documentation has a page of every solver and model; `make docs` builds it."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from lrlab import catalog, presets, settings
from lrlab.presets import sweeps
from lrlab.presets.papers import PAPERS, paper_of
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


def test_the_table_of_the_papers_names_what_there_is_and_every_figure_of_them():
    text = (DOCS / "papers.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)*)`", text))
    solvers = {entry.name for entry in catalog.ENTRIES}
    ours = {name for name in presets.names() if paper_of(name)}
    options = {"operator"}
    assert named - set(presets.names()) - set(sweeps.names()) - solvers - set(catalog.MODELS) - options == set()
    assert ours <= named, "a figure that the table leaves out"
    assert not re.search(r"\bnot yet\b|\bmissing \|", text), "what is not there has a reason"
    assert [title in text for title in ("Yi", "Jain", "Soltani", "Yu", "Qiu")] == [True] * len(PAPERS)


def test_the_table_of_what_was_tried_is_that_of_the_tests():
    written = attempts.rows(attempts.TABLE.read_text())
    declared = attempts.attempts()
    assert len(written) == len(declared) > 30
    for row, one in zip(written, declared, strict=True):
        assert row.startswith(one.row), "python -m tests.attempts --write"
        assert int(row.removeprefix(one.row).strip(" |")) > 0, "a case that passed"


@pytest.mark.slow
def test_the_python_of_a_how_to_runs_as_it_is_written():
    text = (DOCS / "howto" / "own-measurements.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text.partition("## Labelled rows")[0], re.S)
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2 and names["trace"].link.table.shape[1] == 4


@pytest.mark.slow
def test_a_covariance_is_recovered_from_its_sketches_up_to_what_the_stream_leaves_open():
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "howto" / "covariance.md").read_text("utf-8"), re.S)
    names = {}
    exec(block + "stream = [factor @ rng.standard_normal(r) for _ in range(T)]\n", names)
    # As much as a stored covariance of another such stream.
    stored = np.cov(np.array(names["stream"]).T, bias=True) - names["Q"]
    assert names["error"] < 3 * np.linalg.norm(stored) / np.linalg.norm(names["Q"]) < 0.3
    forms = np.einsum("ij,jk,ik->i", names["X"], names["estimate"], names["X"])
    assert forms == pytest.approx(names["sums"] / names["T"], rel=1e-4), "all sums are met"
