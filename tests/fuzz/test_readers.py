"""Files, models, definitions, command lines and addresses with random mistakes: a result, or one sentence.

The suite always tries the same few. `LRLAB_FUZZ=10000 pytest tests/fuzz` (`make soak`) tries that many new ones.
"""

import contextlib
import io
import math
import os
import zipfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lrlab import catalog, lessons, presets
from lrlab.__main__ import main
from lrlab.data import files as readers
from lrlab.data import reading as datasets
from lrlab.data.arrays import LARGEST
from lrlab.data.dataset import Dataset
from lrlab.data.hints import Hints
from lrlab.data.label_task import LabelModel, load_model, save_model
from lrlab.data.recover import job_of
from lrlab.lowrank import LowRank
from lrlab.models.pictures import decode, encode
from lrlab.parameters import InputError, declared
from lrlab.presets import sweeps as library
from lrlab.protocol import Limits
from lrlab.sweeps.toml import parse, to_toml
from tests.data.cases import save_npz
from tests.data.hostile import COMPRESSED, KERNEL, PARTS, npy, npz, png
from tests.data.test_rows import FILES, XML
from tests.solvers.driving import dense
from tests.ui.driving import opened

ALL = int(os.environ.get("LRLAB_FUZZ", "0"))
SHARES = {"readers": 0.44, "models": 0.12, "definitions": 0.22, "shell": 0.1, "addresses": 0.12}
"""Fractions of all examples: pages take a hundred times as long as readers."""
NUMBERS = (
    "0", "-1", "1", "2", "3", "7", "40", "1e9", "1000000000", "-0", "0.5", "1e-320", "1e308", "-1e308", "1e999", "nan",
    "inf", "-inf", "9" * 400, "1_000", "0x10", "007", "+5", "1.", ".5", "1e", "--1", "\uff15", "\u0663", "1,5",
    "2147483648", "18446744073709551616",
)  # fmt: skip
WORDS = (
    "", " ", "true", "no", "none", "random", "auto", "NaN", "<script>alert(1)</script>", "$x$ **b** :red[c]",
    "../../etc/passwd", "/dev/zero", "=cmd()", "'\"`", "{}", "[]", "\x00", "\u202e", "\ud7ff\U0010ffff", "\r\n", "a\nb",
    "%s%n", "e\u0301", "x" * 5000,
)  # fmt: skip
TOKENS = st.one_of(
    st.sampled_from([*NUMBERS, *WORDS, *"{}[]()<>,;:=#%@?!'\"\\\t\n \x00", "\ufeff", "\x1a", "@data", "qid:1", '"""']),
    st.text(max_size=4),
)


def drawn(share: str, few: int, *strategies: Any, **named: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return hypothesis's `given` with its settings: `few` examples, or the share of a long run, by parts of 1."""
    name, _, part = share.partition(":")
    many = int(ALL * SHARES[name] * float(part or 1.0))

    return lambda test: settings(max_examples=many or few)(given(*strategies, **named)(test))


@st.composite
def changed(draw: Any, contents: Sequence[Any], tokens: Any = TOKENS) -> Any:
    """Return a text, or bytes, with up to four parts removed, doubled, cut off or replaced."""
    content = draw(st.sampled_from(list(contents)))
    comma, space = (",", " ") if isinstance(content, str) else (b",", b" ")
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(len(content), start + draw(st.sampled_from([0, 1, 8, 200])))))
        words = content.replace(comma, space).split()
        match draw(st.integers(0, 4)):
            case 0:
                content = content[:start] + content[stop:]
            case 1:
                place = draw(st.integers(0, len(content)))
                content = content[:place] + content[start:stop] + content[place:]
            case 2:
                content = content[:start] + content[:0].join(draw(st.lists(tokens, max_size=3))) + content[stop:]
            case 3 if words:
                content = content.replace(draw(st.sampled_from(words)), draw(tokens), 1)
            case _:
                content = content[:stop]
    return content


def changed_bytes(contents: Sequence[bytes]) -> Any:
    """Return a strategy of bytes, changed in the same ways."""
    return changed(contents, st.one_of(st.binary(max_size=6), st.sampled_from([b"\0" * 4, b"\xff" * 8, b"\x7f\xff"])))


