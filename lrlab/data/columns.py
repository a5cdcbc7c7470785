"""Recognizes the columns of a table: responses with features, a matrix with missing entries, or (row, column, value).

The names of columns decide. One line states the result before any fit. lrlab asks about a value that may stand for a
missing one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, hstack

from lrlab.arrays import Array, Matrix, Vector
from lrlab.data.files import printable
from lrlab.data.tables import Table
from lrlab.parameters import InputError, nearest

TARGETS = ("y", "target", "label", "class", "outcome", "response")
VALUES = ("rating", "ratings", "value", "score", "stars")
ROWS, COLUMNS = (
    ("user", "userid", "row", "rowid"),
    ("item", "itemid", "movie", "movieid", "column", "product", "productid"),
)
TIMES = ("timestamp", "time", "date", "datetime")
COUNTERS = ("", "index", "id", "unnamed0")
KINDS = _, MATRIX, TRIPLES, _, _ = ("responses", "matrix", "triples", "patterns", "labels")
DUPLICATES = ("", "last", "mean")
SCALES = (tuple(range(1, 6)), tuple(range(1, 11)), tuple(k / 2 for k in range(1, 11)))
"""Scales of ratings; a 0 below them may mean no rating."""
MOST_WORDS = 10
"""Most words of a feature; each word becomes a column of 0 and 1."""


class Hints(NamedTuple):
    """Your statements on a file, which replace guesses.

    kind: one of KINDS. y, Z: columns by names, numbers from 1, or ranges such as 5-9, separated by commas. missing: a
    mark of missing values, or "none". duplicates: last or mean, for several values of one entry. model: the model of
    the responses.
    """

    kind: str = ""
    y: str = ""
    Z: str = ""
    missing: str = ""
    duplicates: str = ""
    model: str = ""


NOTHING = Hints()


class Given(NamedTuple):
    """The arguments y, X and Z of `recover`.

    names: names of the columns of X, or of a matrix; rows: names of its rows. words: a line that describes the data.
    model: the model of y and X if they do not show it. options: further options of `recover`.
    """

    y: Any
    X: Any = None
    Z: Any = None
    names: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    words: str = ""
    model: str = ""
    options: Mapping[str, Any] = {}


def plain(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return re.sub(r"[\W_]", "", name).lower()


def understood(table: Table, hints: Hints = NOTHING) -> Given:
    """Return the contents of a table; InputError if they are unclear, or a value may stand for a missing one."""
    if hints.kind not in ("", *KINDS):
        raise InputError("kind", f"one of {', '.join(KINDS)}", hints.kind, nearest(hints.kind, KINDS) or "leave it out")
    if hints.duplicates not in DUPLICATES:
        raise InputError("duplicates", "last or mean", hints.duplicates, "take last, or leave it out to refuse them")
    frame = table.frame
    given = _understood(frame, hints)
    return given._replace(words=given.words + f" ({table.words})" * bool(table.words))


def _understood(frame: pd.DataFrame, hints: Hints) -> Given:
    triples = triple_columns(frame, hints)
    if triples is not None:
        return _triples(frame, triples, hints)
    first = frame.columns[0]
    frame, rows = without_row_names(frame, hints)
    names = list(frame.columns)
    target = next((name for name in names if plain(name) in TARGETS), "")
    gaps = bool(frame.isna().to_numpy().any())
    numbers = all(map(pd.api.types.is_numeric_dtype, frame.dtypes))
    if hints.kind == MATRIX or not (hints.kind or hints.y or hints.Z or hints.model or target) and gaps and numbers:
        return _matrix(frame, rows, hints)
    [at] = chosen("y", hints.y or target or names[-1], names, most=1)
    given = _responses(frame, at, hints)
    named = f" {quoted(first)}" if first else ""
    return given._replace(words=given.words + f", row names{named}" * bool(rows))


def without_row_names(
    frame: pd.DataFrame, hints: Hints = NOTHING, *, words: bool = True
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table without the column that names its rows, and the names: counted numbers, or different words."""
    title, first = frame.columns[0], frame.iloc[:, 0]
    if len(frame.columns) < 3 or (title and title in f"{hints.y},{hints.Z}".split(",")):
        return frame, ()
    counts = pd.api.types.is_integer_dtype(first) and len(first) > 1 and (np.diff(first.to_numpy()) == 1).all()
    counted = counts and first.iloc[0] in (0, 1) and plain(str(title)) in COUNTERS
    worded = words and not pd.api.types.is_numeric_dtype(first) and first.is_unique and len(first) > 2
    return (frame.iloc[:, 1:], tuple(map(str, first))) if counted or worded else (frame, ())


