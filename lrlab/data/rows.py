"""Reads rows of features with labels: ARFF, svmlight, the extreme classification format, CSV, parquet and npz.

lrlab executes and unpickles nothing in a file, and checks sizes before it takes memory. Each fault ends in one
InputError that names the line.
"""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab.data.arff import read_arff
from lrlab.data.columns import COUNTERS, NOTHING, features, plain, without_row_names
from lrlab.data.dataset import Dataset, dataset_of, matching
from lrlab.data.files import LIMIT_BYTES, Source, data_suffix, label_value, printable
from lrlab.data.labels import FORMS, LabelChoice, Labels, choose_labels
from lrlab.data.npz import read_npz
from lrlab.data.svmlight import read_svmlight
from lrlab.data.tables import read_frame
from lrlab.parameters import InputError, nearest

FORMATS = {"arff": "ARFF", "svmlight": "svmlight", "extreme": "extreme classification", "csv": "CSV", "npz": ".npz"}
FORMATS |= {"parquet": "parquet"}
OF_LABELS = (".arff", ".svm", ".svmlight", ".libsvm")
"""Suffixes of files that always hold labels."""
SUFFIXES = {**dict.fromkeys((*OF_LABELS, ".txt"), "svmlight"), ".arff": "arff"}
SUFFIXES |= {".csv": "csv", ".tsv": "csv", ".npz": "npz", ".parquet": "parquet"}
File = str | PathLike[str]
MOST_WORDS = 1000
"""Most different words in a column of features; a column with more names its rows."""


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

    labels: an XML or text file of names, a list of names, or a number of columns (`last:6` or 6, `first:6`). Formats
    that number their labels need neither. like: the training data, whose columns a test file must have. beside: the
    second file of svmlight, which helps to tell whether both count from 0 or 1; base: 0 or 1, if you know. unlabelled:
    accept rows without labels, which are then unknown. file_format: one of FORMATS, else the suffix decides.
    limit: number of rows to read, 0 for all. limit_bytes: the memory that reading may take.
    """
    if limit < 0:
        raise InputError("limit", "a number of rows, 0 for all", limit, "leave it out to use all rows")
    if base not in (None, 0, 1):
        raise InputError("base", "0 or 1, the first index of the file", base, "leave it out: lrlab looks at the files")
    source, kind = labelled_source(path, file_format, limit_bytes)
    choice = choose_labels(labels, limit_bytes)
    if like and like.label_names and (choice or unlabelled) and kind != "npz":
        choice = LabelChoice(like.label_names)
    choice = (choice or LabelChoice())._replace(optional=True) if unlabelled else choice
    if kind in ("svmlight", "extreme"):
        other = None if beside is None else labelled_source(beside, file_format, limit_bytes)[0]
        data = read_svmlight(source, choice, like, other, base)
    elif kind in ("csv", "parquet"):
        data = read_table(source, choice, like)
    else:
        data = {"arff": read_arff, "npz": read_npz}[kind](source, choice)
    if unlabelled and like and not data.L:
        unknown = csr_array((data.n, like.L))
        data = replace(data, Y=unknown, observed=unknown.astype(bool), label_names=like.label_names)
    return matching(data.rows(slice(0, limit)) if limit else data, like)


def labelled_source(path: File, file_format: str, limit_bytes: int) -> tuple[Source, str]:
    """Return a file with labels, and its format."""
    if file_format and file_format not in FORMATS:
        remedy = nearest(file_format, FORMATS) or "take one of these"
        raise InputError("file_format", "one of " + ", ".join(FORMATS), file_format, remedy)
    remedy = "name the format by file_format (in the shell --format)"
    kind = file_format or format_of(Path(path), SUFFIXES, remedy)
    return Source(Path(path), FORMATS[kind], limit_bytes), kind


def format_of(path: Path, suffixes: Mapping[str, str], remedy: str) -> str:
    """Return the format of a file by its suffix; InputError for an unknown one."""
    suffix = data_suffix(path)
    if suffix not in suffixes:
        raise InputError("file", f"one of {', '.join(suffixes)}", printable(path.name), remedy)
    return suffixes[suffix]


def read_table(source: Source, choice: LabelChoice | None, like: Dataset | None = None) -> Dataset:
    """Return the rows of a CSV or parquet file with labels 1 or 0 (true, false); an empty one is unknown.

    Each word of a feature becomes a column of 0 and 1. like: the training data, whose words count.
    """
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels")
    frame = without_counter(read_frame(source).frame, choice, like)
    titles = list(map(str, frame.columns))
    places = choice.places(titles)
    source.require_room(frame.size * 16, "values")
    columns = [label_marks(titles[place], frame.iloc[:, place]) for place in places]
    marks = np.column_stack(columns or [np.ones((len(frame), 0))])
    if places and not choice.optional and np.isnan(marks).all():
        raise InputError("labels", "known in some row", "nothing", "remove trailing separators, or name other columns")
    rest = frame.iloc[:, [k for k in range(len(titles)) if k not in places]]
    X, names = features(rest, known=like.feature_names if like else None, most=MOST_WORDS, drop_first=False)
    if X is None:
        raise InputError("labels", "fewer than all columns", len(places), "leave at least one feature")
    return dataset_of(X, marks, None, names, tuple(titles[place] for place in places))


def without_counter(frame: pd.DataFrame, choice: LabelChoice, like: Dataset | None) -> pd.DataFrame:
    """Return a table without a first column that counts its rows, or that the training data do not have."""
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
