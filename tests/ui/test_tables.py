"""Tables as files."""

import io

import pandas as pd

from lrlab.ui.widgets import tables


def test_no_text_of_a_csv_is_a_formula_and_numbers_stay_numbers():
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "plain", ""]
    table = pd.DataFrame({"name": names, "value": [-1.5, 2, 3, 4, 5, 6, 7]})
    back = pd.read_csv(io.BytesIO(tables.csv(table)), keep_default_na=False)
    assert list(back["name"]) == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "'\tx", "plain", ""]
    assert list(back["value"]) == list(table["value"])
