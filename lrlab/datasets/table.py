"""CSV with one row per instance: numbers as features, and columns that are named or counted as labels.

Columns are separated by tabs, semicolons or commas, whichever is most frequent in the first line, beyond trailing ones.
The first row names the columns unless all of it is numbers. Labels are 1 or 0 (or true and false, 1 and -1); an empty
field, `?` or NA is a label that was not observed. Features are numbers, or words where the first value is one.
"""

import csv
import itertools
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.columns import Column, WordColumn, coded, dense_dataset, is_word
from lrlab.datasets.dataset import Dataset, Names
from lrlab.datasets.labels import FORMS, LabelChoice
from lrlab.datasets.text import MAX_COLUMNS, WORDS_GROWTH, Source, label_value, number, printable, require_room
from lrlab.parameters import InputError

DELIMITERS = "\t;,"
Row = tuple[int, list[str]]


def read_table(source: Source, choice: LabelChoice | None, limit_bytes: int, like: Dataset | None = None) -> Dataset:
    """Read a CSV file row by row; words are those of `like`, if it is given."""
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which columns are labels")
    names, rows = header_of(source, csv_rows(source, limit_bytes), required=bool(choice.names))
    start, first = next(rows, (1, []))
    if not first:
        raise source.refuse(start, "at least one row of values", "none", "add the rows")
    titles = names or tuple(str(place + 1) for place in range(len(first)))
    labels = choice.places(titles, source)
    columns = [Column(title) for title in titles]
    for place in labels:
        columns[place] = Column(titles[place], is_label=True, what="for label")
    if names:
        columns = with_words(columns, first, like.feature_names if like else None)
    values, count = array("d"), 0
    for line, row in itertools.chain([(start, first)], rows):
        require_width(source, line, row, len(columns))
        values.extend(coded(source, line, row, columns))
        count += 1
        if source.complete(count):
            break
    table = np.frombuffer(values).reshape(count, len(columns))
    require_words(source, start, columns, table)
    if names is None and not choice.optional and np.isnan(table[:, labels[-1]]).all():
        need = f"a label in column {titles[labels[-1]]} of some row"
        raise source.refuse(start, need, "nothing in any", "remove trailing separators, or the column")
    data = dense_dataset(source, columns, labels, table, limit_bytes)
    return data if names else replace(data, feature_names=None, label_names=None)


def with_words(columns: list[Column], first: list[str], known: Names | None) -> list[Column]:
    """Return columns with those of words: by the first row, or by the features of other rows."""
    words = dict[int, WordColumn]()
    for place, column in enumerate(columns):
        if column.is_label:
            continue
        head = f"{column.name}="
        own = [name[len(head) :] for name in known or () if name.startswith(head)]
        if own and column.name not in (known or ()):
            codes = {word: float(code) for code, word in enumerate(own)}
            words[place] = WordColumn(column.name, codes=codes, is_words=True, closed=True)
        elif known is None and first[place : place + 1] and is_word(first[place]):
            words[place] = WordColumn(column.name, codes={}, is_words=True)
    return [words.get(place, column) for place, column in enumerate(columns)]


def require_words(source: Source, line: int, columns: list[Column], values: Array) -> None:
    """Raise InputError for a column with numbers in most rows but a word in the first, which this line holds."""
    for place, column in enumerate(columns):
        if isinstance(column, WordColumn) and not column.closed and column.codes:
            numbers = [code for word, code in column.codes.items() if not is_word(word)]
            if 2 * np.isin(values[:, place], numbers).sum() > len(values):
                need = f"a number in column {column.name[:60]}, as in most rows,"
                raise source.refuse(line, need, next(iter(column.codes)), "correct it, or write words in all rows")


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

    if text.count(delimiter) >= MAX_COLUMNS:
        got = f"{printable(source.path.name)} with {text.count(delimiter) + 1:,}"
        raise InputError("file", f"at most {MAX_COLUMNS:,} columns", got, "write svmlight or .npz")
    reader = csv.reader(decoded(), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise source.refuse(reader.line_num, "fields in closed quotes", str(error), "check the quotes") from None


def header_of(source: Source, rows: Iterator[Row], required: bool) -> tuple[Names | None, Iterator[Row]]:
    """Return the names in the first row, None if it holds values (some numbers, no words), and the rows of values.

    Columns that trail without a name are left out of the rows; InputError where one of them has a value.
    """
    line, fields = next(rows, (1, list[str]()))
    values = any(number(field) is not None for field in fields)
    if values and not required and all(number(field) is not None or label_value(field) is not None for field in fields):
        return None, itertools.chain([(line, fields)], rows)
    names = tuple(field.strip() for field in fields)
    kept = max((place for place, name in enumerate(names, 1) if name), default=0)
    if len(set(names[:kept])) < kept:
        twice = Counter(names[:kept]).most_common(1)[0][0]
        raise source.refuse(line, "names that differ", twice, "rename one of the two columns")

    def shortened() -> Iterator[Row]:
        for line, row in rows:
            full = next((place for place in range(kept, len(row)) if row[place].strip()), None)
            if full is not None and len(row) <= len(names):
                need = f"a name for column {full + 1} in the first line, since there is a value"
                raise source.refuse(line, need, row[full], "name the column, or remove its values")
            yield line, row if len(row) > len(names) else row[:kept]

    return names[:kept], shortened() if kept < len(names) else rows


def require_width(source: Source, line: int, row: list[str], width: int) -> None:
    """Refuse a row of another length."""
    if len(row) != width:
        raise source.refuse(line, f"{width} fields", f"{len(row)} fields", "check separators and quotes in this row")
