"""The cards of all lessons."""

import streamlit as st

from lrlab import lessons
from lrlab.parameters import Parameter
from lrlab.ui.lessons import place
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets.permalink import Permalink


def chosen(link: Permalink) -> str:
    """Return the lesson that the address names, "" for none."""
    parameter = Parameter(meaning="a lesson", name="lesson", kind=str, default="", choices=("", *lessons.lessons()))
    key = link.key("lesson")
    if key not in st.session_state:
        st.session_state[key] = link.value("lesson", parameter)
    link.put("lesson", st.session_state[key], parameter)
    return str(st.session_state[key])


def show(link: Permalink) -> None:
    """Show a card for each lesson."""

    def take(card: Card) -> None:
        place.open_lesson(link, card.address["lesson"])

    cards.show([lesson_card(name) for name in lessons.lessons()], take)


def lesson_card(name: str) -> Card:
    """Return the card of a lesson."""
    one = lessons.load(name)
    return Card("learn", one.title, one.summary, {"lesson": name}, f"lesson-{name}")
