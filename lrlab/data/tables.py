"""Reads CSV with any separator and encoding, and parquet, as DataFrames.

pandas reads the fields. This module recognizes the separator, the decimal mark and the heading, and names the line of
a row that it cannot read.
"""

import csv
import datetime
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.data.files import Source, number
from lrlab.parameters import InputError, counted

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", "::": "double colons", ",": "commas", " ": "spaces"}
THOUSANDS = {
    ".": re.compile(r"\s*[-+]?[1-9]\d{0,2}([, ])\d{3}(?:\1\d{3})*(?:\.\d*)?\s*", re.ASCII),
    ",": re.compile(r"\s*[-+]?[1-9]\d{0,2}([. ])\d{3}(?:\1\d{3})*(?:,\d*)?\s*", re.ASCII),
}
"""Numbers with thousands separators, by the decimal mark."""
CURRENCIES = "$€£¥"
SIGNS = str.maketrans("\xa0\u202f\u2009'’−(", "     --", f"){CURRENCIES}")
"""Other forms of a space between thousands and of a minus sign, such as parentheses; currency signs do not count."""
SWAPPED = str.maketrans(".,", ",.")
SNIFFED = 100
"""Number of rows that decide the separator."""
UNIT = re.compile(r"(?<=[\d.])\s*(%|°?[^\W\d_][^\W_]*(?:/\w+)?)$")
"""The unit behind a number, such as mg/dL."""
FAULTS = ("#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!")
"""What a spreadsheet writes instead of a value."""
MISSING = {"?", "-", "none", *FAULTS, *(word.lower() for word in pd._libs.parsers.STR_NA_VALUES)}
"""Marks of a missing value, in lower case: pandas' list and more."""

# A field in open quotes may have any length until a sentence names it.
csv.field_size_limit(2**31 - 1)


class Row(NamedTuple):
    """The number of the first line of a row, its text, and its number of fields, 0 for a comment."""

    line: int
    text: str
    width: int


class Dialect(NamedTuple):
    """Separator and decimal mark."""

    separator: str = ","
    decimal: str = "."

    @property
    def mark(self) -> str:
        """The separator in the text of a row: pandas is fast with a single character only."""
        return self.separator.replace("::", "\t")

    def rows(self, lines: Sequence[str]) -> Iterator[Row]:
        """Yield comments (#) and rows, whose fields in quotes may have several lines, but no blank rows."""
        parts, first = list[str](), 0

        def feed() -> Iterator[str]:
            nonlocal first
            for at, line in enumerate(lines, 1):
                bare = line.strip(" ,;|\t")
                comment = not parts and line.lstrip().startswith("#") and not bare.lower().startswith(("#n/a", *FAULTS))
                if parts or bare:
                    first = first if parts else at
                    text = line.replace("::", "\t") if self.separator == "::" else line
                    parts.append(" ".join(text.split()) if self.separator == " " else text)
                    yield "#" if comment else parts[-1] + "\n"

        for fields in csv.reader(feed(), delimiter=self.mark, skipinitialspace=True):
            yield Row(first, "\n".join(parts), 0 if fields == ["#"] else len(fields))
            parts.clear()

    def fields(self, text: str) -> list[str]:
        """Return the fields of a row, without quotes around them."""
        return [field.strip() for field in next(csv.reader([text], delimiter=self.mark, skipinitialspace=True), [])]

    def plain(self, field: str) -> str:
        """Return a number without thousands separators and currency signs, with a decimal point."""
        field = field.translate(SIGNS)
        if mark := THOUSANDS[self.decimal].fullmatch(field):
            field = field.replace(mark[1], "")
        return field.translate(SWAPPED) if self.decimal == "," else field

    def is_number(self, field: str) -> bool:
        """Return whether a field is a finite number; 1,288 is none before the decimal mark is known."""
        return (self.decimal == "," or "," not in field) and number(self.plain(field)) is not None

    def numeric(self, field: str) -> bool:
        """Return whether a field is a number, or a missing one."""
        return self.is_number(field) or field.lower() in MISSING


