"""Cards: a picture of a page, its title as a link that covers the card, a line of text, and badges.

Pictures are made from the running app, for light and dark pages, by `benchmarks/card_pictures.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import streamlit as st

from lrlab import presets
from lrlab.ui.shared import live

PICTURES = Path(__file__).parents[1] / "assets" / "pictures"


class Card(NamedTuple):
    """A page, its parameters (`address`), a description (`text`), and the name of its picture.

    badges: short words below the text, each with its color.
    """

    page: str
    title: str
    text: str
    address: Mapping[str, str] = MappingProxyType({})
    picture: str = ""
    badges: Sequence[tuple[str, str]] = ()


def show(cards: Sequence[Card], take: Callable[[Card], None] | None = None, columns: int = 3) -> None:
    """Show cards in rows; `take`, a callback, opens a card on the page that shows it."""
    dark = st.context.theme.type == "dark"
    for start in range(0, len(cards), columns):
        row = zip(st.columns(columns, gap="medium"), cards[start : start + columns], strict=False)
        for number, (column, card) in enumerate(row, start=start):
            with column.container(border=True, height="stretch", key=f"card-{card.page}-{number}-{card.picture}"):
                if (picture := _path(card.picture, dark)).exists():
                    st.image(picture, width="stretch", alt="")
                _title(card, take)
                if card.text:
                    st.caption(card.text)
                _badges(card)


class Row(NamedTuple):
    """A card in a separate row: the visible words, the title of a fold, and the texts in it."""

    card: Card
    said: str
    fold: str
    texts: Sequence[str]


def show_rows(rows: Sequence[Row], take: Callable[[Card], None]) -> None:
    """Show rows, each with its picture, next to the picture with the same name and `-printed` if there is one."""
    dark = st.context.theme.type == "dark"
    for number, row in enumerate(rows):
        card = row.card
        paths = {"Paper": _path(f"{card.picture}-printed", dark), "Here": _path(card.picture, dark)}
        shown = {whose: path for whose, path in paths.items() if path.exists()}
        with st.container(border=True, key=f"card-row-{number}-{card.picture}"):
            *places, words = st.columns([1.0] * len(shown) + [3.0 - len(shown)], gap="medium")
            for place, (whose, path) in zip(places, shown.items(), strict=True):
                place.image(path, width="stretch", alt="")
                if len(shown) > 1:
                    place.caption(whose)
            with words:
                _title(card, take)
                st.caption(card.text)
                st.markdown(row.said)
                _badges(card)
                with st.expander(row.fold):
                    for text in row.texts:
                        st.markdown(text)


def _path(picture: str, dark: bool) -> Path:
    return PICTURES / f"{picture}-{'dark' if dark else 'light'}.webp"


def _title(card: Card, take: Callable[[Card], None] | None) -> None:
    label = f":primary[**{card.title}**]"
    if take:
        st.button(label, key=f"open-{card.picture}", type="tertiary", on_click=take, args=(card,))
    else:
        st.page_link(f"pages/{card.page}.py", label=label, query_params=dict(card.address))


def _badges(card: Card) -> None:
    if card.badges:
        st.caption(badge_words(card.badges))


def badge_words(badges: Sequence[tuple[str, str]]) -> str:
    """Return badges, each with its color, as Markdown."""
    return " ".join(f":{color}-badge[{words}]" for words, color in badges)


def theorems(*models: str) -> None:
    """Show a link to each theorem on any of the models."""
    for name, title in {name: title for model in models for name, title in presets.theorems(model)}.items():
        to = ("papers", {"paper": name})
        st.button(f"Theorem: {title}", key=f"theorem-{name}", type="tertiary", on_click=live.go, args=to)