@st.composite
def changed_archive(draw: Any, archives: Sequence[bytes], arrays: Any) -> bytes:
    """Return an archive of arrays, some of them replaced, renamed or left out."""
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(list(archives))))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(members)
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)):
        content = members.pop(name)
        if draw(st.integers(0, 5)):
            renamed = draw(st.sampled_from([name, name, name, *names]))
            members[renamed] = draw(st.one_of(st.just(content), changed_bytes([content]), arrays, arrays))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


TEXTS = {name: content for name, (content, _) in FILES.items()}
"""One data set in every format of text."""
LISTS = {"names.xml": XML, "names.txt": "l0\nl1\nl2\n"}
"""Lists of labels."""
RATINGS = "user,item,rating,time\nu1,i1,3.5,9\nu1,i2,4,9\nu2,i1,1,9\n"
USERS = "user,age,town\nu1,30,Paris\nu2,41,Rome|Oslo\n"


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    """Let readers take 50 MB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "LIMIT_BYTES", 50 * 10**6)
        yield


def written(folder, name, content):
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return path


def read_or_refused(reader, *given, **named):
    """Return the result of a reader, or None if it refuses the file in one sentence."""
    try:
        return reader(*given, **named)
    except InputError as error:
        assert "\n" not in str(error) and "must be" in str(error) and len(str(error)) < 1000
        return None


def check(folder: Path, data):
    """Check the promises of every data set, and that it survives writing and reading."""
    X, Y = dense(data.X), dense(data.Y)
    assert data.n > 0 and X.shape == (data.n, data.d) and np.isfinite(X).all()
    assert set(np.unique(Y)) <= {0, 1}
    if data.observed is not None:
        assert not (dense(data.observed) == 0)[Y > 0].any()
    for names in (data.feature_names, data.label_names):
        assert names is None or len(set(names)) == len(names)
    save_npz(folder / "again.npz", data)
    again = datasets.read(folder / "again.npz")
    assert np.array_equal(dense(again.X), X) and np.array_equal(dense(again.Y), Y)
    assert (again.feature_names, again.label_names) == (data.feature_names, data.label_names)


ARRAYS = st.one_of(
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 1e308, np.inf, np.nan, True]).map(np.array),
    st.lists(st.integers(0, 3), max_size=3).map(np.ones),
    st.lists(st.sampled_from([0, 1, -1, 6, 2**40]), max_size=5).map(lambda values: np.array(values, dtype=np.int64)),
    st.lists(st.text(max_size=3), max_size=7).map(lambda names: np.array(names, dtype=str)),
).map(npy)
NPZ = [
    npz(X=np.ones((3, 2)), Y=np.eye(3, 2), label_names=np.array(["a", "b"])),
    npz(X=np.eye(2), Y=np.array([[0.0, np.nan], [1.0, -1.0]])),
]


CHOICES = st.sampled_from([None, 2, "first:2", ["l0", "l1"], "last:9"])
TABLES = st.sampled_from(sorted(TEXTS)).flatmap(lambda name: st.tuples(st.just(name), changed([TEXTS[name]]), CHOICES))
ARCHIVED = st.tuples(st.just("a.npz"), st.one_of(changed_bytes(NPZ), changed_archive(NPZ, ARRAYS)), st.none())


@pytest.mark.attempt("random tables and archives", "read, or one sentence")
@drawn("readers:.65", 90, file=st.one_of(TABLES, TABLES, ARCHIVED))
def test_a_file_is_read_or_refused(tmp_path_factory, file):
    folder, (name, content, labels) = tmp_path_factory.mktemp("file"), file
    path = written(folder, name, content)
    if (data := read_or_refused(datasets.read, path, labels)) is not None:
        check(folder, data)


@drawn("readers:.1", 30, text=changed([RATINGS]), users=st.one_of(st.none(), changed([USERS])))
def test_ratings_are_read_or_refused(tmp_path_factory, text, users):
    folder = tmp_path_factory.mktemp("ratings")
    hints = Hints(rows="" if users is None else written(folder, "users.csv", users))
    given = read_or_refused(datasets.read_given, written(folder, "r.csv", text), hints)
    if given is not None and given.model == "inductive-completion" and isinstance(given.y, tuple):
        rows, columns, values = given.y
        assert len(rows) == len(columns) == len(values) > 0 and "\n" not in given.words
        assert rows.max() < len(given.rows) and columns.max() < len(given.names)
        job = read_or_refused(job_of, given.y, given.X, model=given.model)
        assert job is None or abs(values).max() <= LARGEST


@drawn("readers:.07", 20, content=changed_bytes([png(9, 7), *[Path("assets/transition.png").read_bytes()[:2000]]]))
def test_a_picture_is_read_or_refused(content):
    if (text := read_or_refused(encode, content, 8)) is not None:
        picture = decode(text, 8)
        assert picture.shape == (64,) or picture.size == 64
        assert all(math.isfinite(value) for value in picture.ravel())


def small_model():
    """Return a model with named columns as bytes."""
    columns = Dataset(np.zeros((0, 3)), csr_array((0, 2)), None, ("a", "b", "c"), ("x", "y"))
    stream = io.BytesIO()
    save_model(stream, LabelModel(LowRank(np.eye(3, 1), np.ones(1), np.eye(2, 1)), np.zeros(0), columns))
    return stream.getvalue()


ARCHIVES = [npz(**PARTS), npz(**KERNEL), npz(**COMPRESSED), small_model()]
LABELS = st.one_of(changed_bytes(ARCHIVES), changed_archive(ARCHIVES, ARRAYS))


@pytest.mark.attempt("random files of models", "predictions, or one sentence")
@drawn("models:1", 40, content=LABELS)
def test_a_model_of_labels_predicts_or_is_refused(tmp_path_factory, content):
    model = read_or_refused(load_model, written(tmp_path_factory.mktemp("model"), "m.npz", content))
    if model is not None:
        assert np.isfinite(model.scores(np.ones((2, model.columns.d)))).all()
        assert len(set(model.columns.names)) == model.columns.L and np.isfinite(model.estimate.threshold)


FOLDER = files("lrlab.presets")
SWEEPS = [(FOLDER / "sweeps" / f"{name}.toml").read_text(encoding="utf-8") for name in library.names()]
SWEEPS += [
    """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials = 20
