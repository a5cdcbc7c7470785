"""Shows plotted data as a table, and offers it as a CSV file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    # The first page of a server does not wait for it.
    import pandas as pd

MOST_ROWS = 5000
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def show(
    make: "Callable[[], pd.DataFrame]", *, key: str, file: str, note: str = "", title: str = "Table and CSV"
) -> None:
    """Show a table in an expander, with its download; `note` describes its columns."""
    with st.expander(title, key=key, on_change="rerun") as fold:
        # A closed table is neither made nor sent to the browser.
        if fold.open:
            table = make()
            view(table, note)
            download_csv("Download CSV", table, file, key=f"{key}-csv")


def download(title: str, make: Callable[[], bytes], file: str, *, key: str, mime: str | None = None) -> None:
    """Offer a file, whose content is made when it is wanted."""
    st.download_button(title, make, file, mime, key=key, on_click="ignore")


def download_csv(title: str, table: "pd.DataFrame", file: str, *, key: str) -> None:
    """Offer a table as the file `<file>.csv`."""
    download(title, lambda: csv(table), f"{file}.csv", key=key, mime="text/csv")


def csv(table: "pd.DataFrame") -> bytes:
    """Return a table as CSV without formulas: spreadsheets compute what begins with = + - @."""

    def safe(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value

    texts = table.select_dtypes(exclude="number")
    return table.assign(**{str(name): texts[name].map(safe) for name in texts}).to_csv(index=False).encode()


def view(table: "pd.DataFrame", note: str = "") -> None:
    """Show the first 5,000 rows of a table."""
    if note:
        st.caption(note)
    if len(table) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} rows are shown; the file has all.")
    floats = table.select_dtypes("float").columns
    st.dataframe(
        table.head(MOST_ROWS),
        hide_index=True,
        placeholder="",
        height=min(320, 38 + 35 * max(1, len(table))),
        column_config={name: st.column_config.NumberColumn(format="%.5g") for name in floats},
    )
