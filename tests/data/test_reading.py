"""Tables as people have them: each input that similar tools met, with two neighbors, gives the right data or asks."""

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab.__main__ import main
from lrlab.data.hints import NOTHING, Hints
from lrlab.data.reading import read_given
from lrlab.data.recover import read_task

CASES = Path(__file__).parents[3] / "shared" / "cases"
rng = np.random.default_rng(5)
X = rng.standard_normal((40, 3)).round(3)
y = (X @ [1, -1, 0.5] > 0).astype(int)


def lines(rows, separator=",", decimal=".", heading=""):
    """Return rows as text."""
    body = [separator.join(f"{value:g}".replace(".", decimal) for value in row) for row in rows]
    return "\n".join([*([heading] if heading else []), *body]) + "\n"


ROWS = np.column_stack([X, y])
PAIRS = "".join(f"{u},{i},{1_206_000_000 - 8 * u - i}\n" for u in range(1, 9) for i in range(101, 109))
"""Users, items and times."""
BINARY = {
    "commas": lines(ROWS, heading="x1,x2,x3,target"),
    "several spaces": lines(ROWS, "   ", heading="a b c y"),
    "numpy's comment as heading": lines(ROWS, " ", heading="# a b c d"),
    "bars": lines(ROWS, "|", heading="a|b|c|class"),
    "tabs": lines(ROWS, "\t"),
    "decimal commas": lines(ROWS, ";", ",", "a;b;c;y"),
    "units": "a,b,c,y\n" + re.sub(r"(?m)^([^,]*),([^,]*),", r"\1 °C,\2mg/dL,", lines(ROWS)),
    "decimal commas and spaces": lines(ROWS, " ", ","),
    "decimal commas and tabs": lines(ROWS, "\t", ",", "a\tb\tc\ty"),
    "double colons": lines(ROWS, "::"),
    "quoted decimal commas": re.sub(r"-?\d+,\d+", r'"\g<0>"', lines(ROWS, ";", ",", "a;b;c;y")),
    "comments and blank lines": "# made by hand\n\n" + lines(ROWS, heading="a,b,c,d"),
    "quoted names": lines(ROWS, heading='"a, first","b","c","d"'),
    "counted rows": pd.DataFrame(ROWS, columns=[*"abcy"]).to_csv(),
    "row names as R writes them": '"a" "b" "c" "y"\n'
    + "".join(f'"{k}" {row}\n' for k, row in enumerate(lines(ROWS, " ").splitlines())),
    "separators at the end of rows": "a,b,c,y\n" + lines(ROWS).replace("\n", ",\n"),
    "separators at the end of rows, no heading": lines(ROWS).replace("\n", ",,\n"),
    "a separator at the end of the heading": lines(ROWS, heading='"a","b","c","y",'),
    "empty columns": re.sub("(?m)^(.*?),", r";\1;;", lines(ROWS, heading="a,b,c,y")).replace(",", ";"),
    "a separator that a spreadsheet names": "sep=;\n" + lines(ROWS, ";", heading="a;b;c;y"),
    "decimal commas in quotes": re.sub(r"-?\d+;\d+", r'"\g<0>"', lines(ROWS, decimal=";")).replace(";", ","),
    "names over two lines": '"a\n(m)",b,"c, second\n\n(kg)",d\n' + lines(ROWS),
    "other minus signs": re.sub(r"-([\d.]+)", r"(\1)", lines(ROWS, heading="a,b,c,d"), count=20).replace("-", "−"),
    "columns and rows that pandas numbers": pd.DataFrame(ROWS).to_csv(),
    "columns that pandas numbers": lines(ROWS, heading="0,1,2,3"),
    "columns that pandas numbers, and a name": lines(ROWS, ";", heading="0;1;2;y"),
    "a byte order mark": "\ufeff" + lines(ROWS, heading="a,b,c,outcome"),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gzip"])
def test_separators_decimals_and_encodings_are_recognized(name, encoding, tmp_path):
    path = tmp_path / ("t.csv.gz" if encoding == "gzip" else "t.csv")
    content = BINARY[name].encode("utf-8" if encoding == "gzip" else encoding)
    path.write_bytes(gzip.compress(content) if encoding == "gzip" else content)
    given = read_given(path)
    assert np.allclose(given.X, X) and np.array_equal(given.y, y)
    assert given.words.startswith("40 samples, 3 features ") and "(binary 0/1)" in given.words


@pytest.fixture
def write(tmp_path):
    """Return what writes a table, as text or as a frame, and returns its path."""

    def write(table, name="t.csv", **how):
        path = tmp_path / name
        if isinstance(table, str):
            path.write_text(table)
        else:
            table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, **{"index": False, **how})
        return path

    return write


