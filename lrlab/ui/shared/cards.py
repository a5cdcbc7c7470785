"""Cards: a picture of a page, its title as a link that covers the card, a line of text, and badges.

Pictures are made from the running app, for light and dark pages, by `benchmarks/card_pictures.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import streamlit as st

PICTURES = Path(__file__).parents[1] / "assets" / "pictures"


class Card(NamedTuple):
    """A page, its parameters (`address`), what it shows there (`text`), and the name of its picture.

    badges: short words below the text, each with its colour.
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
                path = PICTURES / f"{card.picture}-{'dark' if dark else 'light'}.webp"
                if path.exists():
                    st.image(path, width="stretch", alt="")
                label = f":primary[**{card.title}**]"
                if take:
                    st.button(label, key=f"open-{card.picture}", type="tertiary", on_click=take, args=(card,))
                else:
                    st.page_link(f"pages/{card.page}.py", label=label, query_params=dict(card.address))
                st.caption(card.text)
                if card.badges:
                    st.caption(" ".join(f":{colour}-badge[{words}]" for words, colour in card.badges))