def read_frame(source: Source, missing: str = "") -> tuple[pd.DataFrame, str]:
    """Return the table of a CSV or parquet file, and words on its form, such as `separated by bars`.

    missing: a further mark of a missing value.
    """
    if source.kind == "parquet":
        return without(_parquet(source), missing), ""
    lines, encoding = source.lines()
    # A spreadsheet may name the separator in the first line.
    lines[0] = re.sub(r'^"?sep=.?"?$', "", lines[0])
    dialect = sniffed(lines)
    whole = list(dialect.rows(lines))
    rows = [row for row in whole if row.width]
    # Lines of one field above a table, or of words and empty fields, describe it.
    cells = enumerate(dialect.fields(row.text) for row in rows)
    above = next((k for k, row in cells if any(row[1:]) or (row[1:] and dialect.numeric(row[0]))), 0)
    comments = [row for row in whole if not row.width]
    later = sum(row.line > rows[above].line for row in comments) if rows else 0
    rows = _completed(dialect, rows[above:], comments[: len(comments) - later])
    width = rows[0].width if rows else 0
    source.require_few(width, "columns")
    for row in rows:
        if row.text.count('"') % 2:
            raise source.refuse(row.line, "fields in closed quotes", row.text, "check the quotes")
        if row.width != width:
            remedy = f"check separators ({SEPARATORS[dialect.separator]}) and quotes in this row"
            raise source.refuse(row.line, counted(width, "field"), counted(row.width, "field"), remedy)
    heading = _heading(dialect, rows) if rows else []
    body = rows[1:] if heading else rows
    if not body:
        raise source.refuse(1, "at least one row of values", "none", "add the rows")
    empty = sum(bool(line) and not line.strip(" ,;|\t") for line in lines[rows[0].line : rows[-1].line])
    look: dict[str, Any] = {"header": None, "index_col": False, "skipinitialspace": True, "skip_blank_lines": False}
    look |= {"sep": dialect.mark, "decimal": dialect.decimal, "names": range(width), "low_memory": False}
    columns = list(zip(*(dialect.fields(row.text) for row in body[:SNIFFED]), strict=True))
    look |= {"dtype": {0: str}} if padded(columns[0]) else {}
    with source.whole("CSV with rows of fields", "check separators and quotes"):
        frame = without(pd.read_csv(io.StringIO("\n".join(row.text for row in body)), **look), missing)
    # Separators that end all lines, or have nothing between them, make no columns.
    bare, filled = frame.isna().all(), len(dialect.fields(rows[0].text.rstrip(f"{dialect.mark} ")))
    names = heading or ["" if bare[k] and k >= filled else str(k + 1) for k in range(width)]
    kept = [k for k, name in enumerate(names) if name or not bare[k]]
    names = [names[k] for k in kept]
    require_names(source, rows[0].line, names)
    for name, k in zip(names, kept, strict=True) if dialect.decimal == "." else ():
        _require_clear_points(source, name, columns[k])
    frame = frame[kept].set_axis(names, axis=1)
    words = [f"separated by {SEPARATORS[dialect.separator]}"] if dialect.separator != "," else []
    words += ["decimal commas"] if dialect.decimal == "," else []
    words += _converted(source, frame, body, dialect, missing)
    left = {"line# above the table": above, "empty row#": empty, "comment#": later}
    words += [f"without {count} {what.replace('#', 's' * (count > 1))}" for what, count in left.items() if count]
    return frame, ", ".join([*words, *([encoding] if encoding else []), *([] if heading else ["no heading"])])


def sniffed(lines: Sequence[str]) -> Dialect:
    """Return the dialect that gives all rows the same number of fields, more than one, and the most numbers."""
    best, most = Dialect(), (False, -1.0)
    for separator in SEPARATORS:
        for decimal in ".,":
            dialect = Dialect(separator, decimal)
            rows = [dialect.fields(row.text) for row in islice(dialect.rows(lines), SNIFFED) if row.width]
            counts = [len(row) for row in rows]
            # Tabs may also stand before a last column of words alone.
            spaced = separator == " " and best.separator == "\t" and most > (True, 0.1)
            if separator == decimal or max(counts, default=0) < 2 or spaced:
                continue
            alike = max(counts.count(count) for count in set(counts) if count > 1) / len(counts)
            fields = [field for row in rows[1:] or rows for field in row]
            # The space in "12 kg" does not separate fields.
            numeric = sum(dialect.numeric(UNIT.sub("", field)) for field in fields) / max(1, len(fields))
            # Prefer points to commas, and the first separators to the last.
            score = (alike > 0.9, numeric + (decimal == ".") * 1e-9)
            if score > most:
                best, most = dialect, score
    return best