@pytest.fixture
def read(write):
    """Return what reads a table with hints."""
    return lambda table, name="t.csv", hints=NOTHING, **how: read_given(write(table, name, **how), hints)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("title", ["target", "label", "Class", "Y", "outcome"])
def test_a_response_is_recognized_by_its_name_wherever_it_stands(place, title, read):
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.insert(min(place, 3), title, y)
    given = read(frame, "t.parquet")
    assert np.array_equal(given.y, y) and given.names == ("a", "b", "c") and f"response `{title}`" in given.words


def test_words_of_features_are_columns_of_0_and_1(read):
    frame = pd.DataFrame({"x": X[:, 0], "sex": np.where(X[:, 1] > 0, "m", "f"), "y": np.where(y, "yes", "no")})
    given = read(frame, encoding="cp1252")
    assert given.names == ("x", "sex=m") and np.array_equal(given.X[:, 1], X[:, 1] > 0)
    assert "response `y` (2 words: no, yes)" in given.words
    # A feature that is called like a word of another one.
    given = read(pd.DataFrame({"w=p": X[:, 0], "w": np.where(X[:, 1] > 0, "p", "q"), "y": y}))
    assert given.names == ("w=p", "w=q") and np.array_equal(given.X, np.column_stack([X[:, 0], X[:, 1] <= 0]))
    months = pd.DataFrame({"month": [f"m{k % 12}" for k in range(60)], "y": ["n", "y"] * 30})
    assert read(months, header=False).X.shape == (60, 11)


def test_names_in_an_older_encoding_are_read_and_said(tmp_path):
    (tmp_path / "t.txt").write_bytes(lines(ROWS, heading="größe,b,c,y").encode("cp1252"))
    given = read_task(tmp_path / "t.txt").given
    assert given.names[0] == "größe" and "Windows-1252" in given.words


THOUSANDS = {
    "English": {},
    "German": {",": ".", ".": ","},
    "French": {",": "\u202f", ".": ","},
    "Swiss": {",": "'"},
    "ISO": {",": " "},
}


@pytest.mark.parametrize("marks", THOUSANDS.values(), ids=THOUSANDS)
@pytest.mark.parametrize("currency", ["", " €", "£"])
def test_thousands_have_separators(marks, currency, read):
    prices = [f"{1000.5 * k:,.1f}".translate(str.maketrans(marks)) + currency for k in range(9)]
    given = read("width;price\n" + "".join(f'{k};"{price}"\n' for k, price in enumerate(prices)))
    assert np.array_equal(given.y, 1000.5 * np.arange(9)) and "thousands separators" in given.words
    assert ("currency signs" in given.words) == bool(currency)


def test_points_elsewhere_tell_thousands_from_decimal_commas(read):
    frame = pd.DataFrame({"pay": [f"{1000 + 7 * k:,}" for k in range(9)], "x": 0.25, "y": np.arange(9) / 8 - 0.7})
    given = read(frame, sep=";")
    assert np.array_equal(given.X[:, 0], 1000 + 7 * np.arange(9)) and "decimal commas" not in given.words


@pytest.mark.parametrize(
    ("values", "clear"), [(["950", "1.200"], False), (["0", "1.234"], True), (["950", "1.2"], True)]
)
def test_points_that_may_stand_between_thousands_are_asked_about(values, clear, read):
    text = "pay;x;y\n" + "".join(f"{values[k % 2]};{k};{k % 3}\n" for k in range(30))
    if clear:
        assert read(text, hints=Hints(missing="none")).X[1, 0] == float(values[1])
        return
    with pytest.raises(
        lrlab.InputError, match="points of one meaning in column pay .*, got 1.200 beside 950: leave out"
    ):
        read(text)


def test_fields_in_quotes_may_have_several_lines(write):
    notes = ["first\n\n# second", 'a "quoted" word,\nor two'] * 20
    path = write(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "note": notes, "y": y}))
    assert len(read_given(path).y) == 40
    path.write_text(path.read_text() + '0,1,"open,1\n0,1,2,1\n')
    with pytest.raises(lrlab.InputError, match="closed quotes in line 102"):
        read_given(path)


