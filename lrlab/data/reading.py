"""Reads files as the y, X and Z of `lrlab.recover`, or as rows of features with labels.

lrlab executes and unpickles nothing in a file, and checks sizes before it takes memory. Each fault ends in one
InputError that names the line.
"""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab.data.arrays import numbers
from lrlab.data.columns import Given, ask_sentinel, features, quoted, side_features, understood, without_row_names
from lrlab.data.dataset import FORMS, Dataset, LabelChoice, Labels, choose_labels, dataset_of, matching
from lrlab.data.files import LISTS, NUMBERS, File, Source, data_suffix, names_of, number, printable, read_arrays
from lrlab.data.formats import is_svmlight, read_arff, read_svmlight
from lrlab.data.hints import COMPLETION, MATRIX, NOTHING, PATTERNS, TRIPLES, Hints, require_unused
from lrlab.data.tables import read_frame, without
from lrlab.parameters import InputError, counted

FORMATS = dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".data"), "CSV") | {".npz": ".npz", ".parquet": "parquet"}
FORMATS |= {".arff": "ARFF", **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight")}
"""Formats by the suffixes of files."""
NAMES = {"y": "y", "table": "y", "patterns": "y", "X": "X", "x": "X", "A": "X", "masks": "X", "Z": "Z"}
"""Roles of the arrays of an npz."""
PLACES = ("rows", "columns")
MARKS = dict.fromkeys(("true", "yes", "t", "y"), 1.0) | dict.fromkeys(("false", "no", "f", "n"), 0.0)
"""Words for positive and negative labels, besides the numbers 1, 0 and -1."""
MOST_WORDS = 1000
"""Most different words in a column of features next to labels."""


def opened(path: File) -> Source:
    """Return a file and its format by its suffix, and for .txt by its first lines."""
    if not isinstance(path, str | PathLike):
        raise InputError("file", "the path of a file", type(path).__name__, "give tables and arrays to lrlab.recover")
    suffix = data_suffix(Path(path))
    if suffix not in FORMATS:
        raise InputError("file", f"one of {', '.join(FORMATS)}", printable(Path(path).name), "unpack or convert it")
    source = Source(Path(path), FORMATS[suffix])
    return source._replace(kind="svmlight") if suffix == ".txt" and is_svmlight(source) else source


def read_given(path: File, hints: Hints = NOTHING) -> Given:
    """Return the contents of a file; InputError in one sentence if lrlab cannot use them."""
    source = opened(path)
    if source.kind == ".npz":
        given = _of_arrays(source, hints)
    else:
        frame, form, _ = _table(source, hints.missing)
        given = understood(frame, form, hints)
    sides = ("X", "row", hints.rows, given.rows), ("Z", "column", hints.columns, given.names)
    for side, what, file, members in sides:
        if not file:
            continue
        if given.model != COMPLETION or not members:
            remedy = "leave the file out, or name rows and columns in the data"
            raise InputError("features of rows and columns", "left out unless a matrix has names", file, remedy)
        values = side_features(read_frame(opened(file))[0], members, f"{what}-features")
        parts: dict[str, Any] = {side: values, "words": f"{given.words}, {counted(values.shape[1], f'{what} feature')}"}
        given = given._replace(**parts)
    return given


def _table(source: Source, missing: str) -> tuple[pd.DataFrame, str, LabelChoice | None]:
    """Return the table of a file, words on its form, and the labels that ARFF states."""
    if source.kind != "ARFF":
        return *read_frame(source, missing), None
    frame, stated = read_arff(source)
    return without(frame, missing), "", stated


def _of_arrays(source: Source, hints: Hints) -> Given:
    """Return the arrays of an npz by their roles."""
    require_unused({"y": hints.y, "Z": hints.Z, "duplicates": hints.duplicates}, "an .npz, whose arrays have names")
    arrays = read_arrays(source, {*NAMES, *PLACES}.__contains__, NUMBERS)
    with np.load(source.path) as archive:
        others = printable(", ".join(name for name in archive if name not in arrays))[:200]
    by_role: dict[str, Any] = {NAMES[name]: array for name, array in arrays.items() if name in NAMES}
    sides = sum(name in PLACES for name in arrays)
    if "y" not in by_role or len(by_role) + sides < len(arrays) or sides == 1:
        got = ", ".join(filter(None, [*arrays, others])) or "none of them"
        need = f"an .npz with arrays y, X and Z ({', '.join(NAMES)}), or rows, columns and y"
        raise InputError("file", need, got, "save it with y=..., or say kind=labels for labels Y")
    words = ", ".join(f"{name} {'x'.join(map(str, np.shape(array)))}" for name, array in arrays.items())
    words += f", without {others}" if others else ""
    y, models = by_role["y"], {MATRIX: COMPLETION, TRIPLES: COMPLETION, PATTERNS: "phase-retrieval"}
    several = y.ndim > 1 and 1 not in y.shape and hints.kind not in models
    require_unused({"kind": several and hints.kind}, "arrays y of several dimensions")
    if y.ndim > 1 and y.dtype.kind in "fiu":
        y = by_role["y"] = _with_gaps(y.astype(np.float64), hints.missing)
        ask_sentinel("y", y.ravel(), hints)
    if sides:
        by_role["y"] = (arrays["rows"], arrays["columns"], y)
    kind = hints.kind or (PATTERNS if "patterns" in arrays else "")
    return Given(**by_role, words=f"arrays {words}", model=models.get(kind, ""))


def _with_gaps(array: np.ndarray, missing: str) -> np.ndarray:
    """Return an array with nan for the mark of a missing value, if there is one."""
    if missing in ("", "none") or array.dtype.kind not in "fiub":
        return array
    if (mark := number(missing)) is None:
        raise InputError("missing", "a number for an .npz", missing, "name the number, or say none")
    return np.where(array == mark, np.nan, array)


def read(
    path: File,
    labels: Labels = None,
    *,
    like: Dataset | None = None,
    beside: File | None = None,
    unlabelled: bool = False,
    base: int | None = None,
    missing: str = "",
) -> Dataset:
    """Read features and labels from a file: ARFF, svmlight, the extreme classification format, CSV, parquet or npz.

    labels: an XML or text file of names, names, or a number of columns (`last:6` or 6, `first:6`). Formats
    that number their labels need neither. like: the training data, whose columns a test file must have. beside: the
    second file of svmlight, which helps to tell whether both count from 0 or 1; base: 0 or 1, if you know. unlabelled:
    accept rows without labels, which are then unknown. missing: a further mark of a missing value in a file.
    """
    if base not in (None, 0, 1):
        raise InputError("base", "0 or 1, the first index of the file", base, "leave it out: lrlab looks at the files")
    source = opened(path)
    choice = choose_labels(labels)
    if like and like.label_names and source.kind != ".npz":
        choice = LabelChoice(like.label_names)
    if source.kind == "svmlight":
        require_unused({"missing": missing.removeprefix("none")}, "svmlight, whose rows state all values")
        other = None if beside is None else opened(beside)
        data = read_svmlight(source, choice, like, other, base)
    elif source.kind == ".npz":
        data = _labelled_arrays(source, choice, unlabelled, missing)
    else:
        frame, form, stated = _table(source, missing)
        data = _labelled(frame, choice or stated, like, unlabelled)
        data = replace(data, notes=(*data.notes, *([f"Form: {form}."] if form else [])))
    if unlabelled and like and not data.L:
        unknown = csr_array((data.n, like.L))
        data = replace(data, Y=unknown, observed=unknown.astype(bool), label_names=like.label_names)
    return matching(data, like) if like else data


def _labelled(frame: pd.DataFrame, choice: LabelChoice | None, like: Dataset | None, unlabelled: bool) -> Dataset:
    """Return the rows of a table with labels 1 or 0 (true, false); an empty one is unknown."""
    if choice is None and not unlabelled:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels, or name one response by y")
    choice = choice or LabelChoice()
    known, title = (like.feature_names if like else None) or (), str(frame.columns[0])
    frame, members = without_row_names(frame, (*choice.names, *known), words=False)
    titles = list(map(str, frame.columns))
    places = choice.places(titles, optional=unlabelled)
    rest = frame.iloc[:, np.setdiff1d(np.arange(len(titles)), places)]
    marks = np.column_stack([label_marks(titles[k], frame.iloc[:, k]) for k in places] or [np.ones((len(frame), 0))])
    if places and not unlabelled and np.isnan(marks).all():
        raise InputError("labels", "known in some row", "nothing", "remove trailing separators, or name other columns")
    X, names, notes = features(rest, known=known, most=MOST_WORDS, drop_first=False)
    if not names:
        raise InputError("labels", "fewer than all columns", len(places), "leave at least one feature")
    notes += [f"Row names {quoted(title) if title else ''}".rstrip()] if members else []
    return dataset_of(X, marks, names, tuple(titles[place] for place in places), tuple(notes))


def label_marks(title: str, column: pd.Series) -> np.ndarray:
    """Return a column of labels as 1, 0 or -1, and nan for unknown ones."""
    places, values = pd.factorize(column)
    marks = [MARKS.get(word, number(word)) for word in (str(value).strip().lower() for value in values)]
    if wrong := [value for value, mark in zip(values, marks, strict=True) if mark not in (1, 0, -1)]:
        need = "1, 0 or nothing in all rows"
        raise InputError(f"label {title[:60]}", need, wrong[0], "check which columns are labels")
    # An unknown one has place -1, the last.
    return np.array([*marks, np.nan], dtype=np.float64)[places]


def _labelled_arrays(source: Source, choice: LabelChoice | None, unlabelled: bool, missing: str) -> Dataset:
    """Return the rows of an npz: X (n, d), Y (n, L), 1, 0, -1 or nan if unknown, and optionally names of columns."""
    arrays = read_arrays(source, {"X", "Y", *LISTS}.__contains__)
    arrays |= {name: _with_gaps(arrays[name], missing) for name in ("X", "Y") if name in arrays}
    if "X" not in arrays or not (unlabelled or "Y" in arrays):
        absent = "Y" if "X" in arrays else "X"
        raise InputError("file", "an .npz with arrays X and Y", f"no {absent}", f"save it with {absent}=...")
    X, (names, label_names) = numbers("X", arrays["X"], 2), (names_of(arrays, name) for name in LISTS)
    if "Y" not in arrays:
        return Dataset(X, csr_array((len(X), 0)), feature_names=names)
    source.require_columns(X.shape[1] + arrays["Y"].size)
    return dataset_of(X, arrays["Y"], names, choice.names if choice and choice.names else label_names)