def _completed(dialect: Dialect, rows: list[Row], comments: Sequence[Row]) -> list[Row]:
    """Return rows with a whole heading if it is the last comment before them, as in numpy's files, or lacks a name.

    R leaves out the name of the row names, which differ; other programs end the rows or the heading alone by a
    separator.
    """
    for comment in comments[-1:] if rows else ():
        text = comment.text.lstrip(" #")
        names = dialect.fields(text)
        if len(names) == rows[0].width and not any(map(dialect.is_number, names)):
            rows = [Row(comment.line, text, len(names)), *rows]
    names, widths = dialect.fields(rows[0].text) if rows else [], {row.width for row in rows[1:]}
    if names and not names[-1] and widths == {len(names) - 1}:
        return [Row(rows[0].line, rows[0].text.rstrip(' "')[:-1], len(names) - 1), *rows[1:]]
    if widths != {len(names) + 1} or any(map(dialect.is_number, names)):
        return rows
    fields = [dialect.fields(row.text) for row in rows[1:]]
    first = {row[0] for row in fields if row[0].isdecimal() or not dialect.numeric(row[0])}
    if not any(row[-1] for row in fields):
        return [Row(rows[0].line, rows[0].text + dialect.mark, len(fields[0])), *rows[1:]]
    whole = Row(rows[0].line, f'""{dialect.mark}{rows[0].text}', len(fields[0]))
    return [whole, *rows[1:]] if len(first) == len(fields) else rows


def _heading(dialect: Dialect, rows: Sequence[Row]) -> list[str]:
    """Return the names in the first row, nothing if the row holds values.

    The row holds names if no field is a number, and most are not in their columns again, or if other rows start with a
    word, and the row starts with nothing or continues with whole numbers at equal steps, such as years. Columns without
    names are 0, 1, 2, ... in pandas' files, after a nameless one that numbers the rows: five of them are names, or
    three beside decimals.
    """
    first = [" ".join(field.split()) for field in dialect.fields(rows[0].text)]
    numbers = [dialect.is_number(field) for field in first]
    below = [dialect.fields(row.text) for row in rows[1:SNIFFED]]
    if not any(numbers):
        again = [word in column for word, column in zip(first, zip(*below, strict=True), strict=False)]
        return first if 2 * sum(again) <= len(first) else []
    places = [field == str(k) for k, field in enumerate(first[not first[0] :])]
    # The last one may be a response of whole numbers.
    inner = np.flatnonzero(numbers[:-1])
    decimals = all(any(re.search(r"[.,]\d", row[k]) for row in below) for k in inner)
    least = 1 if not first[0] else 5 if not decimals else 3 if all(numbers) else 2
    if sum(places) == sum(numbers) >= least:
        return first
    years = not numbers[0] and all(numbers[1:]) and len(set(first)) == len(first)
    if years and first[0]:
        whole = len(first) > 3 and all(map(str.isdecimal, first[1:]))
        years = whole and len(set(np.diff(np.array(first[1:], dtype=np.float64)))) == 1
    return first if years and below and not any(dialect.numeric(row[0]) for row in below) else []


def _require_clear_points(source: Source, name: str, fields: Sequence[str]) -> None:
    """Raise InputError for a column with 1.200 beside 950, whose points may stand between thousands."""
    pointed, whole = ([one for one in fields if ("." in one) == point and number(one)] for point in (True, False))
    if pointed and whole and all(map(THOUSANDS[","].fullmatch, pointed)) and all(len(one) < 4 for one in whole):
        need, got = f"points of one meaning in column {name[:60]}", f"{pointed[0]} beside {whole[0]}"
        raise source.refuse(1, need, got, "leave out points between thousands, or write all decimals")