@pytest.mark.parametrize("years", [range(2019, 2023), range(2000, 2020, 5), range(1, 5)])
def test_whole_numbers_at_equal_steps_are_names_beside_words(years, read):
    table = pd.DataFrame(rng.standard_normal((20, 4)), [f"c{k}" for k in range(20)], years)
    given = read(table.where(rng.random((20, 4)) < 0.8), index=True, index_label="country")
    assert given.names == tuple(map(str, years)) and given.rows == tuple(table.index)
    # Without a heading the first row is data, and so is a first time and value.
    assert len(read("0,1\n.5,2.5\n1,3.5\n1.5,2\n2,1\n").y) == 5
    assert len(read(table, index=True, header=False).y) == 20


def test_lines_above_a_table_and_percent_signs_are_stated(read):
    given = read("Report;;;\n;;;\nof March\n\na;b;c;y\n" + lines(ROWS, ";", ",").replace("\n", "%\n"))
    assert np.allclose(given.X, X) and np.array_equal(given.y, y)
    assert "percent signs, without 2 lines above the table" in given.words
    assert "without 1 empty row" in read("a,b\n1,\n,\n3,4\n,\n").words


def test_a_column_that_names_the_rows_is_stated(read):
    frame = pd.DataFrame({"visit": pd.date_range("2020", periods=40).astype(str), "a": X[:, 0], "b": X[:, 1], "y": y})
    given = read(frame)
    assert given.names == ("a", "b") and given.words.endswith(", row names `visit`")
    assert read(frame.rename(columns={"visit": ""})).words.endswith(", row names")


@pytest.mark.parametrize("title", ["", "id", "sample", "userId", "PassengerId", "loan_ID", "code"])
@pytest.mark.parametrize("kind", ["", "matrix"])
def test_different_whole_numbers_of_an_identifier_name_the_rows(title, kind, read):
    frame = pd.DataFrame({title: 1000 - 7 * rng.permutation(40), "a": X[:, 0], "b": X[:, 1], "d": X[:, 2]})
    frame[title] = frame[title].map("{:04d}".format) if title == "code" else frame[title]
    given = read(frame, hints=Hints(kind=kind))
    assert "row names" in given.words and set(given.names) <= {"a", "b", "d"}
    assert not kind or given.rows == tuple(map(str, frame[title]))


@pytest.mark.filterwarnings("ignore::pandas.errors.ParserWarning")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x\n1\n2\n3\n", "a response and at least one feature"),
        ("yes,name,age\n1,ann,3\n0,bob,\n1,cy,4\n0,dee,4\n", "response column age must be known in all rows"),
        ("a,b,y\n1,2,5\n3,4,5\n", "response column y must be of at least two values, got only 5"),
        ("a,b,y\n.,1,2\n3,4,5\n4,5,6\n5,6,7\n", r"say missing=\. if it is missing"),
        ("note,a,b,y\n" + '5" pipe, 6" wide,1,2,0\n' * 9, "check separators .*and quotes"),
        ("user_id,item_id,timestamp\n" + PAIRS, "pairs without a value.*the third column is called timestamp"),
        ("userId,movieId,date\n" + PAIRS, "pairs without a value.*the third column is called date"),
        ("user,item\n" + re.sub(",12.*", "", PAIRS), "pairs without a value"),
    ],
)
def test_what_a_table_lacks_is_said_with_what_to_do(text, sentence, read):
    with pytest.raises(lrlab.InputError, match=sentence):
        read(text)


MISSING = ["NULL", "NA", "NaN", "n/a", "-", "?", "", "None", "#N/A", " na "]


@pytest.mark.parametrize("word", MISSING)
def test_a_matrix_has_missing_entries_in_any_words(word, read):
    table = np.where(rng.random((20, 4)) < 0.3, np.nan, rng.standard_normal((20, 4)).round(3))
    table[:, 3], table[0, :3] = 3.5, [1.5, np.nan, 2.5]
    given = read(lines(table, heading="a,b,c,d").replace("nan", word))
    assert np.allclose(given.y, table, equal_nan=True) and given.model == "inductive-completion"
    assert "a 20 x 4 matrix with" in given.words


@pytest.mark.parametrize("hints", [{"kind": "matrix"}, {"model": "inductive-completion"}])
@pytest.mark.parametrize("last", ["d", "target"])
def test_a_stated_kind_or_model_makes_a_table_a_matrix(hints, last, write):
    path = write(lines(ROWS, heading=f"a,b,c,{last}"))
    assert np.array_equal(read_task(path, Hints(**hints)).given.y, ROWS)
    with pytest.raises(lrlab.InputError, match="kind must be other than patterns for a table"):
        read_given(path, Hints(kind="patterns"))