def triple_columns(frame: pd.DataFrame, hints: Hints) -> tuple[str, str, str, str] | None:
    """Return the columns of row, column, value and time ("" if absent), or None for another kind of table."""
    names = list(frame.columns)
    if hints.kind not in ("", MATRIX, TRIPLES) or hints.y or hints.Z or hints.model not in ("", "inductive-completion"):
        return None
    roles = {plain(name): name for name in names}
    row, column, value, time = (
        next((roles[name] for name in known if name in roles), "") for known in (ROWS, COLUMNS, VALUES, TIMES)
    )
    forced = hints.kind == TRIPLES and len(names) > 1
    if forced and not (row and column):
        row, column = names[:2]
    if row and column:
        rest = [name for name in names if name not in (row, column, value, time)]
        if not value and not rest:
            third = f"the third column is called {printable(time)}" if time else "there are two columns"
            raise InputError(
                "ratings",
                "triples of row, column and value",
                f"pairs without a value ({third})",
                "add a column `value`: pairs without one leave no entry unknown",
            )
        return row, column, value or rest[0], time
    if len(names) not in (3, 4) or not _are_triples(frame):
        return None
    row, column = names[:2]
    value = value or next((name for name in names[2:] if name != time), "")
    return (row, column, value, time if time != value else "") if value else None


def _are_triples(frame: pd.DataFrame) -> bool:
    """Return whether the first two columns hold repeated rows and columns of a matrix, in different pairs."""
    sides, third = [frame.iloc[:, k] for k in (0, 1)], frame.iloc[:, 2]
    if not pd.api.types.is_numeric_dtype(third) or third.isna().any() or any(side.isna().any() for side in sides):
        return False
    words = [not pd.api.types.is_numeric_dtype(side) for side in sides]
    whole = [pd.api.types.is_integer_dtype(side) and side.min() >= 0 for side in sides]
    if not all(word or number for word, number in zip(words, whole, strict=True)):
        return False
    repeated = all(side.nunique() < len(side) for side in sides)
    pairs = len(frame.iloc[:, :2].drop_duplicates())
    enough = all(words) or (len(frame) >= 20 and pairs > 0.9 * len(frame) and max(side.max() for side in sides) > 5)
    return repeated and enough


def _responses(frame: pd.DataFrame, at: int, hints: Hints) -> Given:
    """Return one column as responses and the others as features."""
    names = list(frame.columns)
    right = chosen("Z", hints.Z, names) if hints.Z else []
    left = [place for place in range(len(names)) if place != at and place not in right]
    response = frame.iloc[:, at]
    if not left:
        remedy = "add features, or separate the fields by commas"
        raise InputError("columns", "a response and at least one feature", "none", remedy)
    if response.isna().any():
        got = f"none in row {int(np.flatnonzero(response.isna())[0]) + 1}"
        raise InputError(f"column {names[at]}", "known in all rows", got, "leave the row out, or say kind=matrix")
    X, columns, notes = features(frame.iloc[:, left], hints)
    Z = features(frame.iloc[:, right], hints)[0] if right else None
    if not columns:
        raise InputError("columns", "a response and at least one feature", "none", "add numbers, or words that repeat")
    y: Vector = response.to_numpy() if pd.api.types.is_numeric_dtype(response) else response.astype(str).to_numpy(str)
    if response.dtype == bool:
        y = y.astype(np.float64)
    kinds = np.unique(y)
    form = f"binary {kinds[0]:g}/{kinds[1]:g}" if len(kinds) == 2 and y.dtype.kind != "U" else ""
    form = form or (f"{len(kinds)} words: {', '.join(map(str, kinds[:3]))}" if y.dtype.kind == "U" else "real")
    model = hints.model
    if not model and form == "real":
        model = "rank-one-sensing" if right else "polynomial-network"
    second = f", second vectors {span([names[place] for place in right])}" if right else ""
    words = (
        f"{len(y):,} samples, {len(columns):,} features {span(columns)}{second}, response {quoted(names[at])} ({form})"
    )
    words += "".join(f". {note.rstrip('.')}" for note in notes)
    # A form has a constant and linear terms unless you name the model.
    return Given(y, X, Z, columns, (), words, model, {} if hints.model or model == hints.model else {"constant": True})