def require_names(source: Source, line: int, names: Sequence[str]) -> None:
    """Raise InputError for a column without a name after the first one, or a name of two columns."""
    if "" in names[1:]:
        need = f"a name for column {names.index('', 1) + 1}, which has values,"
        raise source.refuse(line, need, "nothing", "name all columns, or remove lines above their names")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise source.refuse(line, "names that differ", twice[0], "rename one of the two columns")


def _converted(source: Source, frame: pd.DataFrame, body: Sequence[Row], dialect: Dialect, missing: str) -> list[str]:
    """Turn columns of percents and of numbers with thousands separators into numbers; return words on them.

    Raises InputError for a word in a column of numbers.
    """
    said = dict[str, None]()
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        words = column.dropna().astype(str).str.strip()
        if name == frame.columns[0] and padded(words):
            continue
        frame[name] = words = words[(words != missing) & ~words.str.lower().isin(MISSING)]
        unit = UNIT.search(words.iloc[0]) if len(words) else None
        mark = unit[1] if unit and words.str.endswith(unit[1]).all() else ""
        bare = words.str.removesuffix(mark)
        # One column may have decimal commas, in quotes.
        some = bare.map(THOUSANDS["."].fullmatch).isna().any()
        commas = dialect.decimal == "." and some and bare.str.fullmatch(r"\s*[-+]?\d+,\d+\s*").all()
        decimal = "," if commas else dialect.decimal
        values = pd.to_numeric(bare.map(dialect._replace(decimal=decimal).plain), errors="coerce")
        if values.notna().all():
            frame[name] = values.reindex(frame.index)
            signs = {
                "percent signs" if mark == "%" else f"unit {mark[:20]}": mark,
                "currency signs": words.str.contains(f"[{CURRENCIES}]").any(),
                "decimal commas": commas,
                "thousands separators": bare.str.translate(SIGNS).map(THOUSANDS[decimal].fullmatch).notna().any(),
            }
            said |= dict.fromkeys(sign for sign, found in signs.items() if found)
        elif values.notna().mean() > 0.5:
            place = words.index[int(np.argmin(values.notna().to_numpy()))]
            need = f"a number in column {str(name)[:60]}, as in most rows,"
            remedy = f"correct it, leave the row out, or say missing={words[place][:20]} if it is missing"
            raise source.refuse(body[place].line, need, words[place], remedy)
    return list(said)


def padded(fields: Sequence[str]) -> bool:
    """Return whether fields name rows: different whole numbers, padded with zeros to one width, such as 007."""
    alike = len(set(map(len, fields))) == 1 < len(min(fields))
    return alike and len(set(fields)) == len(fields) > 2 and "".join(fields).isdecimal() and min(fields)[0] == "0"


def without(frame: pd.DataFrame, missing: str) -> pd.DataFrame:
    """Return a table without a mark of a missing value, a number or a word; "" and none stand for no mark."""
    for name, column in frame.items() if missing not in ("", "none") else ():
        found = column == (number(missing) if pd.api.types.is_numeric_dtype(column) else missing)
        if found.any():
            frame[name] = column.mask(found)
    return frame


def _parquet(source: Source) -> pd.DataFrame:
    """Return the table of a parquet file."""
    from pyarrow.parquet import ParquetFile

    source.size()
    with source.whole("a whole parquet file", "write it again, with plain columns"), ParquetFile(source.path) as file:
        source.require_room(16 * file.metadata.num_rows * file.metadata.num_columns, "columns")
        frame = file.read().to_pandas()
        if any(frame.index.names) or not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index()
    if not len(frame) or len(set(frame.columns)) < len(frame.columns):
        got = "no rows" if not len(frame) else "two columns of one name"
        raise InputError("file", "a parquet table with rows and names that differ", got, "write it again")
    for name, column in frame.items():
        numeric, listed = pd.api.types.is_numeric_dtype(column), isinstance(column.dtype, pd.CategoricalDtype)
        words = numeric or listed or column.dropna().map(lambda value: isinstance(value, str | datetime.date)).all()
        if not words:
            raise InputError(f"column {name}", "of numbers or of words", column.dtype, "convert it")
        frame[name] = column if numeric else column.astype(str).mask(column.isna())
    return frame.set_axis(list(map(str, frame.columns)), axis=1)