@pytest.mark.parametrize("said", [{"y": "a"}, {"Z": "c"}, {"kind": "responses"}])
def test_stated_columns_contradict_the_model_of_a_matrix(said, write):
    with pytest.raises(lrlab.InputError, match="y must be a table of numbers"):
        lrlab.fit(write(lines(ROWS, heading="a,b,c,d")), Hints(model="inductive-completion", **said))


@pytest.mark.parametrize(("said", "name"), [("1", "id"), ("2", "a"), ("4", "c"), ("c", "c")])
def test_the_number_of_a_column_counts_row_names(said, name, write):
    path = write("id,a,b,c\n" + "".join(f"{k},{k % 2},{k % 3},{k % 2}\n" for k in range(9)))
    assert f"response `{name}`" in lrlab.fit(path, y=said, model="polynomial-network").task.given.words


@pytest.mark.parametrize("fault", ["#DIV/0!", "#REF!", "#N/A", "#NAME?"])
def test_rows_that_begin_with_a_fault_of_a_spreadsheet_stay_and_comments_are_counted(fault, read):
    text = lines(ROWS, heading="a,b,c,d") + f"{fault},1,2,1\n# late\n#later\n"
    with pytest.raises(lrlab.InputError, match="column a must be a finite number in each row, got nan in row 41"):
        read(text, hints=Hints(kind="responses"))
    given = read(text, hints=Hints(kind="matrix"))
    assert np.isnan(given.y).sum() == 1 and given.words.endswith("(without 2 comments)")
    with pytest.raises(lrlab.InputError, match="a number in column b, as in most rows, in line 45 .* got #5"):
        read(text + ",#5,2,1\n", hints=Hints(kind="matrix"))


def test_a_row_of_sums_is_refused(read):
    table = pd.DataFrame(
        {"store": [f"s{k}" for k in range(9)], "jan": np.arange(9), "feb": 2.5, "mar": np.arange(9) ** 2}
    )
    total = pd.DataFrame([["Total", *table.sum(numeric_only=True)]], columns=table.columns)
    for kind in ("", "matrix"):
        with pytest.raises(lrlab.InputError, match="row Total must be one sample, got the sums of the rows above it"):
            read(pd.concat([table, total]), hints=Hints(kind=kind))
    # Species at sites: rare ones may be at the last site and at one other.
    species = pd.DataFrame(np.eye(9, 20, dtype=int), index=table.store)
    species.loc["s8", [0, 1, 2]] = 1
    assert read(species, hints=Hints(kind="matrix"), index=True).y.shape == (9, 20)


def test_words_with_numbers_between_tabs_are_not_separated_by_spaces(read):
    frame = ratings(user="user", artist="item", plays="value")
    frame["artist"] = "The " + frame.artist.astype(str)
    assert "separated by tabs" in read(frame, hints=Hints(kind="triples"), sep="\t").words


@pytest.mark.parametrize("days", [1, 40])
def test_dates_and_levels_of_names_in_parquet_are_words(days, read):
    frame = pd.DataFrame(X, columns=list("abc")).assign(day=pd.date_range("2024", periods=40).date, y=y)
    frame["day"] = frame.day.where(frame.index < days, frame.day[0])
    given = read(frame.set_axis(pd.MultiIndex.from_product([["g"], frame.columns]), axis=1), "t.parquet")
    assert given.X.shape == (40, 3) and "response `('g', 'y')`" in given.words
    frame["day"] = pd.to_datetime(np.where(y, "2024-01-01", "2025-01-01"))
    given = read(frame.set_index(["a", "b"]), "t.parquet")
    assert given.names == ("a", "b", "c", "day=2025-01-01")


def test_a_far_value_of_the_response_is_asked_about_but_not_a_count(read):
    frame = pd.DataFrame(X, columns=list("abc"))
    with pytest.raises(lrlab.InputError, match="column y must be free of values that stand for missing ones"):
        read(frame.assign(y=np.where(y, -999, X[:, 0])))
    assert "response `y` (real)" in read(frame.assign(y=np.where(y, 0, np.arange(40) % 5 + 1))).words


