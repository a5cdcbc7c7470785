"""Reads rows of features with labels: ARFF, svmlight, the extreme classification repository's format, CSV and npz.

Nothing in a file is executed or unpickled; sizes are checked before memory is taken; whatever is wrong is refused by
one InputError that names the line and what was expected there.
"""

from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from lrlab.data.arff import read_arff
from lrlab.data.columns import COUNTERS, NOTHING, plain, without_row_names
from lrlab.data.dataset import Dataset, assemble, matching, without_labels
from lrlab.data.frames import read_frame
from lrlab.data.labels import FORMS, LabelChoice, Labels, choose_labels
from lrlab.data.npz import read_npz
from lrlab.data.source import LIMIT_BYTES, Source, label_value
from lrlab.data.svmlight import is_extreme, read_extreme, read_svmlight
from lrlab.data.unpacking import data_suffix
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
    classification repository, any other one svmlight). limit: how many rows are read, the first ones; 0 takes all.
    limit_bytes: the memory that reading may take.
    """
    source, kind = opened(Path(path), file_format, limit, limit_bytes)
    if base not in (None, 0, 1):
        raise InputError("base", "0 or 1, by which a file counts", base, "leave it out to take what the files show")
    choice = choose_labels(labels, limit_bytes)
    if unlabelled:
        choice = (choice or LabelChoice(names=(like.label_names if like else None) or ()))._replace(optional=True)
    if choice and like and like.label_names:
        choice = choice._replace(known=like.label_names)
    if kind == "svmlight":
        other = None if beside is None else opened(Path(beside), file_format, 0, limit_bytes)[0]
        data = read_svmlight(source, choice, limit_bytes, like, other, base)
    elif kind in ("csv", "parquet"):
        data = read_table(source, choice, limit_bytes, like)
    else:
        data = {"arff": read_arff, "extreme": read_extreme, "npz": read_npz}[kind](source, choice, limit_bytes)
    return matching(without_labels(data, like) if unlabelled and like and not data.L else data, like)


def opened(path: Path, file_format: str, limit: int, limit_bytes: int) -> tuple[Source, str]:
    """Return a file whose size has been checked, and its format."""
    if limit < 0:
        raise InputError("limit", "a number of rows, 0 for all", limit, "leave it out to read all rows")
    kind = file_format or SUFFIXES.get(data_suffix(path), "")
    if kind not in FORMATS and kind != "text":
        remedy = nearest(kind, FORMATS) if kind else "name the format by file_format (in the shell --format)"
        expected = "one of " + ", ".join(FORMATS if file_format else SUFFIXES)
        raise InputError("file_format" if file_format else "file", expected, file_format or path.name, remedy)
    source = Source(path, FORMATS.get(kind, "text"), limit)
    # A packed file is checked by what its members declare.
    source.check_size(limit_bytes, **({"growth": 1} if kind in ("npz", "parquet") else {}))
    if kind == "text":
        kind = "extreme" if is_extreme(source) else "svmlight"
    return source._replace(kind=FORMATS[kind]), kind


def read_table(source: Source, choice: LabelChoice | None, limit_bytes: int, like: Dataset | None = None) -> Dataset:
    """Return the rows of a CSV or parquet file: labels are 1 or 0 (true, false), a missing one is unknown.

    Words of features have a column of 0 and 1 each, those of `like` if it is given.
    """
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels")
    frame = read_frame(source, limit_bytes).frame
    frame = without_counter(frame.iloc[: source.limit] if source.limit else frame, choice, like)
    titles = list(map(str, frame.columns))
    places = choice.places(titles, source)
    marks = np.column_stack(
        [label_marks(titles[place], frame.iloc[:, place]) for place in places] or [np.ones((len(frame), 0))]
    )
    if places and not choice.optional and np.isnan(marks).all():
        raise InputError("labels", "known in some row", "nothing", "remove trailing separators, or name other columns")
    known = like.feature_names if like else None
    columns, names = list[np.ndarray](), list[str]()
    for place, title in enumerate(titles):
        if place not in places:
            for name, values in feature_columns(title, frame.iloc[:, place], known):
                names.append(name)
                columns.append(values)
    if not columns:
        raise InputError("labels", "fewer than all columns", len(places), "leave at least one feature")
    unknown = np.nonzero(np.isnan(marks))
    label_names = tuple(titles[place] for place in places)
    return assemble(np.column_stack(columns), np.nonzero(marks > 0), unknown, len(places), (tuple(names), label_names))


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
    kinds = {
        value: label_value("" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value))
        for value in column.unique()
    }
    strange = next((value for value, mark in kinds.items() if mark is None), None)
    if strange is not None:
        need = "1, 0 or nothing in all rows"
        raise InputError(f"label {title[:60]}", need, strange, "check which columns are labels")
    return column.map(kinds).to_numpy(np.float64)


def feature_columns(title: str, column: pd.Series, known: tuple[str, ...] | None) -> list[tuple[str, np.ndarray]]:
    """Return the features that a column gives, with their names: itself, or one per word."""
    head = f"{title}="
    own = [name for name in known or () if name.startswith(head)]
    if pd.api.types.is_numeric_dtype(column) and not own:
        values = column.to_numpy(np.float64)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
            got = f"{values[place - 1]} in row {place}"
            raise InputError(
                f"column {title[:60]}", "a finite number in each row", got, "fill it in, or leave the row out"
            )
        return [(title, values)]
    words = own or [head + str(word) for word in pd.unique(column.dropna().astype(str))]
    if len(words) > MOST_WORDS:
        need = f"of at most {MOST_WORDS:,} different words"
        raise InputError(f"column {title[:60]}", need, len(words), "remove the column if it names the rows")
    text = column.astype(str).where(column.notna(), "")
    return [(word, (text == word[len(head) :]).to_numpy(np.float64)) for word in words]
