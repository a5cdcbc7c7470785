"""The page Your data on the real engine: examples, files of each kind, results, code, hostile uploads."""

import time
from functools import partial

import numpy as np
import pytest

from lrlab.__main__ import main
from lrlab.data.examples import EXAMPLES
from lrlab.parameters import InputError
from lrlab.ui import own_data
from lrlab.ui.own_data import TILES, roles, short_name
from lrlab.ui.shared import live
from tests.data import cases
from tests.data.hostile import KINDS as HOSTILE
from tests.data.hostile import npz
from tests.thorough import a_third, but
from tests.ui import driving
from tests.ui.driving import drawn, errors

opened = partial(driving.opened, "own_data")
finished = partial(driving.finished, page="own_data")
# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def uploaded(at, *files):
    at.file_uploader(key="own_data.file").set_value([(name, content, "") for name, content in files])
    return drawn(at.run())


def test_the_first_screen_is_a_drop_area_with_six_tiles():
    at = opened()
    assert len(TILES) == 6 and len([b for b in at.button if b.key.startswith("own_data-tile-")]) == 6
    assert not at.sidebar.selectbox and at.button(key="own_data-run").disabled
    at = drawn(at.button(key="own_data-tile-wine").click().run())
    assert not errors(at) and "a 178 x 13 matrix" not in at.sidebar and not at.button(key="own_data-run").disabled


@pytest.mark.slow
@pytest.mark.parametrize("name", a_third(list(EXAMPLES)))
def test_each_example_is_recovered_and_says_where_it_is_from(name):
    at = finished(opened(measurements=name))
    assert not errors(at)
    said = " ".join(driving.read(one.value) for one in at.markdown)
    assert f"Source: {EXAMPLES[name].source}" in said and "baseline" in said
    runs = at.session_state["own_data:run"].runs
    assert all(run.state == "done" for run in runs) and len(at.dataframe) == 1
    assert driving.words(at, "own_data.cards")


