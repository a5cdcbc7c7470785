"""Documentation and notebooks: pages of all entries, code that runs, misprints, English, figures and a widget."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import plotly.io
import pytest
from nbclient import NotebookClient
from plotly.graph_objects import Figure

import lrlab
from lrlab import catalog, presets, settings
from lrlab.engine.live import LiveRun
from lrlab.engine.results import LocalResults
from lrlab.figures import convergence
from lrlab.figures.runs import recoveries, verdict
from lrlab.parameters import InputError, declared
from lrlab.presets import sweeps
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.runs.job import make_job
from lrlab.ui.shared import code
from tests import attempts
from tests.figures.test_build import numbers
from tests.test_plugins import SENTENCE, failing
from tests.waiting import PATIENCE

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
    assert all(importlib.import_module("entries").example(entry) for entry in catalog.ENTRIES)


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
    options = {"operator", "normalize"}
    assert named - set(presets.names()) - set(sweeps.names()) - solvers - set(catalog.MODELS) - options == set()
    assert ours <= named, "a figure that the table leaves out"
    assert not re.search(r"\bnot yet\b|\bmissing \|", text), "what is not there has a reason"
    assert [title in text for title in ("Yi", "Jain", "Soltani", "Yu", "Qiu")] == [True] * len(PAPERS)


def test_the_table_of_what_was_tried_is_that_of_the_tests():
    text = attempts.TABLE.read_text()
    assert attempts.written(text) == text, "python -m tests.attempts"
    assert len([*attempts.rows()]) > 30


@pytest.mark.slow
def test_the_python_of_a_how_to_runs_as_it_is_written():
    names = {}
    for page in ("your-data", "estimators"):
        [block] = re.findall(r"```python\n(.*?)```", (DOCS / "howto" / f"{page}.md").read_text("utf-8"), re.S)
        exec(block, names)
    assert names["trace"].link.table.shape[1] == 4


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


MISPRINTS = {
    "Equation (2.3)": "np.ptp(link_printed) < 1e-12 and np.ptp(link) > 1.9",
    "Equation (2.7)": "probit_printed[-1] < 0.2 and probit[-1] > 0.999",
    "Equation (3.11), and the end of Section 5.3": "n_min_printed[-1] < 0.01 and n_min[-1] > 100",
    "Lemma 3.4 (b)": "large_printed[-1] > 1.02 and large.max() <= 1",
    "Section 5.1, robust one-bit compressed sensing": "small_printed[0] > 1.25 and small.max() <= 1 + 1e-12",
    "Theorem 3.7, and its proof": "scaled[2 / 2] < 0.4 and scaled[3 / 2] < 0.6 and abs(scaled[5 / 2] - 1) < 1e-12",
    "Lemma 5.1": "packing_printed[9] > 2 * every[9] and packing[9] < every[9]",
    "Algorithm 1, line 12, and Theorem 1": "[errors[name][-1] < 1e-6 for name in errors] == [False, True, False]",
    "Claim 3, the last display": "Z_low < 40 * m * math.log(m) ** 4 and 0.05 * d * d < Z_up",
    "Lemma 7": "at_printed[-1] > 10 * allowed[-1] and at_right[-1] < 1.01 * allowed[-1]",
    "Algorithm 1, Definition 1, first formula of Section 5.3": (
        "errors['as printed'][-1] > 1e3 and errors['right'][-1] < 1e-6"
    ),
    "Theorem 4, inequality (5)": "2 * m * max(steps) > 1.05 and m * max(steps) < 1",
    "Theorem 8": "math.sqrt(tau) < ratio <= math.sqrt(r)",
    "Algorithm 4": "not np.allclose(W_printed, product, rtol=0.5) and np.allclose(W_right, product)",
    "Table 1, logistic loss": "off_printed > 0.4 and off_right < 1e-6",
    "Claim 2, the proof": "fits['printed'] > 1.1 * best and abs(fits['right'] / best - 1) < 1e-9",
    "Theorem 4": "gap[-1] > 3 * printed_gap[-1] and np.allclose(gap, right_gap, rtol=0.15)",
    "Table 5 against Table 15: AUC of BCS on bibtex": "abs(values.max() - 0.0054) < 1e-9 and len(differ) == 1",
    "Section 3, Algorithm 1 and Lemma 3: the blocks of the dilation": (
        "weights['as printed'] < 0.6 and weights['right'] == 1"
    ),
    # The paper's AUC falls as far as with 5% flips.
    "Section 5.1: the noise ξ": "min(growth.values()) < 2 and max(growth.values()) > 3",
    "Proof of Lemma 2 (a)": "simulated.max() > 1 and abs(simulated - g1_right).max() < 0.05",
}


@pytest.mark.slow
def test_every_computation_of_a_misprint_contradicts_what_is_printed_and_agrees_with_what_is_right():
    names, checked = {}, []
    for section in re.split(r"^###? ", (DOCS / "misprints.md").read_text("utf-8"), flags=re.M):
        title = section.partition("\n")[0]
        for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", section, re.S):
            exec(cell, names)
            checked += [title] if title in MISPRINTS else []
            assert title not in MISPRINTS or eval(MISPRINTS[title], names), title
    assert checked == [*MISPRINTS]


ROOT = Path(__file__).parents[1]
CONTORTED = {
    "free what-clause": r"\b[Ww]hat (?:is|are|was|has|can|cannot|does|they|it|comes?|needs|follows|fails|no|others"
    r"|one|each|the|a) ",
    "where for if or when": r"\b[Ww]here\b(?!\()",
    "verb without agent": r"\b(?:is|are|was|were|be|been|being) (?:said|named|told|called|asked|refused|taken|meant"
    r"|heard|looked|left|counted|seen|held|drawn)\b",
    "that of, those of": r"\b(?:that|those) (?:of|with|without|in|at|on|along|for|from|which|whose|by)\b",
    "preposition and which": r"\b(?:of|to|from|for|by|with|in|on|at|beside|without|after|before|until|into)"
    r" (?:which|whose|whom)\b",
    "is no": r"\b(?:is|are|was|were) no (?!longer|more|less|fewer|worse|larger|better|such|one|need|way|different"
    r"|reason)\w+",
    "beside": r"\bbeside\b",
    "alone for only": r"\balone\b",
    "own without owner": r"\bone's own\b|\b(?:an|of|with|for|as) own\b|\bof (?:its|their|your|one's) own\b",
    "a for per": r"\b(?:one|each|two|\d+|once) an? (?:row|step|iteration|core|browser|label|sample|person|run|trial"
    r"|second|point|user|item)\b",
    "is of": r"\b(?:is|are|was|were) of (?!the order|order|course|interest)\b",
    "fronted of or so": r"(?:(?<=[.:;] )|(?<=^))(?:Of|So) (?:a|an|the|few|many|far|it|is|are)\b",
    "in the place of": r"\bin (?:the |its )?place of\b",
    "at hand": r"\bat hand\b",
}
TEXTS = {
    "README": ["README.md"],
    "documentation": ["docs/**/*.md", "CONTRIBUTING.md", "SECURITY.md"],
    "changelog": ["CHANGELOG.md"],
    "measurements": ["benchmarks/*.md"],
    "lessons": ["lrlab/lessons/*.toml", "lrlab/lessons/*.md"],
    "presets": ["lrlab/presets/**/*.toml"],
    "strings": ["lrlab/**/*.py", "pages/*.py"],
    "docstrings": ["lrlab/**/*.py", "pages/*.py"],
    "comments": ["lrlab/**/*.py", "pages/*.py", "tests/**/*.py"],
}
MOST = 6.0
"""Hits per 1,000 words; numpy, scipy and scikit-learn have 2 to 4."""


def pieces(surface: str, path: Path) -> Iterator[str]:
    """Yield the texts of a file that people read on a surface."""
    text = path.read_text("utf-8")
    if surface == "comments":
        yield from re.findall(r"^\s*#([^!].*)", text, re.M)
    elif surface in ("strings", "docstrings"):
        tree = ast.parse(text)
        strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from (one.value for one in strings if (id(one) in alone) == (surface == "docstrings"))
    else:
        yield re.sub(r"```.*?```", "", text, flags=re.S)


@pytest.mark.slow
@pytest.mark.parametrize("surface", TEXTS)
def test_contorted_constructions_are_rare(surface):
    paths = {path for glob in TEXTS[surface] for path in ROOT.glob(glob) if not {"_build", "generated"} & {*path.parts}}
    texts = [text for path in sorted(paths) for text in pieces(surface, path) if len(text.split()) > 3]
    words = sum(len(text.split()) for text in texts)
    counts = {name: sum(len(re.findall(one, text, re.M)) for text in texts) for name, one in CONTORTED.items()}
    assert 1000 * sum(counts.values()) / words <= MOST, {name: count for name, count in counts.items() if count}


def test_help_of_parameters_and_options_is_short():
    """At most 15 words before a list of choices."""
    parameters = [(model, p) for model, spec in catalog.MODELS.items() for p in declared(spec).values()]
    solvers = [(s.name, p) for entries in catalog.SOLVERS.values() for s in entries for p in s.options.values()]
    long = [(name, p.name) for name, p in [*parameters, *solvers] if len(p.meaning.partition(":")[0].split()) > 15]
    assert not long


def test_captions_are_short():
    """At most 20 words per sentence of a caption that the source spells out."""
    long = []
    for path in sorted((ROOT / "lrlab" / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "caption" and node.args:
                text = getattr(node.args[0], "value", "")
                if isinstance(text, str):
                    long += [s for s in re.split(r"(?<=[.;:])\s", text) if len(s.split()) > 20]
    assert not long


SPEC = lrlab.spec("one-bit-sensing", n=300, p=8, noise=0.1)


@pytest.fixture(scope="module")
def trace():
    """Return a run."""
    return lrlab.solve(SPEC, "logistic")


@pytest.fixture(scope="module")
def table():
    """Return a sweep over two axes."""
    axes = {"m": [12, 24, 48], "noise": [0.0, 0.1]}
    spec = lrlab.spec("rank-one-sensing", d1=6, d2=5, rank=1)
    solvers = ["gauss-newton", "altmin"]
    return lrlab.sweep(spec, axes, solvers, trials=4, max_iter=40, start=LocalResults)


def test_a_trace_has_the_figure_of_the_page(trace):
    figure = trace.figure(measure="overlap")
    assert isinstance(figure, Figure)
    drawn = recoveries(SPEC, [LiveRun(trace.job, trace)])
    page = convergence.curves(drawn, "overlap", log_y=True, hold=True)
    assert [one.name for one in figure.data] == [one.get("name") for one in page.data]
    first = figure.to_plotly_json()["data"][0]
    assert numbers(first["y"]) == pytest.approx(trace.table["overlap"].to_numpy())
    with pytest.raises(InputError, match='metric must be one of .*did you mean "overlap"'):
        trace.figure(measure="overlp")
    with pytest.raises(InputError, match="time must be one of iteration, seconds, got hours"):
        trace.figure(time="hours")


def test_traces_are_compared_and_those_of_one_solver_have_different_names(trace):
    others = [lrlab.solve(SPEC.replace(seed=2), "logistic"), lrlab.solve(SPEC, "sir")]
    names = [one.name for one in lrlab.compare([trace, *others]).data if one.meta == "run"]
    assert names[0].endswith("seed = 0") and names[1].endswith("seed = 2") and names[0][:-1] == names[1][:-1]
    assert "," not in names[2] and isinstance(lrlab.compare([trace, *others]), Figure)
    for wrong, got in (([], "none"), (trace, "<Trace of .*: give a list"), ("abc", "abc"), ([trace, 3], ".<Trace of")):
        with pytest.raises(InputError, match=f"traces must be some, all of one model, got {got}"):
            lrlab.compare(wrong)
    for wrong in ({"measure": {1: 2}}, {"time": np.ones(2)}):
        with pytest.raises(InputError, match="must be one of .*, got"):
            lrlab.compare([trace], **wrong)
    with pytest.raises(InputError, match="traces must be some, all of one model, got one-bit-sensing, phase-retr"):
        lrlab.compare([trace, lrlab.solve(lrlab.spec("phase-retrieval", m=60, p=6), "wirtinger-flow")])


@pytest.fixture(autouse=True)
def notebook(monkeypatch):
    """Let plotly draw as in a notebook."""
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")


def test_a_trace_shows_itself_with_the_verdict_of_the_page(trace):
    shown = trace._repr_mimebundle_()
    assert trace.ending in shown["text/plain"] and f"{trace.metrics['error']:.4g}" in shown["text/plain"]
    figure = shown["application/vnd.plotly.v1+json"]
    title = figure["layout"]["title"]["text"].replace("<br>", " ")
    assert title.startswith(verdict(trace)) and title == shown["text/plain"]
    assert max(len(numbers(one["y"])) for one in figure["data"]) >= len(trace.rows)


@pytest.mark.slow
def test_a_table_shows_itself_and_draws_its_map(table):
    html = table._repr_html_()
    assert "of 24 trials succeed" in html and "24 rows" not in html and "48 rows" in html
    figure = lrlab.map(table)
    heat = next(one for one in figure.to_plotly_json()["data"] if one["type"] == "heatmap")
    first = table[table["solver"] == "gauss-newton"]
    rule = table.sweep.success
    success = (first[rule.metric] < rule.level) & (first["stop"] != "LOCAL_MINIMUM")
    share = first.assign(success=success).groupby(["noise", "m"])["success"].mean()
    assert numbers(heat["z"]).reshape(2, 3) == pytest.approx(share.to_numpy().reshape(2, 3))
    turned = lrlab.map(table, x="noise", y="m", show="error", apart=True)
    assert turned.layout.yaxis.title.text == figure.layout.xaxis.title.text


def test_rows_of_a_table_are_a_table_and_others_are_refused(table):
    few = table[table["trial"] < 1]
    assert "of 6 trials succeed" in few._repr_html_() and isinstance(lrlab.map(few), Figure)
    assert "trials succeed" not in table[["solver", "error"]]._repr_html_()
    with pytest.raises(InputError, match="table must be one with the column seed"):
        lrlab.map(table.drop(columns="seed"))
    assert isinstance(lrlab.map(table.drop(columns="refused")), Figure)
    import pandas as pd

    with pytest.raises(InputError, match="table must be one that lrlab.sweep returned, or rows of it, got DataFrame"):
        lrlab.map(pd.DataFrame(table))
    with pytest.raises(InputError, match="axis must be one of m, noise, got p"):
        lrlab.map(table, x="p")


def test_a_table_along_one_axis_has_lines_and_names_what_failed():
    table = lrlab.sweep(SPEC, {"n": [100, 200, 400]}, ["logistic", failing], trials=3, start=LocalResults)
    html = table._repr_html_()
    assert f"9 trials failed. The first: {SENTENCE}" in html
    assert isinstance(lrlab.map(table, show="error"), Figure)


def test_a_widget_follows_runs_to_their_ends(engine):
    widget = lrlab.live(SPEC, ["logistic", failing], max_iter=30)
    widget.wait(PATIENCE)
    [good, _] = widget.traces
    assert good.stop and widget.errors == {"failing": SENTENCE}
    assert f"FAILED. {SENTENCE}" in widget.words.value
    assert numbers(widget.figure.data[0].y) == pytest.approx(good.table["error"].to_numpy())
    assert widget.figure.layout.uirevision == "error iteration False True", "a zoom stays"
    with pytest.raises(InputError, match="solvers must be some solvers, got none"):
        lrlab.live(SPEC, [])
    with pytest.raises(InputError, match="setting of logistic must be one of"):
        lrlab.live(SPEC, ["logistic"], steps=3)


@pytest.mark.slow
def test_the_notebook_of_a_page_runs_and_shows_its_figure(tmp_path):
    jobs = [make_job(SPEC, name) for name in ("logistic", "sir")]
    book = nbformat.reads(code.notebook("lrlab", code.python(jobs), code.figure(jobs)), 4)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=PATIENCE, startup_timeout=PATIENCE, resources=folder).execute()
    assert book.cells[-1]["source"] == "lrlab.compare([logistic, sir])"
    assert any("application/vnd.plotly.v1+json" in shown["data"] for shown in book.cells[-1]["outputs"])
