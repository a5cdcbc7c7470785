"""The part of *own data* for measurements, on the real engine: each example, uploads, what is recovered, the code."""

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import lrlab
from lrlab.__main__ import main
from lrlab.own.examples import EXAMPLES
from lrlab.ui.own_data import measurements_page, measurements_source
from tests.own import cases
from tests.own.hostile_files import KINDS as HOSTILE
from tests.own.hostile_files import npz
from tests.ui import driving
from tests.ui.driving import drawn, errors

PAGE = str(Path(__file__).parents[2] / "pages" / "own_data.py")
finished = partial(driving.finished, page="own_measurements")

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def opened(**address):
    at = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    return drawn(at.run())


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_each_example_is_recovered_and_says_where_it_is_from(name):
    example = EXAMPLES[name]
    at = finished(opened(data=example.kind, measurements=name))
    assert not errors(at)
    captions = " ".join(driving.read(caption.value) for caption in at.caption)
    assert f"Source: {example.source}" in captions and f"Licence: {example.licence}" in captions
    runs = at.session_state["own_measurements:run"].runs
    assert all(run.state == "done" for run in runs) and len(at.dataframe) == 1
    assert next(iter(runs[0].job.spec.own_measures)) in runs[0].trace.rows[-1]
    assert driving.words(at, "own_measurements.cards")


def test_results_of_other_measurements_are_said_to_be_that_or_are_not_shown():
    first, second, *_ = [name for name, example in EXAMPLES.items() if example.kind == measurements_source.ANSWERS]
    at = finished(opened(data=measurements_source.ANSWERS, measurements=first))
    changed = "have changed since this run"
    assert not any(changed in caption.value for caption in at.caption)
    at = drawn(at.selectbox(key="own_data.answers.measurements").set_value(second).run())
    assert any(changed in caption.value for caption in at.caption) and driving.words(at, "own_measurements.cards")
    other = opened(data=measurements_source.TABLE)
    for key in ("own_measurements:run", "own_measurements:about"):
        other.session_state[key] = at.session_state[key]
    drawn(other.run())
    assert not errors(other) and len(other.dataframe) == 0
    assert any("appears here" in caption.value for caption in other.caption)


def uploaded(at, kind, name, content):
    at.file_uploader(key=f"own_data.{kind}.file").set_value((name, content, ""))
    return drawn(at.run())


def test_a_file_of_answers_is_recovered_and_its_code_runs(tmp_path, monkeypatch, capsys):
    X, y, _ = cases.answers(20_032, n=300, p=4)
    at = opened(data="answers", measurements=measurements_source.OWN_FILE)
    at = finished(uploaded(at, "answers", "mine.npz", npz(X=X, y=y)))
    assert not errors(at)
    [first, *_] = at.session_state["own_measurements:run"].runs
    python = measurements_page.python(at.session_state["own_measurements:about"], [first.job])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.npz").write_bytes(npz(X=X, y=y))
    names: dict = {}
    exec(python, names)
    assert "log_loss" in capsys.readouterr().out
    assert isinstance(names["link_free_refinement"], lrlab.Trace)
    assert names["link_free_refinement"].rows[-1]["log_loss"] == pytest.approx(first.trace.rows[-1]["log_loss"])


def test_a_table_with_features_starts_with_a_solver_that_uses_them():
    given, X, Z, _ = cases.featured(20_033)
    at = opened(data="table", measurements=measurements_source.OWN_FILE)
    at = finished(uploaded(at, "table", "mine.npz", npz(X=X, Z=Z, y=given)))
    assert not errors(at)
    assert [run.job.solver for run in at.session_state["own_measurements:run"].runs] == ["altmin"]


SOAKED = ("bilinear", "quadratic", "table")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[pytest.mark.soak] * (one in SOAKED)) for one in HOSTILE])
def test_each_hostile_upload_is_one_sentence(kind):
    shown = {"bilinear": "forms", "quadratic": "forms"}.get(kind, kind)
    at = opened(data=shown, measurements=measurements_source.OWN_FILE)
    # The browser itself does not take other suffixes.
    files = {name: file for name, file in HOSTILE[kind].items() if not name.endswith(".unknown")}
    for name, (content, options) in files.items():
        said = dict(zip(options[::2], options[1::2], strict=False))
        if "--triples" in options:
            at.toggle(key="own_data.triples").set_value(True)
        if shown == "forms":
            at.selectbox(key="own_data.forms.are").set_value(said["--model"])
            at.text_input(key="own_data.z").set_value(said.get("--z", ""))
            at.text_input(key="own_data.forms.y").set_value(said.get("--y", ""))
        at = uploaded(at, shown, name, content)
        sentences = errors(at)
        assert len(sentences) == 1 and " must be " in sentences[0] and len(sentences[0]) < 700, (name, sentences)
        assert at.button(key="own_measurements-run").disabled, name


def test_the_code_of_an_example_runs_and_so_does_its_command(tmp_path, capsys):
    at = opened(data="table", measurements="drawn-table", **{"own.rank": "3"})
    runs = finished(at).session_state["own_measurements:run"].runs
    [als] = [run for run in runs if run.job.solver == "als"]
    shown = at.session_state["own_measurements:about"]
    command = measurements_page.shell(shown, [als.job])
    assert (
        command == "python -m lrlab recover example:drawn-table --model inductive-completion --solver als --set rank=3"
    )
    assert main(command.split()[3:]) == 0
    exec(measurements_page.python(shown, [als.job]), names := {})
    assert names["als"].rows[-1]["misfit"] == pytest.approx(als.trace.rows[-1]["misfit"])
