"""Where the rows of *own data* come from: files of a person, or a sample; kept on disk as long as the session lives."""

import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from scipy.sparse import issparse

from lrlab import datasets
from lrlab.datasets import Dataset
from lrlab.datasets.labels import COUNT, FORMS
from lrlab.fits import label_results
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.label_results import Together
from lrlab.fits.own_files import label_names
from lrlab.models.multilabel import Multilabel
from lrlab.models.own_rows import OwnRows, split
from lrlab.parameters import InputError, Parameter
from lrlab.runs.memory import memory_limit
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

LIMIT_MB = 100
SAMPLE = Multilabel(n=800, d=40, labels=24, rank=4, per_row=3, noise=0.4)
SOURCES = {"sample": "a sample", "upload": "your own files"}
HELD = Parameter(
    meaning="share of the rows that is kept for the test, drawn with seed 0, where there is no file of test rows",
    name="held", symbol="held", kind=float, default=0.3, low=0.05, high=0.9,
)  # fmt: skip
KEPT = "own_data:rows"
LONGEST_NAME = 80


class Folder:
    """A folder for one session's files; it goes when nothing refers to it any more, or the server ends."""

    def __init__(self) -> None:
        """Make it."""
        self.path = Path(tempfile.mkdtemp(prefix="lrlab-own-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class RowTables:
    """Rows to learn from and to test on, as files (`train.npz`, `test.npz`), with what is shown of them.

    columns: the training rows' columns, without rows. entries: stored features of the training rows. known: share of
    their labels that is known. counts, together: how often each label is on there, and which go together.
    """

    title: str
    folder: Folder
    columns: Dataset
    test: Dataset
    n: int
    entries: int
    known: float
    counts: Any
    together: Together

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the labels, or else their numbers."""
        return label_names(self.columns)

    @property
    def density(self) -> float:
        """Share of the features that is not zero."""
        return self.entries / (self.n * self.columns.d)

    @property
    def train_file(self) -> Path:
        """Where the training rows are."""
        return self.folder.path / "train.npz"

    @property
    def test_file(self) -> Path:
        """The file of test rows."""
        return self.folder.path / "test.npz"

    def spec(self, *, rank: int, kept: float, seed: int) -> OwnRows:
        """Return these rows as what a job is made of; InputError where a number does not fit them."""
        return OwnRows(
            train=str(self.train_file), test=str(self.test_file), test_rows=self.test.n, n=self.n, d=self.columns.d,
            labels=self.columns.L, per_row=round(int(self.counts.sum()) / self.n),
            density=max(1e-5, self.density) if issparse(self.columns.X) else 1.0, rank=rank, kept=kept,
            observed=max(1e-4, kept * self.known), seed=seed,
        )  # fmt: skip


def choose(link: Permalink) -> RowTables | InputError | None:
    """Let a person choose rows; return them, the error in a file, or None where there is no file yet."""
    source = controls.choose(link, "rows", SOURCES, "sample", "what solvers learn from", "Rows")
    if source == "sample":
        return remembered("sample", sample)
    train = file(link, "train", "Training rows", "Features and labels: " + ", ".join(datasets.FORMATS.values()) + ".")
    test = file(link, "test", "Test rows, or none", "In the same format; without it a share of the rows is held out.")
    named = file(
        link, "names", "List of labels, or none", "XML as of Mulan, or a text file, a name a line.", listed=True
    )
    said = st.text_input(
        "or which columns are labels", key=link.key("labels"), placeholder="last:6", disabled=named is not None,
        help="How many columns at which end, as last:6 or first:6, or their names with commas between.",
    )  # fmt: skip
    share = controls.widget(link, HELD, label="held out for the test", disabled=test is not None)
    if train is None:
        there = st.session_state.get(KEPT)
        return there[1] if there and there[0] != "sample" else None
    made_of = tuple(getattr(part, "file_id", None) for part in (train, test, named)), said, share
    try:
        return remembered(made_of, lambda: read(train, test, named, said, float(HELD.check(share))))
    except InputError as error:
        return error


def remembered(made_of: object, make: Callable[[], RowTables]) -> RowTables:
    """Return the session's rows, made anew where they are to be made of something else; an error leaves them alone."""
    there = st.session_state.get(KEPT)
    if there is None or there[0] != made_of:
        there = made_of, make()
        st.session_state[KEPT] = there
    return there[1]


def file(link: Permalink, name: str, title: str, words: str, listed: bool = False) -> Any:
    """Show the place for a file; what it holds is kept in the session alone."""
    suffixes = ["xml", "txt"] if listed else [suffix.removeprefix(".") for suffix in datasets.SUFFIXES]
    return st.file_uploader(
        title, suffixes, key=link.key(name), help=f"{words} At most {LIMIT_MB} MB.", max_upload_size=LIMIT_MB
    )


def sample() -> RowTables:
    """Return rows that are drawn, so that the page shows something at first."""
    problem = SAMPLE.build()
    features, labels = (f"feature {j + 1}" for j in range(SAMPLE.d)), (f"label {j + 1}" for j in range(SAMPLE.labels))
    names = {"feature_names": tuple(features), "label_names": tuple(labels)}
    drawn = (Dataset(X, Y, **names) for X, Y in ((problem.X, problem.Y), (problem.X_test, problem.Y_test)))
    return stored("A synthetic sample", Folder(), *drawn)


def read(train: Any, test: Any, named: Any, said: str, share: float) -> RowTables:
    """Read uploaded files; InputError tells what is wrong with one, by its line."""
    folder = Folder()
    labels = written(folder, "labels", named) if named else columns_of(said)
    with st.spinner("Reading the rows..."):
        given = take(written(folder, "train", train), labels)
        if test is None:
            given, fresh = split(given, share, 0)
        else:
            fresh = take(written(folder, "test", test), labels, like=given)
        return stored(train.name, folder, given, fresh)


def columns_of(said: str) -> str | tuple[str, ...] | None:
    """Return which columns are labels, as `datasets.read` takes it; never a path, which would be the server's."""
    said = said.strip()
    if not said or COUNT.fullmatch(said):
        return said or None
    names = tuple(name.strip() for name in said.split(","))
    if not all(names):
        raise InputError("labels", FORMS, said, "write for example last:6, or names with commas between")
    return names


def written(folder: Folder, part: str, upload: Any) -> Path:
    """Write an upload to the folder under its own name, and return its path."""
    path = folder.path / part / Path(upload.name).name[-LONGEST_NAME:]
    path.parent.mkdir()
    path.write_bytes(upload.getvalue())
    return path


def alike(upload: Any, model: FittedModel) -> Dataset:
    """Read uploaded rows with the features that a model knows; InputError tells what is wrong with them."""
    folder = Folder()
    return model.read(written(folder, "others", upload), limit_bytes=memory_limit())


def take(path: Path, labels: Any, like: Dataset | None = None) -> Dataset:
    """Read a file, and remove it: what stays is written in one form."""
    try:
        return datasets.read(path, labels, like=like, limit_bytes=memory_limit())
    finally:
        path.unlink()


def stored(title: str, folder: Folder, given: Dataset, fresh: Dataset) -> RowTables:
    """Write both tables where workers find them, and return what is kept of them in the session."""
    rows = RowTables(
        title,
        folder,
        given.rows(slice(0, 0)),
        fresh,
        given.n,
        given.X.nnz if issparse(given.X) else given.X.size,
        1.0 if given.observed is None else given.observed.nnz / (given.n * given.L),
        label_results.counts(given),
        label_results.together(given),
    )
    datasets.save_npz(rows.train_file, given)
    datasets.save_npz(rows.test_file, fresh)
    return rows
