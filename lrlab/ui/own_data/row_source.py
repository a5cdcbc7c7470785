"""Has the rows of *own data* read from uploads, or draws a sample; they lie on disk for the life of the session."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
from scipy.sparse import issparse

from lrlab import datasets
from lrlab.datasets import Dataset
from lrlab.datasets.labels import COUNT, FORMS
from lrlab.engine.engine import get_engine
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.own_files import count_auc_rows, label_names
from lrlab.fits.uploads import OTHERS, TEST, TRAIN, Reading, RowFacts, carry_out, read_other_rows, read_rows, store_rows
from lrlab.models.multilabel import Multilabel
from lrlab.models.own_rows import OwnRows
from lrlab.models.scaling import Scaling
from lrlab.parameters import InputError, Parameter
from lrlab.ui.shared import live, uploads
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

LIMIT_MB = 100
SAMPLE = Multilabel(n=800, d=40, labels=24, rank=4, per_row=3, noise=0.4)
SAMPLE_TITLE = "A sample drawn by the lab"
SOURCES = {"sample": "a sample", "upload": "your own files"}
TEST_SHARE = Parameter(
    meaning="share of the rows held out for the test, drawn with seed 0, where there is no file of test rows",
    name="held",
    symbol="held",
    kind=float,
    default=0.3,
    low=0.05,
    high=0.9,
)
SESSION_KEY = "own_data:rows"
LONGEST_NAME_BYTES = 80

T = TypeVar("T")


class Folder:
    """A folder for the files of one session, removed with the last reference to it or at the server's end."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="lrlab-own-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def write(self, part: str, upload: Any) -> str:
        """Write an upload under its own name, and return its path in the folder; "" where there is no upload."""
        if upload is None:
            return ""
        path = (
            self.path
            / part
            / Path(upload.name).name.encode(errors="ignore")[-LONGEST_NAME_BYTES:].decode(errors="ignore")
        )
        path.parent.mkdir()
        path.write_bytes(upload.getvalue())
        return str(path.relative_to(self.path))


def read_folder(folder: Folder, function: Callable[[Path], Any]) -> Any:
    """Return function(path of the folder), called by a worker, which may write files there."""
    reading = Reading(function, str(folder.path), {})
    if not get_engine().local:
        paths = [path for path in folder.path.rglob("*") if path.is_file()]
        reading = Reading(function, "", {str(path.relative_to(folder.path)): path.read_bytes() for path in paths})
    value, written = uploads.on_worker(carry_out, reading)
    for name, content in written.items():
        (folder.path / name).write_bytes(content)
    return value


def read_one(upload: Any, function: Callable[..., T]) -> T:
    """Return function(path of a folder, file=path in it) of a single upload, called by a worker."""
    folder = Folder()
    return read_folder(folder, partial(function, file=folder.write("file", upload)))