def ratings(**columns):
    """Return 60 ratings of 8 items by 12 users as a table with other columns in their order."""
    pairs = [(u, i) for u in range(1, 13) for i in range(101, 109)][:60]
    values = {"user": [u for u, _ in pairs], "item": [i for _, i in pairs]}
    values |= {"value": [1.0 + (7 * u + i) % 5 for u, i in pairs], "time": [1_206_000_000 - k for k in range(60)]}
    return pd.DataFrame({name: values[of] for name, of in columns.items()})


@pytest.mark.parametrize(
    "columns",
    [
        {"user_id": "user", "item_id": "item", "timestamp": "time", "rating": "value"},
        {"userId": "user", "movieId": "item", "rating": "value", "timestamp": "time"},
        {"rating": "value", "User": "user", "Item": "item"},
        {"when": "time", "customer": "user", "product": "item", "stars": "value"},
        {"date": "time", "score": "value", "product_id": "item", "user": "user"},
        {"1": "user", "2": "item", "3": "value", "4": "time"},
        {"reviewer": "user", "asin": "item", "overall": "value", "unixReviewTime": "time"},
        {"row": "user", "col": "item", "value": "value"},
        {"query": "user", "engine": "item", "runtime": "value"},
        {"user": "user", "item": "item", "update": "value", "date": "time"},
        {"User-ID": "user", "ISBN": "item", "Book-Rating": "value"},
        {"user": "user", "item": "item", "watch_time": "value"},
    ],
)
@pytest.mark.parametrize("heading", [True, False])
def test_the_rating_is_found_by_its_name(columns, heading, read):
    frame = ratings(**columns)
    if not heading and list(columns.values())[:3] != ["user", "item", "value"]:
        pytest.skip("without names the order counts")
    given = read(frame, header=heading and "1" not in columns)
    rows, items, values = given.y
    want = ratings(u="user", i="item", v="value")
    assert [given.rows[k] for k in rows] == list(want.u.astype(str)) and np.array_equal(values, want.v)
    assert [given.names[k] for k in items] == list(want.i.astype(str)) and "12" not in given.words.split(" x ")[0][-3:]


def test_columns_beside_ratings_are_named_and_a_fourth_one_is_no_value(read):
    rated = read(ratings(user="user", item="item", rating="value", time="time"), index=True)
    assert rated.words.endswith("(`user` x `item`)")
    rated = read(ratings(user="user", item="item", year="time", rating="value"))
    assert "(`user` x `item`), without column year" in rated.words
    rated = read(ratings(review="time", user="user", business="item", stars="value"), hints=Hints(kind="triples"))
    assert "(`user` x `business`), without column review" in rated.words
    frame = ratings(user="user", temperature="item", score="value")
    frame["temperature"] /= 10
    assert "2 features user..temperature, response `score` (real)" in read(frame).words
    # Which of semester and points is the value is unclear: the last column is the response.
    frame = ratings(student="user", exam="item", semester="value", points="value")
    assert "response `points` (real)" in read(frame.astype({"student": str})).words


@pytest.mark.parametrize(
    ("times", "duplicates", "value"),
    [
        ([5, 4], "last", 1.0),
        ([4, 5], "last", 2.0),
        (["2020-02-01", "2019-01-31"], "last", 1.0),
        (["03.01.2024", "12.02.2023"], "last", "date must be of numbers, or of dates such as 2024-01-31"),
        (None, "last", 2.0),
        ([5, 4], "mean", 1.5),
    ],
)
def test_of_duplicates_the_newest_or_the_mean_counts(times, duplicates, value, write):
    frame = pd.DataFrame({"user": ["a", "a", "b"], "item": ["p", "p", "q"], "rating": [1.0, 2.0, 3.0]})
    if times:
        frame["date"] = [*times, times[0]]
    path, hints = write(frame), Hints(duplicates=duplicates)
    with pytest.raises(lrlab.InputError, match="a, p twice"):
        read_given(path)
    if isinstance(value, str):
        with pytest.raises(lrlab.InputError, match=value):
            read_given(path, hints)
        return
    given = read_given(path, hints)
    assert dict(zip(given.y[0], given.y[2], strict=True))[given.rows.index("a")] == value


SENTINELS = {
    "99 in ratings": np.where(rng.random((30, 6)) < 0.3, 99, rng.integers(-10, 11, (30, 6))),
    "0 below 1..5": np.where(rng.random((30, 6)) < 0.3, 0, rng.integers(1, 6, (30, 6))),
    "-1 below ages": np.where(rng.random((30, 6)) < 0.2, -1, rng.integers(18, 80, (30, 6))),
    "-999 in measurements": np.where(rng.random((30, 6)) < 0.2, -999, rng.standard_normal((30, 6)).round(3)),
}


