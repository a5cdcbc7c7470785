"""Recognizes the columns of a table: responses with features, a matrix with missing entries, or (row, column, value).

The names of columns decide. One line states the result before any fit. lrlab asks about a value that may stand for a
missing one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab.arrays import Array, Matrix, Vector
from lrlab.data.arrays import numbers
from lrlab.data.files import printable
from lrlab.data.hints import COMPLETION, MATRIX, NOTHING, PATTERNS, TRIPLES, Hints, require_unused
from lrlab.parameters import InputError, counted, nearest

TARGETS = ("y", "target", "label", "class", "outcome", "response")
ROLES = (
    ("user", "userid", "customer", "customerid", "row", "rowid"),
    ("item", "itemid", "movie", "movieid", "column", "col", "product", "productid"),
)
"""Names of the columns of a matrix's rows and of its columns."""
VALUES, TIMES = ("rating", "ratings", "value", "score", "stars"), ("timestamp", "time", "date", "datetime")
"""Last words of the names of the columns of values and of times."""
IDENTIFIERS = ("", "index", "id", "unnamed0", "sample", "subject", "patient", *ROLES[0])
LAST_ID = re.compile(r"([\W_][iI]|[a-z]I)[dD]$")
"""Names, and their last word, of a first column whose whole numbers name the rows."""
SCALES = (tuple(range(1, 6)), tuple(range(1, 11)), tuple(k / 2 for k in range(1, 11)))
"""Scales of ratings; a 0 below them may mean no rating."""
MOST_WORDS = 60
"""Most words of a feature; each word becomes a column of 0 and 1."""


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


def understood(whole: pd.DataFrame, form: str, hints: Hints = NOTHING) -> Given:
    """Return the contents of a table; InputError if they are unclear, or a value may stand for a missing one.

    form: words on the form of the file.
    """
    if hints.kind == PATTERNS:
        raise InputError("kind", "other than patterns for a table", "a table", "save patterns and masks as an .npz")
    if hints.kind in (MATRIX, TRIPLES):
        require_unused({"y": hints.y, "Z": hints.Z}, f"kind={hints.kind}", "leave it out, or say kind=responses")
    if roles := triple_columns(whole, hints):
        given = _triples(whole, roles, hints)
    else:
        # Numbers count the columns of the file, also a column that names its rows.
        y, Z = chosen("y", hints.y, whole.columns, 1), chosen("Z", hints.Z, whole.columns)
        frame, rows = without_row_names(whole, (*y, *Z))
        if rows:
            _require_no_totals(frame, rows[-1])
        target = next((name for name in frame.columns if plain(name) in TARGETS), "")
        said = hints.kind or y or Z or hints.model or target
        gaps = frame.isna().to_numpy().any() and all(map(pd.api.types.is_numeric_dtype, frame.dtypes))
        modeled = hints.model == COMPLETION and not (y or Z or hints.kind)
        if hints.kind == MATRIX or modeled or (gaps and not said):
            given = _matrix(frame, rows, hints)
        else:
            given = _responses(frame, y[0] if y else target or frame.columns[-1], Z, hints)
        if rows:
            title = whole.columns[0]
            given = given._replace(words=f"{given.words}, row names {quoted(title) if title else ''}".rstrip())
    return given._replace(words=f"{given.words} ({form})") if form else given