def features(
    frame: pd.DataFrame,
    hints: Hints | None = None,
    *,
    known: Sequence[str] | None = None,
    most: int = MOST_WORDS,
    drop_first: bool = True,
) -> tuple[Matrix, tuple[str, ...], list[str]]:
    """Return features as a table, their names, and notes on columns that lrlab leaves out.

    Each word of a column becomes a feature 0 or 1. lrlab leaves out columns of words that are nearly unique per row.
    known: names of the features of the training data, whose columns and words count. most: most words of a column.
    drop_first: omit the first word. hints: your statements on missing values; None asks nothing. Sparse columns give a
    sparse table.
    """
    columns, names, out = list[Any](), list[str](), list[str]()
    others = set(known or ())
    stems = {name[:place] for name in others for place, mark in enumerate(name) if mark == "="}
    for title, column in frame.items():
        name, listed = str(title), isinstance(column.dtype, pd.CategoricalDtype)
        numeric = not listed and (pd.api.types.is_numeric_dtype(column) or not column.notna().any())
        unique = not numeric and max(10, len(column) / 2) < column.nunique()
        if (unique and name not in stems) or (others and name not in others | stems):
            out.append(name)
            continue
        if hints and numeric:
            ask_sentinel(f"column {name}", column.to_numpy(np.float64), hints)
        if (missing := ~np.isfinite(column.to_numpy(np.float64)) if numeric else column.isna().to_numpy()).any():
            at, what = int(np.argmax(missing)), "finite number" if numeric else "word"
            got = f"{column.iloc[at]} in row {at + 1}"
            raise InputError(f"column {name[:60]}", f"a {what} in each row", got, "fill it in, or leave the row out")
        if numeric and (not others or name in others):
            columns.append(column)
            names.append(name)
            continue
        words = [one.removeprefix(f"{name}=") for one in known or () if one.startswith(f"{name}=")]
        words = words or (list(column.cat.categories) if listed else sorted(set(column.astype(str))))
        if len(words) > most or not all(isinstance(value, str) for value in column):
            got = f"{len(words)} words such as {words[0]}"
            remedy = "leave the column out, or code its words"
            raise InputError(f"column {name[:60]}", f"of numbers, or of at most {most:,} words", got, remedy)
        # Two listed values of ARFF are one feature.
        words = words[1:] if not others and (drop_first or (listed and len(words) == 2)) else words
        columns += [(column == word).astype(np.float64) for word in words]
        names += [f"{name}={word}" for word in words]
    notes = [f"lrlab leaves out column {printable(name)[:60]}: " for name in out]
    notes = [note + ("the training rows lack it." if others else "it is nearly unique per row.") for note in notes]
    if any(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes):
        X: Matrix = hstack([csc_array(np.asarray(one, dtype=np.float64)[:, None]) for one in columns], format="csr")
    else:
        X = np.column_stack(columns).astype(np.float64) if columns else np.zeros((len(frame), 0))
    return X, tuple(names), notes


def _matrix(frame: pd.DataFrame, rows: tuple[str, ...], hints: Hints) -> Given:
    worded = [
        name for name, column in frame.items() if not pd.api.types.is_numeric_dtype(column) and column.notna().any()
    ]
    if worded:
        got = f"words such as {frame[worded[0]].dropna().iloc[0]}"
        raise InputError(f"column {worded[0][:60]}", "of numbers", got, "leave the column out, or code its words")
    table = frame.to_numpy(np.float64)
    ask_sentinel("the matrix", table, hints)
    known = np.isfinite(table).sum()
    named = ", row names" if rows else ""
    words = (
        f"a {table.shape[0]:,} x {table.shape[1]:,} matrix with {known / table.size:.1%} of its entries known{named}"
    )
    return Given(table, names=tuple(frame.columns), rows=rows, words=words, model="inductive-completion")


def _triples(frame: pd.DataFrame, roles: Sequence[str], hints: Hints) -> Given:
    """Return the entries of triples, each once."""
    row, column, value, time = roles
    missing = next((name for name in (row, column) if frame[name].isna().any()), "")
    if missing:
        raise InputError(f"column {missing}", "named in each row", "nothing", "name it")
    if not pd.api.types.is_numeric_dtype(frame[value]):
        raise InputError(f"column {value}", "of numbers", frame[value].iloc[0], "write row, column, value")
    frame = frame.dropna(subset=[value])
    ask_sentinel(f"column {value}", frame[value].to_numpy(np.float64), hints)
    twice = int(frame.duplicated([row, column]).sum())
    if twice and not hints.duplicates:
        first = frame[frame.duplicated([row, column])].iloc[0]
        got = f"{first[row]}, {first[column]} twice"
        raise InputError("ratings", "one value per row and column", got, "keep the last or their mean by duplicates")
    if twice:
        ordered = frame.sort_values(time, kind="stable") if time else frame
        groups = ordered.groupby([row, column], sort=False)[value]
        frame = (groups.mean() if hints.duplicates == "mean" else groups.last()).reset_index()
    sides = [pd.factorize(frame[name].astype(str)) for name in (row, column)]
    (rows, row_names), (columns, names) = sides
    both = f"{quoted(row)} x {quoted(column)}"
    words = f"{len(frame):,} entries {quoted(value)} of a {len(row_names):,} x {len(names):,} matrix ({both})"
    if twice:
        newest = f" by {quoted(time)}" if time and hints.duplicates == "last" else ""
        words += f", {twice:,} duplicates: their {hints.duplicates}{newest}"
    values = frame[value].to_numpy(np.float64)
    return Given((rows, columns, values), None, None, tuple(names), tuple(row_names), words, "inductive-completion")


