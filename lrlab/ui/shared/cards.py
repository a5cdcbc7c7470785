"""Cards: a picture of a page, its title as a link that covers the card, a line of text.

Pictures are made from the running app, for light and dark pages, by `benchmarks/card_pictures.py`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import streamlit as st

PICTURES = Path(__file__).parents[1] / "assets" / "pictures"


class Card(NamedTuple):
    """A page, its parameters (`address`), what it shows there (`text`), and the name of its picture."""

    page: str
    title: str
    text: str
    address: Mapping[str, str] = MappingProxyType({})
    picture: str = ""


def show(cards: Sequence[Card], columns: int = 3) -> None:
    """Show cards in rows."""
    dark = st.context.theme.type == "dark"
    for start in range(0, len(cards), columns):
        for k, (column, card) in enumerate(
            zip(st.columns(columns, gap="medium"), cards[start : start + columns], strict=False)
        ):
            with column.container(border=True, height="stretch", key=f"card-{card.page}-{start + k}-{card.picture}"):
                path = PICTURES / f"{card.picture}-{'dark' if dark else 'light'}.webp"
                if path.exists():
                    st.image(path, width="stretch", alt="")
                label = f":primary[**{card.title}**]"
                st.page_link(f"pages/{card.page}.py", label=label, query_params=dict(card.address))
                st.caption(card.text)