def without_row_names(
    frame: pd.DataFrame, used: Sequence[str] = (), *, words: bool = True
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a table without the column that names its rows, and the names: different whole numbers or words.

    used: columns that hold data. words: words may be names.
    """
    title, first = str(frame.columns[0]), frame.iloc[:, 0]
    if len(frame.columns) < 3 or title in used:
        return frame, ()
    numbered = pd.api.types.is_integer_dtype(first) and (plain(title) in IDENTIFIERS or LAST_ID.search(title))
    worded = (words or not title) and not pd.api.types.is_numeric_dtype(first) and len(first) > 2
    named = (numbered or worded) and first.is_unique
    return (frame.iloc[:, 1:], tuple(map(str, first))) if named else (frame, ())


def triple_columns(frame: pd.DataFrame, hints: Hints) -> tuple[str, str, str, str] | None:
    """Return the columns of row, column, value and time ("" if absent), or None for another kind of table."""
    names = list(frame.columns)
    if hints.kind not in ("", MATRIX, TRIPLES) or hints.y or hints.Z or hints.model not in ("", COMPLETION):
        return None
    titles = {plain(name): name for name in names}
    row, column = (next((titles[one] for one in role if one in titles), "") for role in ROLES)
    value = next((name for name in names if plain(name).endswith(VALUES)), "")
    times = (name for name in names if plain(name).endswith(TIMES))
    time = min(times, key=lambda name: plain(name) not in TIMES, default="")
    rest = [name for name in names if name not in (row, column, value, time)]
    repeated = all(frame[name].nunique() < len(frame) for name in (row, *rest) if name)
    if row and value and not column and len(rest) == 1 and repeated and not pd.api.types.is_float_dtype(frame[rest[0]]):
        column = rest[0]
    if not (row and column):
        # A fourth column may hold times, as in MovieLens, whose files may lack a heading.
        few = len(names) == 3 or (len(names) == 4 and (time or names[3] == "4"))
        if not (hints.kind == TRIPLES and len(names) > 1) and not (few and _are_triples(frame)):
            return None
        # An identifier of each entry, such as of a review, names no row or column.
        sides = iter(sorted(filter(None, (*rest, time)), key=lambda name: frame[name].is_unique))
        row, column = row or next(sides, ""), column or next(sides, "")
    value = value or next((name for name in names if name not in (row, column, time)), "")
    # A duration, such as watch_time, is a value if there is no other.
    value = value or (time if plain(time) not in TIMES else "")
    if not (column and value):
        third = f"the third column is called {printable(time)}" if time else "there are two columns"
        got, remedy = f"pairs without a value ({third})", "add a column `value`: pairs alone leave no entry unknown"
        raise InputError("ratings", "triples of row, column and value", got, remedy)
    return row, column, value, time if time not in (column, value) else ""


def _are_triples(frame: pd.DataFrame) -> bool:
    """Return whether the first two columns hold repeated rows and columns of a matrix, in different pairs."""
    pairs = frame.iloc[:, :2]
    sides = [side for _, side in pairs.items()]
    if not pd.api.types.is_numeric_dtype(frame.iloc[:, 2]) or frame.iloc[:, :3].isna().any(axis=None):
        return False
    if not all(side.nunique() < len(side) for side in sides):
        return False
    numeric = [side for side in sides if pd.api.types.is_numeric_dtype(side)]
    whole = all(pd.api.types.is_integer_dtype(side) and side.min() >= 0 for side in numeric)
    many = pairs.max(axis=None) > 5 if len(numeric) == 2 else min(side.nunique() for side in sides) > 10
    return bool(not numeric or (whole and many and len(frame) >= 20 and pairs.duplicated().mean() < 0.1))


def _require_no_totals(frame: pd.DataFrame, name: str) -> None:
    """Raise InputError if the last row, with a name, holds the sums of the others."""
    numeric = frame.select_dtypes("number")
    sums = numeric.iloc[:-1].sum()
    summed = (sums != 0) & np.isclose(numeric.iloc[-1], sums, rtol=1e-4)
    # Rare 0/1 columns agree by chance.
    if len(frame) > 3 and summed.sum() > max(1, (sums != 0).sum() / 2):
        raise InputError(f"row {printable(name)[:60]}", "one sample", "the sums of the rows above it", "remove it")


def _responses(frame: pd.DataFrame, target: str, second: Sequence[str], hints: Hints) -> Given:
    """Return the target column as responses, second vectors, and the other columns as features."""
    response, rest, what = frame[target], frame.drop(columns=target), f"response column {printable(target)[:60]}"
    if response.isna().any():
        got = f"none in row {int(np.argmax(response.isna())) + 1}"
        remedy = "name another column by y, leave the row out, or say kind=matrix"
        raise InputError(what, "known in all rows", got, remedy)
    for name, column in frame.select_dtypes("number").items():
        ask_sentinel(f"column {name}", column.to_numpy(np.float64), hints, ratings=name != target)
    X, columns, notes = features(rest.drop(columns=list(second), errors="ignore"))
    if not columns:
        remedy = "add numbers or words that repeat, or separate the fields by commas"
        raise InputError("columns", "a response and at least one feature", "none", remedy)
    Z = features(frame[list(second)])[0] if second else None
    numeric, model = pd.api.types.is_numeric_dtype(response), hints.model
    y: Vector = response.to_numpy(np.float64) if numeric else response.astype(str).to_numpy(str)
    if len(kinds := np.unique(y)) == 1:
        raise InputError(what, "of at least two values", f"only {kinds[0]}", "name another column by y, or add rows")
    if not numeric:
        form = f"{counted(len(kinds), 'word')}: {', '.join(map(str, kinds[:3]))}"
    elif len(kinds) == 2:
        form = f"binary {kinds[0]:g}/{kinds[1]:g}"
    else:
        form, model = "real", model or ("rank-one-sensing" if second else "polynomial-network")
    words = f"{counted(len(y), 'sample')}, {counted(len(columns), 'feature')} {span(columns)}"
    words += f", second vectors {span(second)}" if second else ""
    words += f", response {quoted(target)} ({form})" + "".join(f". {note.rstrip('.')}" for note in notes)
    # A form has a constant and linear terms unless you name the model.
    options = {"constant": True} if model != hints.model else {}
    return Given(y, X, Z, columns, (), words, model, options)


def features(
    frame: pd.DataFrame, *, known: Sequence[str] = (), most: int = MOST_WORDS, drop_first: bool = True
) -> tuple[Matrix, tuple[str, ...], list[str]]:
    """Return features as a table, sparse if columns are, their names, and notes on columns that lrlab leaves out.

    Each word of a column becomes a feature 0 or 1. lrlab leaves out columns of words that are nearly unique per row.
    known: names of the features of the training data, whose columns and words count. most: most words of a column.
    drop_first: omit the first word.
    """
    # The features and columns of the training data, with the words of each column.
    trained = {one: list[str]() for one in known}
    for one in known:
        for mark in re.finditer("=", one):
            trained.setdefault(one[: mark.start()], []).append(one[mark.end() :])
    counted, coded, notes = list[pd.Series](), list[pd.DataFrame](), list[str]()
    sparse = any(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes)
    for title, column in frame.items():
        name, listed = str(title), isinstance(column.dtype, pd.CategoricalDtype)
        words = list(dict.fromkeys(trained.get(name, [])))
        numeric = not listed and (pd.api.types.is_numeric_dtype(column) or not column.notna().any())
        unique = not (numeric or words) and max(10, len(column) / 2) < column.nunique()
        if unique or (known and name not in trained):
            why = "the training rows lack it." if known else "it is nearly unique per row."
            notes.append(f"lrlab leaves out column {printable(name)[:60]}: {why}")
            continue
        if (missing := ~np.isfinite(column.to_numpy(np.float64)) if numeric else column.isna().to_numpy()).any():
            at, what = int(np.argmax(missing)), "finite number" if numeric else "word"
            got = f"{column.iloc[at]} in row {at + 1}"
            remedy = "fill it in, or leave the row or column out"
            raise InputError(f"column {name[:60]}", f"a {what} in each row", got, remedy)
        if numeric and not words:
            counted.append(column.rename(name))
            continue
        words = words or (list(column.cat.categories) if listed else sorted(set(column.astype(str))))
        if len(words) > most:
            got = f"{len(words)} words such as {words[0]}"
            remedy = "leave the column out, code its words, or say kind=triples if they name rows of a matrix"
            raise InputError(f"column {name[:60]}", f"of numbers, or of at most {most:,} words", got, remedy)
        places = pd.Series(pd.Categorical(column.where(column.isin(words)), words), index=column.index)
        block = pd.get_dummies(places, prefix=name, prefix_sep="=", dtype=np.float64, sparse=sparse)
        # Two listed values of ARFF are one feature.
        first = not known and (drop_first or (listed and len(words) == 2))
        coded.append(block.iloc[:, int(first) :])
    if not (counted or coded):
        return np.zeros((len(frame), 0)), (), notes
    table = pd.concat([*counted, *coded], axis=1)
    return csr_array(table.sparse.to_coo()) if sparse else table.to_numpy(np.float64), tuple(table.columns), notes


def _matrix(frame: pd.DataFrame, rows: tuple[str, ...], hints: Hints) -> Given:
    table = numbers("the matrix", frame, 2, gaps=True)
    ask_sentinel("the matrix", table, hints)
    (n1, n2), known = table.shape, np.isfinite(table).mean()
    words = f"a {n1:,} x {n2:,} matrix with {known:.1%} of its entries known"
    return Given(table, names=tuple(frame.columns), rows=rows, words=words, model=COMPLETION)


def _triples(frame: pd.DataFrame, roles: Sequence[str], hints: Hints) -> Given:
    """Return the entries of triples, each once."""
    row, column, value, time = roles
    if missing := next((name for name in (row, column) if frame[name].isna().any()), ""):
        raise InputError(f"column {missing}", "named in each row", "nothing", "name it")
    frame = frame.dropna(subset=[value])
    ask_sentinel(f"column {value}", numbers(f"column {value}", frame[value], 1), hints)
    unused = [name for name in frame.columns if name and name not in roles]
    twice, said = frame.duplicated([row, column]), ""
    if twice.any():
        if not hints.duplicates:
            got = f"{frame[row][twice].iloc[0]}, {frame[column][twice].iloc[0]} twice"
            remedy = "keep the last or their mean by duplicates"
            raise InputError("ratings", "one value per row and column", got, remedy)
        newest = f" by {quoted(time)}" if time and hints.duplicates == "last" else ""
        said = f", {counted(twice.sum(), 'duplicate')}: their {hints.duplicates}{newest}"
        ordered = frame.iloc[np.argsort(_moments(time, frame[time]), kind="stable")] if newest else frame
        frame = ordered.groupby([row, column], sort=False)[value].agg(hints.duplicates).reset_index()
    (rows, row_names), (columns, names) = (pd.factorize(frame[name].astype(str)) for name in (row, column))
    both = f"{quoted(row)} x {quoted(column)}"
    words = f"{len(frame):,} entries {quoted(value)} of a {len(row_names):,} x {len(names):,} matrix ({both}){said}"
    words += f", without column{'s' * (len(unused) > 1)} {span(unused)}" if unused else ""
    entries = rows, columns, frame[value].to_numpy(np.float64)
    return Given(entries, names=tuple(names), rows=tuple(row_names), words=words, model=COMPLETION)


def _moments(name: str, column: pd.Series) -> Vector:
    """Return times as numbers, also of dates with the year first, the only order that is clear."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(np.float64)
    try:
        return pd.to_datetime(column, format="ISO8601", utc=True).to_numpy(np.float64)
    except ValueError:
        need, remedy = "of numbers, or of dates such as 2024-01-31", "write the year first, or take duplicates=mean"
        raise InputError(f"column {printable(name)[:60]}", need, column.iloc[0], remedy) from None


def ask_sentinel(what: str, values: Array, hints: Hints, *, ratings: bool = True) -> None:
    """Raise InputError for a value that may stand for a missing one, unless hints name missing values.

    More than a tenth of the entries have it, and it is far from all others, the only one below 0, or below ratings.
    ratings: whether the values may be ratings; a response that is often 0 is a count.
    """
    known = values[np.isfinite(values)]
    for value in (known.max(), known.min()) if len(known) and not hints.missing else ():
        others, fraction = np.unique(known[known != value]), float(np.mean(known == value))
        if fraction <= 0.1 or len(others) < 3 or (known == value).sum() < 2:
            continue
        gap = others[0] - value if value < others[0] else value - others[-1]
        counts = np.unique(known, return_counts=True)[1]
        below_ratings = ratings and value == 0 and tuple(others) in SCALES and counts[0] == counts.max()
        alone = value < 0 <= others[0] and value == round(value) and (known == value).sum() > 2
        if gap > others[-1] - others[0] or below_ratings or alone:
            got = f"{value:.12g} in {fraction:.0%} of the entries, far from all others"
            remedy = f"say missing={value:.12g} if they are missing, or missing=none"
            raise InputError(what, "free of values that stand for missing ones", got, remedy)


def quoted(name: str) -> str:
    """Return the name of a column between backticks, without any other backtick."""
    return f"`{printable(name).replace('`', '')}`"


def span(names: Sequence[str]) -> str:
    """Return the first and the last name."""
    return "..".join(map(printable, dict.fromkeys((names[0], names[-1]))))


def chosen(what: str, text: str, titles: Sequence[str], most: int = 0) -> list[str]:
    """Return the columns that a text names or numbers, at most `most` of them (0: any number)."""
    titles, names = list(titles), list[str]()
    for part in (text,) if text and text in titles else filter(None, text.split(",")):
        ends = re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7}))?\s*", part)
        if part.strip() in titles:
            names.append(part.strip())
        elif ends and 1 <= int(ends[1]) <= int(ends[2] or ends[1]) <= len(titles):
            names.extend(titles[int(ends[1]) - 1 : int(ends[2] or ends[1])])
        else:
            expected = f"columns by name, or in 1..{len(titles)} ({', '.join(titles)})"
            remedy = nearest(part, tuple(titles)) or "name columns of the file"
            raise InputError(what, printable(expected)[:200], part, remedy)
    if (most and len(names) > most) or len(set(names)) < len(names):
        raise InputError(what, f"{most or 'each'} column once", text, "name each column once")
    return names


def side_features(frame: pd.DataFrame, members: Sequence[str], what: str) -> Array:
    """Return features (n, d) of the rows or columns of a matrix, in order: numbers, and words that two of them share.

    The first column has their names. `|` separates the words of a field. A missing number becomes the column's mean.
    """
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