def ask_sentinel(what: str, values: Array, hints: Hints) -> None:
    """Raise InputError for a value that may stand for a missing one, unless hints name missing values."""
    if hints.missing or (value := sentinel(values)) is None:
        return
    fraction = float(np.mean(values[np.isfinite(values)] == value))
    raise InputError(
        what,
        "free of values that stand for missing ones",
        f"{value:.12g} in {fraction:.0%} of the entries, far from all others",
        f"say missing={value:.12g} if they are missing, or missing=none",
    )


def sentinel(values: Array) -> float | None:
    """Return a value in over a tenth of the entries that is far from all others, the only one below 0, or no rating."""
    known = values[np.isfinite(values)]
    for value in (known.max(), known.min()) if len(known) else ():
        others = np.unique(known[known != value])
        if np.mean(known == value) <= 0.1 or len(others) < 3:
            continue
        gap = others[0] - value if value < others[0] else value - others[-1]
        counts = np.unique(known, return_counts=True)[1]
        grid = value == 0 and tuple(others) in SCALES and counts[0] == counts.max()
        alone = value < 0 <= others[0] and value == round(value) and (known == value).sum() > 2
        if gap > (others[-1] - others[0]) or grid or alone:
            return float(value)
    return None


def quoted(name: str) -> str:
    """Return the name of a column between backticks, without any other backtick."""
    return f"`{printable(name).replace('`', '')}`"


def span(names: Sequence[str]) -> str:
    """Return the first and the last name."""
    return f"{printable(names[0])}..{printable(names[-1])}" if len(names) > 1 else "".join(names)


def chosen(what: str, text: str, titles: Sequence[str], most: int = 0) -> list[int]:
    """Return the places of the columns in a text, at most `most` of them (0: any number)."""
    places: list[int] = []
    titles = list(titles)
    for part in (text,) if text in titles else text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7}))?\s*", part)
        if part.strip() in titles:
            places.append(titles.index(part.strip()))
        elif ends and 1 <= int(ends[1]) <= int(ends[2] or ends[1]) <= len(titles):
            places.extend(range(int(ends[1]) - 1, int(ends[2] or ends[1])))
        else:
            expected = f"columns by name, or in 1..{len(titles)} ({', '.join(titles)})"
            remedy = nearest(part, tuple(titles)) or "name columns of the file"
            raise InputError(what, printable(expected)[:200], part, remedy)
    if (most and len(places) > most) or len(set(places)) < len(places):
        raise InputError(what, f"{most or 'each'} column once", text, "name each column once")
    return places


def side_features(table: Table, members: Sequence[str], what: str) -> Array:
    """Return features (n, d) of the rows or columns of a matrix, in order: numbers, and words that two of them share.

    The first column has their names. `|` separates the words of a field. A missing number becomes the column's mean.
    """
    frame = table.frame
    names = frame.iloc[:, 0].astype(str)
    if len(frame.columns) < 2 or names.duplicated().any():
        got = "one column" if len(frame.columns) < 2 else f"{names[names.duplicated()].iloc[0]} twice"
        raise InputError(what, "a table with a name per row, each once, and features", got, "correct the table")
    parts = list[pd.DataFrame]()
    for name, column in frame.iloc[:, 1:].items():
        if pd.api.types.is_numeric_dtype(column):
            parts.append(column.astype(np.float64).fillna(column.mean() if column.notna().any() else 0.0).to_frame())
        else:
            words = column.fillna("").astype(str).str.get_dummies("|")
            parts.append(words.loc[:, words.sum() > 1].add_prefix(f"{name}="))
    whole = pd.concat(parts, axis=1).set_axis(names)
    absent = next((member for member in members if member not in whole.index), None)
    if absent is not None or not len(whole.columns):
        got = f"none of {absent}" if absent is not None else "none that two members share"
        raise InputError(what, "features of each member", got, "add the features, or leave the table out")
    return whole.loc[list(members)].to_numpy(np.float64)