success = { metric = "error", below = 0.05 }
adaptive = true
seed = 3
[spec]
p = 60
[axes]
m = [200, 400, 800]
r = { from = 1, to = 5, steps = 5, spacing = "log" }
[settings]
max_iter = 9
"""
]


VALUES = st.one_of(TOKENS, st.sampled_from([*NUMBERS, '"x"', "[]", "{}", "[1, 2]", "true", "-1"]))


@pytest.mark.attempt("random definitions of sweeps", "read, or one sentence")
@drawn("definitions:.6", 40, text=changed(SWEEPS, VALUES))
def test_a_sweep_is_read_or_refused(text):
    sweep = read_or_refused(parse, text)
    if sweep is not None:
        assert parse(to_toml(sweep)) == sweep
        assert 1 <= sweep.trials and all(len(values) <= 10**6 for _, values in sweep.axes if isinstance(values, tuple))
        for name, value in sweep.spec.values().items():
            if (parameter := declared(type(sweep.spec)).get(name)) is not None:
                assert parameter.check(value) == value


OPTIONS = ("--rank", "--iterations", "--seed", "--base", "--set", "--top", "--user", "--labels")
SHELL_WORDS = (
    "models", "solve", "store", "predict", "fit", "one-bit-sensing", "--solver", "pairwise-moment", "n=40", "--json",
    "--help", "--out", "--store", "--tune", "-x", "--", *OPTIONS,
)  # fmt: skip


def run(arguments):
    """Run a command line in this process, and check its exit status and errors."""
    # The system passes neither NUL bytes nor halves of characters in arguments.
    arguments = [text.replace("\0", "").encode("utf-8", "ignore").decode() for text in map(str, arguments)]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    assert status in (0, 1, 2), (arguments, status)
    assert "Traceback" not in errors.getvalue()
    if status:
        assert len(errors.getvalue().strip().splitlines()) == 1, (arguments, errors.getvalue())


@pytest.mark.attempt("random command lines", "a result, or one line")
@drawn("shell:.4", 15, words=st.lists(st.one_of(st.sampled_from(SHELL_WORDS), TOKENS), max_size=6))
def test_any_words_end_in_one_line(words, tmp_path_factory):
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("words"))
    try:
        run(words)
    finally:
        os.chdir(before)


@drawn("shell:.6", 15, data=st.data(), options=st.lists(st.tuples(st.sampled_from(OPTIONS), VALUES), max_size=2))
def test_fit_and_predict_end_in_rows_or_one_line(tmp_path_factory, data, options):
    folder = tmp_path_factory.mktemp("files")
    name = data.draw(st.sampled_from([*sorted(TEXTS), "r.csv"]))
    content = data.draw(changed([TEXTS.get(name, RATINGS)]))
    rows = written(folder, name, content)
    listed = data.draw(st.sampled_from(sorted(LISTS)))
    labels = written(folder, listed, data.draw(changed([LISTS[listed]])))
    model = written(folder, "m.npz", data.draw(st.one_of(st.just(npz(**PARTS)), changed_bytes([npz(**PARTS)]))))
    line = data.draw(
        st.sampled_from(
            [
                ["fit", rows, "--solver", "leml-squared", "--labels", labels, "--iterations", "2"],
                ["fit", rows, "--solver", "plst", "--labels", "last:3", "--iterations", "2"],
                ["predict", model, rows],
                ["store", model],
                ["sweep", rows],
            ]
        )
    )
    run([*line, *(word for pair in options for word in pair)])


OWN = (
    "solvers", "show", "axes", "against", "axis", "from", "to", "points", "spacing", "trials", "moment", "bins",
    "x-axis", "x-from", "x-to", "x-points", "x-values", "y-axis", "y-values", "y-spacing", "rule.metric", "rule.side",
    "rule.level", "adaptive", "budget", "tolerance", "apart", "lines", "paper", "data", "measurements", "labels",
    "kind", "y", "z", "missing", "duplicates", "own.rank", "lesson", "step", "answer", "teacher", "run", "qq", "pa per",
)  # fmt: skip
"""Keys of pages besides the parameters of models, solvers and limits."""
WITH_MODEL = ("converge", "spectrum", "transition")
LARGEST_SIZE = 3000.0
"""Of sizes that may be accepted: a page draws the truth."""


def named(value):
    """Return what an address can hold: no half of a character."""
    return value.encode("utf-8", "ignore").decode()


@st.composite
def addresses(draw):
    """Return a page and its address: for a model, names of its parameters, of solvers' options and of the page."""
    page = draw(st.sampled_from([*WITH_MODEL, "papers", "own_data", "learn", "home"]))
    address = {}
    model = draw(st.sampled_from(sorted(catalog.MODELS))) if page in WITH_MODEL else ""
    if model:
        address["model"] = [draw(TOKENS)] if draw(st.integers(0, 9)) == 0 else [model]
    names = [*OWN]
    if model:
        options = [f"{entry.name}.{name}" for entry in catalog.solvers_for(model) for name in entry.options]
        names += [*declared(catalog.MODELS[model]), *options, *declared(Limits)]
    known = [*presets.names(), *lessons.lessons(), *catalog.MODELS, "sir", "gamp", "ratings", "upload", "2", "full"]
    values = st.one_of(st.sampled_from(NUMBERS), TOKENS, st.sampled_from(known))
    for _ in range(draw(st.integers(0, 5))):
        name = draw(st.one_of(st.sampled_from(names), TOKENS))
        # A run is another matter.
        value = draw(st.sampled_from(["0", "yes", "2", ""])) if name == "run" else draw(values)
        address[named(name)] = [named(value)] if draw(st.integers(0, 9)) else [named(draw(values)), named(value)]
    return page, {name: [value for value in several if not large(name, value)] for name, several in address.items()}


def large(name, value):
    """Return whether a value is a size that the page would accept and draw at length."""
    sizes = {"n", "m", "p", "d", "d1", "d2", "n1", "n2", "labels", "x-points"}
    with contextlib.suppress(ValueError):
        return name in sizes and LARGEST_SIZE < float(value) < 1e7
    return False


@pytest.mark.usefixtures("engine")
@pytest.mark.attempt("random addresses", "shown, or one sentence")
@pytest.mark.slow
@drawn("addresses", 4, drawn_address=addresses())
def test_an_address_is_shown_or_refused(drawn_address):
    page, address = drawn_address
    at = opened(page, **address)
    sentences = [error.value for error in at.error]
    assert all("\n" not in sentence and len(sentence) < 1000 for sentence in sentences), sentences