@dataclass(frozen=True, eq=False)
class RowTables:
    """Training and test rows, as files, with what the page shows of them."""

    title: str
    folder: Folder
    facts: RowFacts
    test: Dataset

    @property
    def columns(self) -> Dataset:
        """The training table without its rows."""
        return self.facts.columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the labels, or else their numbers."""
        return label_names(self.columns)

    @property
    def density(self) -> float:
        """Share of the features that is not zero."""
        return self.facts.entries / (self.facts.n * self.columns.d)

    def rows_with(self, measure: str) -> int:
        """Return over how many test rows a measure is a mean: an AUC needs labels of both kinds."""
        return count_auc_rows(self.test) if measure == "auc" else self.test.n

    def scaling(self, name: str) -> Scaling:
        """Return a scaling that the training rows give."""
        if name == "auto":
            return self.facts.automatic
        return Scaling(name, self.facts.units) if name == "deviations" else Scaling(name)

    @property
    def train_file(self) -> Path:
        """The file of training rows."""
        return self.folder.path / TRAIN

    @property
    def test_file(self) -> Path:
        """The file of test rows."""
        return self.folder.path / TEST

    def spec(self, *, rank: int, share: float, seed: int, intercept: bool = True, scaling: str = "auto") -> OwnRows:
        """Return the spec of these rows; InputError where a number does not fit them."""
        return OwnRows(
            train=str(self.train_file),
            test=str(self.test_file),
            test_rows=self.test.n,
            n=self.facts.n,
            d=self.columns.d,
            labels=self.columns.L,
            per_row=round(int(self.facts.counts.sum()) / self.facts.n),
            density=max(1e-5, self.density) if issparse(self.columns.X) else 1.0,
            rank=rank,
            kept=share,
            observed=max(1e-4, share * self.facts.known),
            seed=seed,
            intercept=intercept,
            scaling=scaling,
        )


def choose(link: Permalink) -> RowTables | InputError | None:
    """Show the choice of rows; return them, the error in a file, or None where there is no file yet."""
    source = controls.choose(link, "rows", SOURCES, "sample", "the rows that solvers are fitted to", "Rows")
    if source == "sample":
        return live.once(SESSION_KEY, "sample", sample)
    train = file(link, "train", "Training rows", "Features and labels: " + ", ".join(datasets.FORMATS.values()) + ".")
    test = file(link, "test", "Test rows (optional)", "In the same format; by default a share of the rows is held out.")
    words = "XML as of Mulan, or a text file with one name per line."
    names_file = file(link, "names", "List of labels (optional)", words, ("xml", "txt"))
    columns = st.text_input(
        "or which columns are labels",
        key=link.key("labels"),
        placeholder="last:6",
        disabled=names_file is not None,
        help="The number of columns at either end, as last:6 or first:6, or their names separated by commas.",
    )
    share = controls.widget(link, TEST_SHARE, label="held out for the test", disabled=test is not None)
    if train is None:
        return stored()
    files: Any = tuple(getattr(part, "file_id", None) for part in (train, test, names_file)), columns, share
    try:
        held = float(TEST_SHARE.check(share))
        rows = uploads.once("own_data:upload", files, lambda: read(train, test, names_file, columns, held))
    except InputError as error:
        # The rows before stay in place.
        if error.name != "labels" or columns.strip() or names_file is not None:
            return error
    else:
        st.session_state[SESSION_KEY] = files, rows
        return rows
    # Not a mistake: nobody has said yet.
    st.info(
        f"Which columns of {plain(train.name)} are labels? Upload their list above, or write last:2 for the last two "
        "columns, first:2 for the first two, or their names separated by commas."
    )
    return stored()


def stored() -> RowTables | None:
    """Return the rows that were uploaded last, if there are any."""
    tables = st.session_state.get(SESSION_KEY)
    return tables[1] if tables and tables[0] != "sample" else None


def file(
    link: Permalink, name: str, title: str, words: str, suffixes: Iterable[str] = datasets.SUFFIXES, mb: int = LIMIT_MB
) -> Any:
    """Show the upload of a file; its content stays in the session."""
    words = f"{words} At most {mb} MB."
    return st.file_uploader(title, list(suffixes), key=link.key(name), help=words, max_upload_size=mb)


def sample() -> RowTables:
    """Return synthetic rows, so that the page has data at first."""
    problem, folder = SAMPLE.build(), Folder()
    features, labels = (f"feature {j + 1}" for j in range(SAMPLE.d)), (f"label {j + 1}" for j in range(SAMPLE.labels))
    names: dict[str, Any] = {"feature_names": tuple(features), "label_names": tuple(labels)}
    given, fresh = (Dataset(X, Y, **names) for X, Y in ((problem.X, problem.Y), (problem.X_test, problem.Y_test)))
    return RowTables(SAMPLE_TITLE, folder, store_rows(folder.path, given, fresh), fresh)


def read(train: Any, test: Any, names_file: Any, columns: str, share: float) -> RowTables:
    """Have uploaded files read; InputError names the line of an error."""
    folder, labels = Folder(), None if names_file else label_columns(columns)
    parts = {"train": train, "test": test, "names": names_file}
    files = tuple(folder.write(part, upload) for part, upload in parts.items())
    with st.spinner("Reading the rows..."):
        facts = read_folder(folder, partial(read_rows, files=files, labels=labels, share=share))
        # Written by the worker, in the common format.
        return RowTables(train.name, folder, facts, datasets.read(folder.path / TEST, like=facts.columns))


def label_columns(columns: str) -> str | tuple[str, ...] | None:
    """Return which columns are labels, as `datasets.read` takes it; never a path, which would be one on the server."""
    columns = columns.strip()
    if not columns or COUNT.fullmatch(columns):
        return columns or None
    names = tuple(name.strip() for name in columns.split(","))
    if not all(names):
        raise InputError("labels", FORMS, columns, "write for example last:6, or names separated by commas")
    return names


def others(upload: Any, model: FittedModel) -> Dataset:
    """Have uploaded rows with the features of a model read; InputError names the line of an error."""
    folder = Folder()
    read_folder(folder, partial(read_other_rows, file=folder.write("file", upload), like=model.columns))
    return model.read(folder.path / OTHERS)
