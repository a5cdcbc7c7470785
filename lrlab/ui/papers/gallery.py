"""The gallery of papers: a card for each experiment, with its claim, our result, the verdict, and the time."""

import streamlit as st

from lrlab import presets
from lrlab.parameters import Parameter, duration
from lrlab.presets import result, shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.presets.result import FAILED, REPRODUCED, UNDECIDED, Line
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets.permalink import Permalink

COLOURS = {REPRODUCED: "green", FAILED: "red", UNDECIDED: "gray"}
TELLING = (FAILED, REPRODUCED, UNDECIDED)
"""Which verdict a card tells of, the first that there is."""
LONGEST = 120
"""Characters of a line on a card."""


def chosen(link: Permalink) -> str:
    """Return the figure that the address names, or "misprints"; "" for none."""
    choices = ("", "misprints", *presets.names())
    return str(link.held(Parameter(meaning="a published figure", name="paper", kind=str, default="", choices=choices)))


def open_figure(link: Permalink, name: str) -> None:
    """Open a figure, or, for "", the gallery; from a callback."""
    st.session_state[link.key("paper")] = name


def summary() -> str:
    """Return what the gallery has: how many experiments of the papers, and of how many all trials were run."""
    own = [run for name in presets.names() if paper_of(name) and (run := shipped.load(name))]
    full = sum(not run.short for run in own)
    return (
        f"{len(own)} experiments of {len(PAPERS)} papers, computed anew beside the papers' claims and, where there is "
        f"any, exact theory: {full} with all their trials on the data at hand, "
        f"{len(own) - full} with fewer, as their cards say."
    )


def show(link: Permalink) -> None:
    """Show the cards: the experiments paper by paper, the theorems, and what is of no paper."""
    for title, own in groups().items():
        st.header(title, anchor=False)
        columns = 4 if len(own) == 4 else 3
        cards.show([card(name) for name in own], lambda one: open_figure(link, one.address["paper"]), columns)


def groups() -> dict[str, list[str]]:
    """Return the names of all presets by the title of their group."""
    theorems = [name for name in presets.names() if presets.load(name).kind == "theorem"]
    others = [name for name in presets.names() if name not in theorems]
    grouped = {
        **{f"{paper.short}: {paper.title}": [n for n in others if paper_of(n) is paper] for paper in PAPERS.values()},
        "Theorems: what the papers prove, beside what happens": theorems,
        "Other experiments": [name for name in others if not paper_of(name)],
    }
    return {title: own for title, own in grouped.items() if own}


def card(name: str) -> Card:
    """Return the card of a figure."""
    preset = presets.load(name)
    title, _, source = preset.title.rstrip(")").partition(" (")
    lines_of = [f"**{word}** {shortened(line)}" for word, line in story(preset).items() if line]
    text = "  \n".join([source] * bool(source) + lines_of)
    return Card("papers", title, text, {"paper": name}, f"paper-{name}", badges(name))


@st.cache_data(show_spinner=False)
def lines(name: str) -> list[Line]:
    """Return the lines of the stored result, one for each claim."""
    run = shipped.load(name)
    return result.lines(run.table) if run else []


def story(preset: Preset) -> dict[str, str]:
    """Return a line each of the paper's claim, our result and the remark: of a claim that was decided, if one was."""
    judged = lines(preset.name)
    if not judged:
        return {"Shown:": preset.explanation.partition(". ")[0] + "."}
    line = min(judged, key=lambda line: TELLING.index(line.verdict))
    return {"Paper:": line.claim, f"Here, {line.verdict}:": line.ours, "Remark:": line.why}


@st.cache_data(show_spinner=False)
def telling(count: int) -> list[str]:
    """Return names of results that say most: each of another paper, in full, with most of its claims reproduced."""
    scores = {name: _score(name) for name in presets.names() if paper_of(name) and lines(name)}
    best: dict[str, str] = {}
    for name in sorted(scores, key=lambda name: scores[name], reverse=True):
        best.setdefault(name.partition("-")[0], name)
    return list(best.values())[:count]


def _score(name: str) -> tuple[float, bool, int]:
    run, verdicts = shipped.load(name), result.counts(lines(name))
    stands = verdicts.get(REPRODUCED, 0)
    return stands / sum(verdicts.values()), run is not None and not run.short, stands


def shortened(text: str) -> str:
    """Return a text, or its beginning up to a word."""
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0].rstrip(",;:(") + " …"


def badges(name: str) -> list[tuple[str, str]]:
    """Return how many claims stand, fall and are open, the time, the trials and the data of the stored result.

    Or what it takes to have one.
    """
    run, judged = shipped.load(name), lines(name)
    if run is None:
        return [("no stored result: compute it", "gray")]
    several = len(judged) > 1
    shown = [(f"{n} {word}" if several else word, COLOURS[word]) for word, n in result.counts(judged).items()]
    shown += [(words, "gray")] if (words := result.open_for(judged)) else []
    of = f"{run.run:,} of {run.planned:,} trials" if run.run < run.planned else f"all {run.run:,} trials"
    of = f"quick: {of}" if run.short else of
    used = [(f"on {', '.join(run.sets)}", "gray")] if run.sets else []
    data = [(f"needs data: {', '.join(run.missing)}", "gray")] if run.missing else []
    return [*(shown or [("no verdict", "gray")]), (duration(run.seconds), "blue"), (of, "gray"), *used, *data]