X, y, _ = cases.answers(20_032, n=300, p=4)
ROWS = "\n".join(["a,b,c,d,target", *(",".join(f"{v:g}" for v in (*x, t)) for x, t in zip(X, y, strict=True))])
LABELS = "\n".join(["a,b,c,d,l1,l2", *(",".join(f"{v:g}" for v in (*x, t, 1 - t)) for x, t in zip(X, y, strict=True))])
USERS = "\n".join(["user,age", *(f"u{k},{k}" for k in range(20))])
RATINGS = "\n".join(["user,item,rating", *(f"u{k % 20},i{k % 7},{1 + k * k % 5}" for k in range(140))])
REAL = "\n".join(["a,b,y", *(f"{x[0]:g},{x[1]:g},{x[2] + x[0] * x[1]:g}" for x in X)])
FILES = {
    "responses": ([("mine.csv", ROWS.encode())], {}, "300 samples, 4 features a..d, response `target`"),
    "arrays": ([("mine.npz", npz(X=X, y=y))], {}, "arrays X 300x4, y 300"),
    "ratings": ([("r.csv", RATINGS.encode()), ("users.csv", USERS.encode())], {}, "140 entries `rating`"),
    "labels": ([("l.csv", LABELS.encode())], {"labels": "l1,l2"}, "300 rows, 4 features, 2 labels"),
    "form": ([("real.csv", REAL.encode())], {}, "300 samples, 2 features a..b, response `y` (real)"),
    "form without linear terms": ([("real.csv", REAL.encode())], {"own.constant": "false"}, "response `y` (real)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_recognized_and_its_code_gives_the_same(kind, tmp_path, monkeypatch, capsys):
    files, address, words = FILES[kind]
    at = finished(uploaded(opened(**address, max_iter="4"), *files))
    said = " ".join(driving.read(one.value) for one in at.markdown)
    assert not errors(at) and words in said and "\\`" not in " ".join(one.value for one in at.markdown)
    first = at.session_state["own_data:run"].runs[0]
    assert "form" not in kind or first.job.spec.constant is ("own.constant" not in address)
    monkeypatch.chdir(tmp_path)
    for name, content in files:
        (tmp_path / name).write_bytes(content)
    names: dict = {}
    about = at.session_state["own_data:about"]
    exec(own_data.python(about, [first.job]), names)
    fit = names[first.job.solver.replace("-", "_")]
    measure = list(first.job.spec.data_metrics)[0]
    assert fit.trace.rows[-1][measure] == pytest.approx(first.trace.rows[-1][measure])
    assert kind != "responses" or np.allclose(at.dataframe[0].value["direction"], fit.trace.estimate)
    assert main(own_data.shell(about, [first.job]).split()[3:]) == 0 and words in capsys.readouterr().out


def test_results_of_other_data_are_said_to_be_that():
    at = finished(opened(measurements="drawn-form"))
    changed = "have changed since this run"
    assert not any(changed in caption.value for caption in at.caption)
    at.session_state["own_data.measurements"] = "diabetes"
    at = drawn(at.run())
    assert any(changed in caption.value for caption in at.caption) and driving.words(at, "own_data.cards")


def test_roles_of_several_files_are_told_by_their_names():
    names = ["bibtex-train.arff", "bibtex-test.arff", "bibtex.xml"]
    assert roles(names) == dict(zip(("file", "test", "labels"), names, strict=True))
    assert roles(["ratings.csv", "movies.csv"]) == {"file": "ratings.csv", "columns": "movies.csv"}
    with pytest.raises(InputError, match="one of each role"):
        roles(["a.csv", "b.csv"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", but(["magnitudes"], ["magnitudes", "answers", "table"]))
def test_each_hostile_upload_is_one_sentence(kind):
    # The browser itself does not take other suffixes.
    files = {name: file for name, file in HOSTILE[kind].items() if not name.endswith(".unknown")}
    for name, (content, options) in files.items():
        said = dict(zip(options[::2], options[1::2], strict=False))
        model = said.get("--model", "")
        at = opened(**({"kind": "triples"} if "--triples" in options else {"model": model}))
        sentences = errors(uploaded(at, (name, content)))
        assert len(sentences) == 1 and " must be " in sentences[0] and len(sentences[0]) < 700, (name, sentences)
        assert "worker" not in sentences[0], "that of the reader"
        assert at.button(key="own_data-run").disabled, name


@pytest.mark.parametrize(("example", "solvers"), [("breast-cancer", 2), ("wine", 2), ("labels", 2), ("drawn-form", 1)])
def test_the_default_solvers_are_those_that_run(example, solvers):
    at = opened(measurements=example)
    assert len([box for box in at.sidebar.checkbox if box.value]) == solvers
    assert len(at.sidebar.checkbox) + len(at.sidebar.number_input) + len(at.sidebar.selectbox) < 6


@pytest.mark.slow
@pytest.mark.attempt(
    "an upload that takes too long or too much memory to read",
    "one sentence, the worker is ended alone",
)
def test_what_takes_too_long_or_too_much_memory_ends_in_a_sentence():
    with pytest.raises(InputError, match="file must be one that a worker reads within 0.1 s"):
        live.on_worker(time.sleep, 30.0, seconds=0.1)
    with pytest.raises(InputError, match="got The job needed more memory than there is: upload a smaller one"):
        live.on_worker(np.ones, 2**50)


@pytest.mark.attempt("an upload whose name has 300 bytes (76 emoji)", "cut by its bytes")
@pytest.mark.parametrize("name", ["\N{GRINNING FACE}" * 76 + ".csv", "é" * 200 + ".csv", "a" * 300 + ".csv"])
def test_a_long_name_is_cut_by_its_bytes(name, tmp_path):
    path = tmp_path / short_name(name)
    path.write_bytes(b"1,2")
    assert path.suffix == ".csv" and path.name[0] == name[0] and len(path.name.encode()) <= 80