@pytest.mark.parametrize("name", SENTINELS)
def test_a_value_that_may_stand_for_a_missing_one_is_asked_about(name, write, capsys):
    table = SENTINELS[name]
    value = {"99": 99, "0": 0, "-1": -1, "-999": -999}[name.split()[0]]
    path = write(lines(table, heading="a,b,c,d,e,f"))
    with pytest.raises(lrlab.InputError, match=f"{value} in .*say missing={value} if they are missing"):
        read_given(path, Hints(kind="matrix"))
    known = np.isfinite(read_given(path, Hints(kind="matrix", missing=f"{value}")).y)
    assert np.array_equal(known, table != value)
    assert np.isfinite(read_given(path, Hints(kind="matrix", missing="none")).y).all()
    heading = "\n".join(["@relation t", *(f"@attribute {one} real" for one in "abcdef"), "@data"])
    for other, suffix in (
        (pd.DataFrame(table, columns=list("abcdef")), "parquet"),
        (lines(table, heading=heading), "arff"),
    ):
        marked = read_given(write(other, f"t.{suffix}"), Hints(kind="matrix", missing=f"{value}"))
        assert np.array_equal(np.isfinite(marked.y), known)
    assert main(["fit", str(path), "--kind", "matrix"]) == 2 and f"missing={value}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "table",
    [
        np.where(rng.random((30, 4)) < 0.5, 0.0, 1.0),
        np.where(rng.random((30, 4)) < 0.2, 0, rng.integers(20_000, 90_000, (30, 4))),
        rng.standard_normal((30, 4)).round(3),
        rng.poisson(2.0, (30, 4)),
    ],
)
def test_zeros_and_ones_incomes_and_counts_are_not_asked_about(table, read):
    assert np.array_equal(read(lines(table, heading="a,b,c,d"), hints=Hints(kind="matrix")).y, table)


def test_saturated_pixels_of_patterns_are_asked_about_and_left_out(tmp_path):
    patterns = rng.integers(0, 1000, (3, 8, 8)).astype(np.uint32)
    patterns[:, :2] = 2**32 - 1
    np.savez(tmp_path / "p.npz", patterns=patterns, masks=np.ones((3, 8, 8)))
    with pytest.raises(lrlab.InputError, match="missing=4294967295"):
        read_given(tmp_path / "p.npz")
    assert np.isnan(read_given(tmp_path / "p.npz", Hints(missing="4294967295")).y).sum() == 48
    with pytest.raises(lrlab.InputError, match="missing must be a number for an .npz, got dark"):
        read_given(tmp_path / "p.npz", Hints(missing="dark"))
    np.savez(tmp_path / "p.npz", patterns=patterns[0] % 1000, mask=np.ones((8, 8)))
    task = read_task(tmp_path / "p.npz")
    assert task.model == "phase-retrieval" and task.source().startswith("arrays patterns 8x8, without mask")


def test_a_matrix_takes_features_of_rows_and_columns_in_one_command(write, tmp_path, capsys):
    rated = str(write(ratings(user="user", item="item", rating="value"), "r.csv"))
    users = [f"{u},{u % 3},{'a|b' if u % 2 else 'b'}" for u in range(12, 0, -1)]
    side, out = str(write("\n".join(["user,age,tags", *users]), "u.csv")), str(tmp_path / "out.csv")
    assert main(["fit", rated, "--users", side, "--biases", "--rank", "1", "--save", out]) == 0
    said = capsys.readouterr().out
    assert "60 entries `rating` of a 8 x 8 matrix (`user` x `item`), 3 row features" in said and "altmin" in said
    completed = pd.read_csv(out, index_col=0)
    assert completed.shape == (8, 8) and completed.notna().all().all()
    write("\n".join(["user,age,tags", *users[3:-2]]), "u.csv")
    assert main(["fit", rated, "--users", side]) == 2 and "features of each member" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["svm_zero_based", "svm_label0_absent"])
def test_both_files_of_svmlight_say_from_where_they_count(name, capsys):
    train, test = (str(CASES / f"{name}_{part}.svm") for part in ("train", "test"))
    assert main(["fit", train, "--test", test, "--labels", "3", "--solver", "binary-relevance"]) == 0
    assert capsys.readouterr().out.startswith("40 rows, 3 features, 3 labels, 20 rows to test on")
    assert main(["fit", train, "--labels", "3", "--base", "0", "--solver", "binary-relevance"]) == 0
