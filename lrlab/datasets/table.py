"""CSV (commas, semicolons or tabs) with the labels among its columns.

The first row names the columns unless all of it is numbers. Labels are 1 or 0 (or true and false, 1 and -1); an empty
field, `?` or NA is a label that was not observed. Features are numbers, or words: a column whose first value is a word
has a column of 0 and 1 for each of its words, named `column=word`; a gap is none of them.
"""

import csv
import itertools
from array import array
from collections import Counter
from collections.abc import Iterator

import numpy as np

from lrlab.datasets.dataset import Dataset, Names, assemble
from lrlab.datasets.labels import FORMS, LabelChoice
from lrlab.datasets.text import MAX_NAMES, WORDS_GROWTH, Source, label_value, number, printable, require_room
from lrlab.datasets.words import WordColumns, levels_of
from lrlab.parameters import InputError

DELIMITERS = "\t;,"
Row = tuple[int, list[str]]


def read_table(source: Source, choice: LabelChoice | None, limit_bytes: int, like: Dataset | None = None) -> Dataset:
    """Read a CSV file row by row; words are those of `like`, if it is given."""
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels")
    rows = csv_rows(source, limit_bytes)
    names, rows = header_of(source, rows, required=bool(choice.names))
    if names:
        names, rows = without_trailing(source, names, rows)
    start, first = next(rows, (1, []))
    if not first:
        raise source.refuse(start, "at least one row of values", "none", "add the rows")
    columns = names or tuple(str(place + 1) for place in range(len(first)))
    labels = choice.places(columns, source)
    is_label = np.zeros(len(columns), dtype=bool)
    is_label[labels] = True
    features = np.flatnonzero(~is_label).tolist()
    levels = levels_of(first, features, columns, like.feature_names if like else None) if names else {}
    words = WordColumns(levels, closed=bool(like and like.feature_names))
    X, Y = array("d"), array("d")
    for line, row in itertools.chain([(start, first)], rows):
        require_width(source, line, row, len(columns))
        X.extend(numbers(source, line, words.coded(source, line, row, columns), features, columns))
        Y.extend(_label(source, line, row[place], columns[place]) for place in labels)
        if source.complete(len(Y) // len(labels) if labels else len(X) // len(features)):
            break
    x = np.frombuffer(X).reshape(-1, len(features))
    words.require_words(source, start, x, features, columns)
    y = np.frombuffer(Y).reshape(len(x), len(labels))
    label_names = tuple(columns[place] for place in labels)
    require_room(source, 8 * len(x) * words.width(features), limit_bytes, "features")
    values, feature_names = words.expanded(x, features, columns)
    if names is None and not choice.optional and np.isnan(y[:, -1]).all():
        need = f"a label in column {label_names[-1]} of some row"
        raise source.refuse(start, need, "nothing in any", "remove trailing separators, or the column")
    given = (feature_names, label_names) if names else (None, None)
    return assemble(values, np.nonzero(y > 0), np.nonzero(np.isnan(y)), len(labels), given)


def csv_rows(source: Source, limit_bytes: int) -> Iterator[Row]:
    """Yield line numbers and fields of all rows that are not blank."""
    lines = source.lines()
    head = list(itertools.islice(lines, 1))
    text = "".join(source.text(*line) for line in head)
    delimiter = max(DELIMITERS, key=lambda mark: (text.count(mark), mark == ","))

    def decoded() -> Iterator[str]:
        for line, raw in itertools.chain(head, lines):
            require_room(source, len(raw) * WORDS_GROWTH, limit_bytes, f"fields in line {line}")
            yield source.text(line, raw) + "\n"

    if text.count(delimiter) > MAX_NAMES:
        got = f"{printable(source.path.name)} with {text.count(delimiter) + 1:,}"
        raise InputError("file", f"at most {MAX_NAMES:,} columns", got, "write svmlight or .npz")
    reader = csv.reader(decoded(), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise source.refuse(reader.line_num, "fields in closed quotes", str(error), "check the quotes") from None


def header_of(source: Source, rows: Iterator[Row], required: bool) -> tuple[Names | None, Iterator[Row]]:
    """Return the names in the first row, None if it holds values (some numbers, no words), and the rows of values."""
    first = next(rows, None)
    if first is None:
        return None, iter(())
    line, fields = first
    values = any(number(field) is not None for field in fields)
    if values and not required and all(number(field) is not None or label_value(field) is not None for field in fields):
        return None, itertools.chain([first], rows)
    names = tuple(field.strip() for field in fields)
    named = names[: _named(names)]
    if len(set(named)) < len(named):
        twice = Counter(named).most_common(1)[0][0]
        raise source.refuse(line, "names that differ", twice, "rename one of the two columns")
    return names, rows


def without_trailing(source: Source, names: Names, rows: Iterator[Row]) -> tuple[Names, Iterator[Row]]:
    """Return names and rows without the columns that trail without a name, which must be empty or absent."""
    kept = _named(names)

    def shortened() -> Iterator[Row]:
        for line, row in rows:
            full = next((place for place in range(kept, len(row)) if row[place].strip()), None)
            if full is not None and len(row) <= len(names):
                need = f"a name for column {full + 1} in the first line, since there is a value"
                raise source.refuse(line, need, row[full], "name the column, or remove its values")
            yield line, row if len(row) > len(names) else row[:kept]

    return names[:kept], shortened() if kept < len(names) else rows


def _named(names: Names) -> int:
    """Return the number of columns up to the last one that has a name."""
    return max((place for place, name in enumerate(names, 1) if name), default=0)


def require_width(source: Source, line: int, row: list[str], width: int) -> None:
    """Refuse a row of another length."""
    if len(row) != width:
        raise source.refuse(line, f"{width} fields", f"{len(row)} fields", "check separators and quotes in this row")


def numbers(source: Source, line: int, row: list[str], places: list[int], columns: tuple[str, ...]) -> list[float]:
    """Return the fields at these places as finite numbers."""
    read = [number(row[place]) for place in places]
    values = [value for value in read if value is not None]
    if len(values) < len(read):
        place = places[read.index(None)]
        remedy = "fill the value in" if not row[place].strip() else "write a number with a decimal point"
        raise source.refuse(line, f"a number in column {columns[place][:60]}", row[place], remedy)
    return values


def _label(source: Source, line: int, field: str, column: str) -> float:
    value = label_value(field)
    if value is None:
        need = f"1, 0 or nothing for label {column[:60]}"
        raise source.refuse(line, need, field, "check which columns are labels")
    return value
