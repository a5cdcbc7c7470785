"""Reads rows of features with labels: ARFF, svmlight, the extreme classification repository's format, CSV and npz.

Nothing in a file is executed or unpickled; sizes are checked before memory is taken; whatever is wrong is refused by
one InputError that names the line and what was expected there.
"""

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab.data.arff import read_arff
from lrlab.data.columns import COUNTERS, NOTHING, features, plain, without_row_names
from lrlab.data.dataset import Dataset, assemble, matching
from lrlab.data.files import LIMIT_BYTES, Source, data_suffix, label_value
from lrlab.data.labels import FORMS, LabelChoice, Labels, choose_labels
from lrlab.data.npz import read_npz
from lrlab.data.svmlight import is_extreme, read_extreme, read_svmlight
from lrlab.data.tables import read_frame
from lrlab.parameters import InputError, nearest

FORMATS = {"arff": "ARFF", "svmlight": "svmlight", "extreme": "extreme classification", "csv": "CSV", "npz": ".npz"}
FORMATS |= {"parquet": "parquet"}
SUFFIXES = {".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".txt": "text"}
SUFFIXES |= {".csv": "csv", ".tsv": "csv", ".npz": "npz", ".parquet": "parquet"}
OF_LABELS = (".arff", ".svm", ".svmlight", ".libsvm")
"""Suffixes of files that hold labels and nothing else."""
File = str | PathLike[str]
MOST_WORDS = 1000
"""Different words of a column of features: one with more names its rows."""


def read(
    path: File,
    labels: Labels = None,
    *,
    like: Dataset | None = None,
    beside: File | None = None,
    unlabelled: bool = False,
    file_format: str = "",
    base: int | None = None,
    limit: int = 0,
    limit_bytes: int = LIMIT_BYTES,
) -> Dataset:
    """Read features and labels from a file.

    labels: an XML file or a text file of names, a list of names, or how many columns (`last:6` or 6, `first:6`); for
    formats that number their labels, their names or number, if wanted. like: the data whose columns this file must
    have, such as the training data of a test file. beside: the other file, which helps to tell whether svmlight counts
    from 0 or 1; base says it. unlabelled: rows of `like`'s columns may come without the labels, which are then unknown.
    file_format: one of FORMATS, else the suffix decides (a .txt that begins with three whole numbers is of the extreme
    classification repository, any other one svmlight). limit: the number of first rows that are used; 0 takes all.
    limit_bytes: the memory that reading may take.
    """
    if limit < 0:
        raise InputError("limit", "a number of rows, 0 for all", limit, "leave it out to use all rows")
    if base not in (None, 0, 1):
        raise InputError("base", "0 or 1, by which a file counts", base, "leave it out to take what the files show")
    source, kind = opened(Path(path), file_format, limit_bytes)
    choice = choose_labels(labels, limit_bytes)
    if like and like.label_names and (choice or unlabelled) and kind != "npz":
        choice = LabelChoice(like.label_names)
    choice = (choice or LabelChoice())._replace(optional=True) if unlabelled else choice
    if kind == "svmlight":
        other = None if beside is None else opened(Path(beside), file_format, limit_bytes)[0]
        data = read_svmlight(source, choice, like, other, base)
    elif kind in ("csv", "parquet"):
        data = read_table(source, choice, like)
    else:
        data = {"arff": read_arff, "extreme": read_extreme, "npz": read_npz}[kind](source, choice)
    if unlabelled and like and not data.L:
        unknown = csr_array((data.n, like.L))
        data = replace(data, Y=unknown, observed=unknown.astype(bool), label_names=like.label_names)
    return matching(data.rows(slice(0, limit)) if limit else data, like)


def opened(path: Path, file_format: str, limit_bytes: int) -> tuple[Source, str]:
    """Return a file and its format."""
    kind = file_format or SUFFIXES.get(data_suffix(path), "")
    if kind not in FORMATS and kind != "text":
        remedy = nearest(kind, FORMATS) if kind else "name the format by file_format (in the shell --format)"
        expected = "one of " + ", ".join(FORMATS if file_format else SUFFIXES)
        raise InputError("file_format" if file_format else "file", expected, file_format or path.name, remedy)
    if kind == "text":
        kind = "extreme" if is_extreme(Source(path, "text", limit_bytes)) else "svmlight"
    return Source(path, FORMATS[kind], limit_bytes), kind


def read_table(source: Source, choice: LabelChoice | None, like: Dataset | None = None) -> Dataset:
    """Return the rows of a CSV or parquet file: labels are 1 or 0 (true, false), a missing one is unknown.

    Words of features have a column of 0 and 1 each, those of `like` if it is given.
    """
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels")
    frame = without_counter(read_frame(source).frame, choice, like)
    titles = list(map(str, frame.columns))
    places = choice.places(titles)
    source.require_room(frame.size * 16, "values")
    marks = np.column_stack(
        [label_marks(titles[place], frame.iloc[:, place]) for place in places] or [np.ones((len(frame), 0))]
    )
    if places and not choice.optional and np.isnan(marks).all():
        raise InputError("labels", "known in some row", "nothing", "remove trailing separators, or name other columns")
    rest = frame.iloc[:, [k for k in range(len(titles)) if k not in places]]
    X, names = features(rest, known=like.feature_names if like else None, most=MOST_WORDS, drop_first=False)
    if X is None:
        raise InputError("labels", "fewer than all columns", len(places), "leave at least one feature")
    return assemble(X, marks, names, tuple(titles[place] for place in places))


def without_counter(frame: pd.DataFrame, choice: LabelChoice, like: Dataset | None) -> pd.DataFrame:
    """Return a table without a first column that counts its rows, or that the other file does not have."""
    first = str(frame.columns[0])
    if first in choice.names or plain(first) not in COUNTERS:
        return frame
    if like is not None and like.feature_names is not None:
        return frame if first in like.feature_names else frame.iloc[:, 1:]
    return without_row_names(frame, NOTHING)[0]


def label_marks(title: str, column: pd.Series) -> np.ndarray:
    """Return a column of labels as 1, 0, and nan for unknown ones."""
    kinds = {value: label_value("" if pd.isna(value) else str(value)) for value in column.unique()}
    strange = next((value for value, mark in kinds.items() if mark is None), None)
    if strange is not None:
        need = "1, 0 or nothing in all rows"
        raise InputError(f"label {title[:60]}", need, strange, "check which columns are labels")
    return column.map(kinds).to_numpy(np.float64)
