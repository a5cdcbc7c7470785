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
    for start in range(0, len(cards), columns):
        row = zip(st.columns(columns, gap="medium"), cards[start : start + columns], strict=False)
        for number, (column, card) in enumerate(row, start=start):
            with column.container(border=True, height="stretch", key=f"card-{card.page}-{number}-{card.picture}"):
                if (picture := path(card.picture)).exists():
                    st.image(picture, width="stretch", alt="")
                show_title(card, take)
                if card.text:
                    st.caption(card.text)
                if card.badges:
                    st.caption(badge_words(card.badges))


def path(picture: str) -> Path:
    """Return the file of a picture, for a light or a dark page."""
    return PICTURES / f"{picture}-{'dark' if st.context.theme.type == 'dark' else 'light'}.webp"


def show_title(card: Card, take: Callable[[Card], None] | None) -> None:
    """Show the title of a card, a link that covers it, or a button that calls `take`."""
    label = f":primary[**{card.title}**]"
    if take:
        st.button(label, key=f"open-{card.picture}", type="tertiary", on_click=take, args=(card,))
    else:
        st.page_link(f"pages/{card.page}.py", label=label, query_params=dict(card.address))


def badge_words(badges: Sequence[tuple[str, str]]) -> str:
    """Return badges, each with its color, as Markdown."""
    return " ".join(f":{color}-badge[{words}]" for words, color in badges)


def theorems(*models: str) -> None:
    """Show a link to each theorem on any of the models."""
    for name, title in {name: title for model in models for name, title in presets.theorems(model)}.items():
        to = ("papers", {"paper": name})
        st.button(f"Theorem: {title}", key=f"theorem-{name}", type="tertiary", on_click=live.go, args=to)
