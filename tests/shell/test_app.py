"""`lrlab app` and what is missing without extras, each in one sentence."""

import importlib
import os
import socket
import sys

import pytest

import lrlab
from lrlab import extras
from lrlab.__main__ import main
from lrlab.engine.engine import Engine
from lrlab.parameters import InputError
from lrlab.shell import app


@pytest.fixture
def without(monkeypatch):
    """Return a function that lets a module be missing, with what other tests have imported of it."""

    def leave_out(module):
        for name in {module, *(name for name in sys.modules if name.startswith(f"{module}."))}:
            monkeypatch.setitem(sys.modules, name, None)

    return leave_out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--port", "0"], "--port must be a whole number in 1..65535, got 0: name another port"),
        (["--port", "x"], "argument --port: invalid int value: 'x'"),
        (["--with", "missing.py"], "with must be a Python file that is there, got "),
    ],
)
def test_a_wrong_argument_is_one_sentence(capsys, arguments, sentence):
    try:
        status = main(["app", *arguments])
    except SystemExit as ended:
        status = ended.code
    error = capsys.readouterr().err
    assert status == 2 and sentence in error and error.count("\n") == 1


def test_a_port_that_is_taken_is_one_sentence(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["app", "--port", str(taken.getsockname()[1])]) == 2
    assert capsys.readouterr().err.endswith(": name another port\n")


def test_arguments_are_what_the_server_is_started_with(monkeypatch, tmp_path):
    (tmp_path / "own.py").write_text("ENTRIES = ()\n")
    monkeypatch.chdir(tmp_path)
    # Set first, so that they are as before in the end.
    for name in ("LRLAB_PLUGINS", "LRLAB_STORE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "argv", [])
    started = []
    monkeypatch.setattr(app.runpy, "run_module", lambda name, **how: started.append([name, *sys.argv]))
    assert main(["app", "--port", "18501", "--with", "own.py", "--store", "mine.sqlite", "--no-browser"]) == 0
    assert os.environ["LRLAB_PLUGINS"] == str(tmp_path / "own.py")
    assert os.environ["LRLAB_STORE"] == str(tmp_path / "mine.sqlite")
    [[module, *arguments]] = started
    assert module == "streamlit" and arguments[:2] == ["streamlit", "run"] and arguments[2].endswith("app.py")
    assert arguments[3:] == ["--server.address", "127.0.0.1", "--server.port", "18501"]


def test_without_streamlit_a_sentence_says_what_to_install(capsys, without):
    without("streamlit")
    assert main(["app"]) == 2
    assert "streamlit must be installed for the pages" in (said := capsys.readouterr().err)
    assert said.endswith("pip install 'lrlab[app]'\n") and said.count("\n") == 1


def test_without_an_engine_a_sweep_says_what_to_install(without):
    without("distributed")
    with pytest.raises(InputError, match=r"installed for sweeps.*pip install 'lrlab\[engine\]'"):
        Engine()


def test_without_scikit_learn_a_solver_says_what_to_install(without):
    without("sklearn")
    with pytest.raises(InputError, match=r"scikit-learn must be .*pip install 'lrlab\[fit\]'"):
        lrlab.solve(lrlab.spec("multilabel", n=50, labels=4, rank=2), "svm", worker=False)


def test_another_missing_module_is_not_explained_away():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), extras.named():
        importlib.import_module("no_such_module")
