"""The gallery of papers: a card for each figure, with its claim, the verdict of the stored result, and its time."""

import streamlit as st

from lrlab import presets
from lrlab.parameters import Parameter, duration
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.verdict import FAILED, REMARK, REPRODUCED
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets.permalink import Permalink

COLOURS = {REPRODUCED: "green", REMARK: "orange", FAILED: "red"}
LONGEST_CLAIM = 150


def chosen(link: Permalink) -> str:
    """Return the figure that the address names, "" for none."""
    choices = ("", *presets.names())
    parameter = Parameter(meaning="a published figure", name="paper", kind=str, default="", choices=choices)
    key = link.key("paper")
    if key not in st.session_state:
        st.session_state[key] = link.value("paper", parameter)
    link.put("paper", st.session_state[key], parameter)
    return str(st.session_state[key])


def open_figure(link: Permalink, name: str) -> None:
    """Open a figure, or, for "", the gallery; from a callback."""
    st.session_state[link.key("paper")] = name


def show(link: Permalink) -> None:
    """Show the cards, those with stored results first."""
    stored = shipped.names()
    names = [*stored, *(name for name in presets.names() if name not in stored)]
    cards.show([card(name) for name in names], lambda one: open_figure(link, one.address["paper"]))


def card(name: str) -> Card:
    """Return the card of a figure."""
    preset = presets.load(name)
    title, _, source = preset.title.rstrip(")").rpartition(" (")
    claim = claim_of(preset)
    text = f"{source}. " + (f"The paper: “{claim}”" if claim else preset.explanation.partition(". ")[0] + ".")
    return Card("papers", title, text, {"paper": name}, f"paper-{name}", badges(name))


def claim_of(preset: Preset) -> str:
    """Return the first claim of the paper that is judged, shortened; "" where none is."""
    content = preset.content
    said = [one["paper"] for one in content.get("claims", ())]
    said += [panel["claim"] for panel in content.get("panels", ()) if "claim" in panel]
    said += [content["figure"]["claim"]] if "claim" in content["figure"] else []
    if not said or len(said[0]) <= LONGEST_CLAIM:
        return str(said[0]) if said else ""
    return str(said[0])[:LONGEST_CLAIM].rpartition(" ")[0] + " ..."


@st.cache_data(show_spinner=False)
def badges(name: str) -> list[tuple[str, str]]:
    """Return the verdicts of the stored result and its time, or what it takes to have one."""
    run = shipped.load(name)
    if run is None:
        needs = presets.load(name).data
        return [(f"needs data: {', '.join(needs)}" if needs else "no stored result: run it", "gray")]
    verdicts = run.table["verdict"].dropna() if "verdict" in run.table else []
    counted = {word: sum(verdict == word for verdict in verdicts) for word in COLOURS}
    several = len(verdicts) > 1
    shown = [(f"{count} {word}" if several else word, COLOURS[word]) for word, count in counted.items() if count]
    scope = [(f"{run.trials} draws a point", "gray")] if run.trials else []
    return [*shown, (duration(run.seconds), "blue"), *scope]
