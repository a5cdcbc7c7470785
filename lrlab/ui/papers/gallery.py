"""The gallery of papers: a card for each experiment, with its claim, our result, the verdict, and the time."""

from collections.abc import Callable

import streamlit as st

from lrlab import presets
from lrlab.parameters import Parameter, duration
from lrlab.presets import result, shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.presets.result import FAILED, REPRODUCED, UNDECIDED, Line
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

COLOURS = {REPRODUCED: "green", FAILED: "red", UNDECIDED: "gray"}
TELLING = (FAILED, REPRODUCED, UNDECIDED)
"""Which verdict a card tells of, the first that there is."""
ANY = "all"
"""The choice of all papers, and of all outcomes."""


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
    return f"{len(own)} experiments of {len(PAPERS)} papers, computed anew: {full} with all their trials."


def show(link: Permalink) -> None:
    """Show a row for each experiment that is wanted: the paper's figure, ours, the verdicts, and what they are on."""
    wanted = _choose(link)
    for title, own in groups().items():
        if shown := [name for name in own if wanted(name)]:
            st.header(title, anchor=False)
            rows = [(_in_its_group(name), columns_of(name)) for name in shown]
            cards.show_rows(rows, lambda one: open_figure(link, one.address["paper"]), "Claim and result")


def _choose(link: Permalink) -> Callable[[str], bool]:
    """Show the choices of a paper and of an outcome; return whether an experiment is of both."""
    papers = {ANY: "all", **{key: paper.short for key, paper in PAPERS.items()}}
    outcomes = {ANY: "all", **{word: word for word in TELLING}}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paper = controls.choose_one(link, "of", papers, "whose experiments are shown", "Paper", default=ANY)
        outcome = controls.choose_one(
            link, "outcome", outcomes, "those with a claim of this verdict", "Outcome", default=ANY
        )

    def wanted(name: str) -> bool:
        own = paper_of(name)
        of = paper == ANY or (own is not None and own.key == paper)
        return of and (outcome == ANY or any(line.verdict == outcome for line in lines(name)))

    return wanted


def groups() -> dict[str, list[str]]:
    """Return the names of all presets by the title of their group: of a paper the figures, then the theorems."""
    ordered = sorted(presets.names(), key=lambda name: presets.load(name).kind == "theorem")
    return {
        **{f"{paper.short}: {paper.title}": [n for n in ordered if paper_of(n) is paper] for paper in PAPERS.values()},
        "Other experiments": [name for name in ordered if not paper_of(name)],
    }


def card(name: str) -> Card:
    """Return the card of a figure."""
    preset = presets.load(name)
    title, _, source = preset.title.rstrip(")").partition(" (")
    return Card("papers", title, source, {"paper": name}, f"paper-{name}", badges(name))


def _in_its_group(name: str) -> Card:
    """Return the card of a figure whose paper is named above it."""
    one, paper = card(name), paper_of(name)
    return one._replace(text=one.text.removeprefix(f"{paper.short}, ")) if paper else one


def columns_of(name: str) -> list[str]:
    """Return what is said of a figure: the paper's claim, and what came of it."""
    first, *others = [f"**{word}** {line}" for word, line in story(presets.load(name)).items() if line]
    return [first, "  \n".join(others)]


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
