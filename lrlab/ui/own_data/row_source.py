"""Reads the rows of *own data* from uploads or a sample; stores them on disk for the life of the session."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from scipy.sparse import issparse

from lrlab import datasets
from lrlab.arrays import Array
from lrlab.datasets import Dataset
from lrlab.datasets.labels import COUNT, FORMS
from lrlab.fits import baselines, label_results
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.label_results import LabelCorrelations
from lrlab.fits.own_files import label_names
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import measured
from lrlab.models.own_rows import OwnRows, split
from lrlab.models.scaling import Scaling, automatic, deviations
from lrlab.parameters import InputError, Parameter
from lrlab.runs.memory import memory_limit
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

LIMIT_MB = 100
SAMPLE = Multilabel(n=800, d=40, labels=24, rank=4, per_row=3, noise=0.4)
SOURCES = {"sample": "a sample", "upload": "your own files"}
TEST_SHARE = Parameter(
    meaning="share of the rows held out for the test, drawn with seed 0, where there is no file of test rows",
    name="held", symbol="held", kind=float, default=0.3, low=0.05, high=0.9,
)  # fmt: skip
SESSION_KEY = "own_data:rows"
LONGEST_NAME = 80


class Folder:
    """A folder for the files of one session, removed with the last reference to it or at the server's end."""

    def __init__(self) -> None:
        """Create the folder."""
        self.path = Path(tempfile.mkdtemp(prefix="lrlab-own-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class RowTables:
    """Training and test rows, as files (`train.npz`, `test.npz`), with the statistics that the page shows.

    columns: the training table without its rows. units, automatic: deviations of features, and the scaling that auto
    is. floor: the scores of label frequencies on the test rows. entries: stored features of the training rows. known:
    share of their labels that is known. counts, together: frequencies and correlations of their labels.
    """

    title: str
    folder: Folder
    columns: Dataset
    test: Dataset
    n: int
    entries: int
    known: float
    counts: Any
    together: LabelCorrelations
    units: Array
    automatic: str
    floor: Mapping[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the labels, or else their numbers."""
        return label_names(self.columns)

    @property
    def density(self) -> float:
        """Share of the features that is not zero."""
        return self.entries / (self.n * self.columns.d)

    def scaling(self, name: str) -> Scaling:
        """Return a scaling that the training rows give."""
        if name == "auto":
            name = self.automatic
        return Scaling(name, self.units) if name == "deviations" else Scaling(name)

    @property
    def train_file(self) -> Path:
        """The file of training rows."""
        return self.folder.path / "train.npz"

    @property
    def test_file(self) -> Path:
        """The file of test rows."""
        return self.folder.path / "test.npz"

    def spec(self, *, rank: int, share: float, seed: int, intercept: bool = True, scaling: str = "auto") -> OwnRows:
        """Return the spec of these rows; InputError where a number does not fit them."""
        return OwnRows(
            train=str(self.train_file), test=str(self.test_file), test_rows=self.test.n, n=self.n, d=self.columns.d,
            labels=self.columns.L, per_row=round(int(self.counts.sum()) / self.n),
            density=max(1e-5, self.density) if issparse(self.columns.X) else 1.0, rank=rank, kept=share,
            observed=max(1e-4, share * self.known), seed=seed, intercept=intercept, scaling=scaling,
        )  # fmt: skip


def choose(link: Permalink) -> RowTables | InputError | None:
    """Show the choice of rows; return them, the error in a file, or None where there is no file yet."""
    source = controls.choose(link, "rows", SOURCES, "sample", "the rows that solvers are fitted to", "Rows")
    if source == "sample":
        return live.once(SESSION_KEY, "sample", sample)
    train = file(link, "train", "Training rows", "Features and labels: " + ", ".join(datasets.FORMATS.values()) + ".")
    test = file(link, "test", "Test rows (optional)", "In the same format; by default a share of the rows is held out.")
    words = "XML as of Mulan, or a text file with one name per line."
    names_file = file(link, "names", "List of labels (optional)", words, listed=True)
    columns = st.text_input(
        "or which columns are labels", key=link.key("labels"), placeholder="last:6", disabled=names_file is not None,
        help="The number of columns at either end, as last:6 or first:6, or their names separated by commas.",
    )  # fmt: skip
    share = controls.widget(link, TEST_SHARE, label="held out for the test", disabled=test is not None)
    if train is None:
        stored_tables = st.session_state.get(SESSION_KEY)
        return stored_tables[1] if stored_tables and stored_tables[0] != "sample" else None
    files: Any = tuple(getattr(part, "file_id", None) for part in (train, test, names_file)), columns, share
    try:
        # An error leaves the old rows in place.
        held = float(TEST_SHARE.check(share))
        return live.once(SESSION_KEY, files, lambda: read(train, test, names_file, columns, held))
    except InputError as error:
        if error.name != "labels" or columns.strip() or names_file is not None:
            return error
        # Not a mistake: nobody has said yet.
        st.info(
            f"Which columns of {train.name} are labels? Upload their list above, or write last:2 for the last two "
            "columns, first:2 for the first two, or their names separated by commas."
        )
        stored_tables = st.session_state.get(SESSION_KEY)
        return stored_tables[1] if stored_tables and stored_tables[0] != "sample" else None


def file(link: Permalink, name: str, title: str, words: str, listed: bool = False) -> Any:
    """Show the upload of a file; its content stays in the session."""
    suffixes = ["xml", "txt"] if listed else [suffix.removeprefix(".") for suffix in datasets.SUFFIXES]
    return st.file_uploader(
        title, suffixes, key=link.key(name), help=f"{words} At most {LIMIT_MB} MB.", max_upload_size=LIMIT_MB
    )


def sample() -> RowTables:
    """Return synthetic rows, so that the page has data at first."""
    problem = SAMPLE.build()
    features, labels = (f"feature {j + 1}" for j in range(SAMPLE.d)), (f"label {j + 1}" for j in range(SAMPLE.labels))
    names: dict[str, Any] = {"feature_names": tuple(features), "label_names": tuple(labels)}
    drawn = (Dataset(X, Y, **names) for X, Y in ((problem.X, problem.Y), (problem.X_test, problem.Y_test)))
    return store_tables("A synthetic sample", Folder(), *drawn)


def read(train: Any, test: Any, names_file: Any, columns: str, share: float) -> RowTables:
    """Read uploaded files; InputError names the line of an error."""
    folder = Folder()
    labels = write_upload(folder, "labels", names_file) if names_file else label_columns(columns)
    with st.spinner("Reading the rows..."):
        given = read_and_remove(write_upload(folder, "train", train), labels)
        if test is None:
            given, fresh = split(given, share, 0)
        else:
            fresh = read_and_remove(write_upload(folder, "test", test), labels, like=given)
        return store_tables(train.name, folder, given, fresh)


def label_columns(columns: str) -> str | tuple[str, ...] | None:
    """Return which columns are labels, as `datasets.read` takes it; never a path, which would be one on the server."""
    columns = columns.strip()
    if not columns or COUNT.fullmatch(columns):
        return columns or None
    names = tuple(name.strip() for name in columns.split(","))
    if not all(names):
        raise InputError("labels", FORMS, columns, "write for example last:6, or names separated by commas")
    return names


def write_upload(folder: Folder, part: str, upload: Any) -> Path:
    """Write an upload to the folder under its own name, and return its path."""
    path = folder.path / part / Path(upload.name).name[-LONGEST_NAME:]
    path.parent.mkdir()
    path.write_bytes(upload.getvalue())
    return path


def read_other_rows(upload: Any, model: FittedModel) -> Dataset:
    """Read uploaded rows with the features of a model; InputError names the line of an error."""
    folder = Folder()
    return model.read(write_upload(folder, "others", upload), limit_bytes=memory_limit())


def read_and_remove(path: Path, labels: Any, like: Dataset | None = None) -> Dataset:
    """Read a file and remove it."""
    try:
        return datasets.read(path, labels, like=like, limit_bytes=memory_limit())
    finally:
        path.unlink()


def store_tables(title: str, folder: Folder, given: Dataset, fresh: Dataset) -> RowTables:
    """Write both tables to files for the workers, and return their description for the session."""
    entries = given.X.nnz if issparse(given.X) else given.X.size
    known = 1.0 if given.observed is None else given.observed.nnz / (given.n * given.L)
    counts, together = label_results.label_counts(given), label_results.label_correlations(given)
    columns, scalings = given.rows(slice(0, 0)), (deviations(given.X), automatic(given.X))
    frequent: Any = baselines.frequencies(given.d, given.Y, given.observed)
    floor = measured(frequent, fresh.X, fresh.Y, fresh.observed)
    rows = RowTables(title, folder, columns, fresh, given.n, entries, known, counts, together, *scalings, floor)
    datasets.save_npz(rows.train_file, given)
    datasets.save_npz(rows.test_file, fresh)
    return rows
