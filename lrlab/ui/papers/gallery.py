"""The gallery of papers: a row for each experiment, with figures, claim, verdict and measured values."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from lrlab import presets
from lrlab.parameters import Parameter, duration
from lrlab.presets import result, shipped
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.presets.result import BETTER, DIRECTION, FAILED, REPRODUCED, UNDECIDED, WORDS, Verdict
from lrlab.ui.live import routes
from lrlab.ui.live.routes import base
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

COLORS = {REPRODUCED: "green", BETTER: "blue", DIRECTION: "blue", FAILED: "red", UNDECIDED: "gray"}
MOST_CLAIMS = 6
"""In the fold of a row."""
CONTENTS_NAME = "contents"
"""The choice of an address that shows the table of the papers' contents."""
PACKAGE = Path(__file__).parents[2]
CONTENTS = (PACKAGE / "site" / "docs" / "papers.md", PACKAGE.parent / "docs" / "papers.md")
"""The path of this table in a wheel and in a checkout."""
ANY = "all"
"""The choice of all papers, and of all outcomes."""


def chosen(link: Permalink) -> str:
    """Return the figure that the address names, or the table of contents; "" for none, and for the former misprints."""
    choices = ("", "misprints", CONTENTS_NAME, *presets.names())
    name = link.held(Parameter(meaning="a published figure", name="paper", kind=str, default="", choices=choices))
    return "" if name == "misprints" else str(name)


def open_figure(link: Permalink, name: str) -> None:
    """Open a figure, or, for "", the gallery; from a callback."""
    st.session_state[link.key("paper")] = name


def summary() -> str:
    """Return the contents of the gallery: how many experiments of the papers."""
    own = [name for name in presets.names() if paper_of(name) and shipped.load(name)]
    return f"{len(own)} published experiments, computed anew."


def show(link: Permalink) -> None:
    """Show a row for each experiment that is wanted: the paper's figure, ours, and the verdict with its subject."""
    wanted = _choose(link)
    for (title, whole), own in groups().items():
        if shown := [name for name in own if wanted(name)]:
            st.header(title, anchor=False, help=whole or None)
            st.markdown(cards.badge_words(outcomes([line for name in shown for line in lines(name)])))
            for name in shown:
                with st.container(border=True, key=f"card-row-{name}"):
                    _show_row(link, name)


def show_contents() -> None:
    """Show the table; its links lead to the documentation, if that is built."""
    text = next(path for path in CONTENTS if path.exists()).read_text("utf-8").partition("\n")[2]
    built = routes.DOCUMENTATION.exists()
    st.markdown(re.sub(r"\[([^]]*)\]\(([^)]*)\.md\)", rf"[\1]({base()}/docs/\2.html)" if built else r"\1", text))


def link_misprints() -> None:
    """Link the documentation's page of misprints, or name its file if the documentation has not been built."""
    if (routes.DOCUMENTATION / "misprints.html").exists():
        st.link_button("Misprints of the papers", f"{base()}/docs/misprints.html")
    else:
        st.caption("`docs/misprints.md` lists the misprints of the papers. Run `make docs` for a link to it here.")


def _choose(link: Permalink) -> Callable[[str], bool]:
    """Show the choices of a paper and of an outcome; return whether an experiment matches both."""
    papers = {ANY: "all", **{key: paper.short for key, paper in PAPERS.items()}}
    outcomes = {ANY: "all", **{word: word for word in WORDS}}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paper = controls.choose(link, "of", papers, "whose experiments are shown", "Paper", default=ANY)
        outcome = controls.choose(
            link, "outcome", outcomes, "experiments with a claim of this verdict", "Outcome", default=ANY
        )

    def wanted(name: str) -> bool:
        own = paper_of(name)
        of = paper == ANY or (own is not None and own.key == paper)
        return of and (outcome == ANY or any(line.verdict == outcome for line in lines(name)))

    return wanted


def groups() -> dict[tuple[str, str], list[str]]:
    """Return the names of all presets by their paper, short and whole: of each the figures, then the theorems."""
    ordered = sorted(presets.names(), key=lambda name: presets.load(name).is_theorem)
    return {
        **{(paper.short, paper.title): [n for n in ordered if paper_of(n) is paper] for paper in PAPERS.values()},
        ("Other experiments", ""): [name for name in ordered if not paper_of(name)],
    }


def card(name: str) -> Card:
    """Return the card of a figure."""
    preset = presets.load(name)
    title, _, source = preset.title.rstrip(")").partition(" (")
    return Card("papers", title, source, {"paper": name}, f"paper-{name}", badges(name))


def _show_row(link: Permalink, name: str) -> None:
    """Show our figure next to the paper's, the verdict, and in a fold all claims, the time and the trials."""
    own, judged, paper = card(name), lines(name), paper_of(name)
    paths = {"Paper": cards.path(f"{own.picture}-printed"), "Here": cards.path(own.picture)}
    shown = {whose: path for whose, path in paths.items() if path.exists()}
    *places, words = st.columns([1.0] * len(shown) + [3.0 - len(shown)], gap="medium")
    for place, (whose, path) in zip(places, shown.items(), strict=True):
        place.image(path, width="stretch", alt="")
        if len(shown) > 1:
            place.caption(whose)
    with words:
        cards.show_title(own, lambda _: open_figure(link, name))
        st.caption(own.text.removeprefix(f"{paper.short}, ") if paper else own.text)
        st.markdown(in_sight(name))
        # A statement about some of the trials has to say so.
        if part := [badge for badge in own.badges if badge[0].startswith("quick: ")]:
            st.caption(cards.badge_words(part))
        stand = result.counts(judged).get(REPRODUCED, 0)
        of = "all" if stand == len(judged) else stand
        with st.expander(f"{len(judged)} claims, {of} reproduced" if len(judged) > 1 else "More"):
            for line in judged[:MOST_CLAIMS]:
                st.markdown(sentence(line))
            if len(judged) > MOST_CLAIMS:
                st.markdown(f"{len(judged) - MOST_CLAIMS} more claims on its page.")
            st.markdown(cards.badge_words(own.badges))


def in_sight(name: str) -> str:
    """Return the counts of the outcomes, and the claim of the first outcome with its first measured value.

    Without a verdict, the description of the figure.
    """
    judged = lines(name)
    if not judged:
        return presets.load(name).explanation.partition(". ")[0] + "."
    line = min(judged, key=lambda line: WORDS.index(line.verdict))
    ours = line.ours.partition("; ")[0]
    return f"{cards.badge_words(outcomes(judged))} {line.claim}  \n**Here:** {ours}"


def outcomes(judged: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Return each outcome with its color: what reproduces comes first; a single claim has no count."""
    return [(words if len(judged) > 1 else word, COLORS[word]) for word, words in result.tally(judged).items()]


def sentence(line: Verdict, of: str = "") -> str:
    """Return all of a claim: the verdict, with `of` for a quick run, the panel, the paper's words, ours, a remark."""
    panel = f"**{line.panel}.** " if line.panel else ""
    badge = f":{COLORS[line.verdict]}-badge[{line.verdict}{of}]"
    return f"{badge} {panel}The paper: {line.claim}. Here: {line.ours}. {line.why}".rstrip()


@st.cache_data(show_spinner=False)
def lines(name: str) -> list[Verdict]:
    """Return the lines of the stored result, one for each claim."""
    run = shipped.load(name)
    return result.lines(run.table) if run else []


def badges(name: str) -> list[tuple[str, str]]:
    """Return how many claims stand, fall and are open, the time, the trials and the data of the stored result.

    Or the remedy for a missing one.
    """
    run, judged = shipped.load(name), lines(name)
    if run is None:
        return [("no stored result: compute it", "gray")]
    shown = outcomes(judged)
    shown += [(words, "gray")] if (words := result.open_for(judged)) else []
    of = f"{run.run:,} of {run.planned:,} trials" if run.run < run.planned else f"all {run.run:,} trials"
    of = f"quick: {of}" if run.short else of
    used = [(f"on {', '.join(run.sets)}", "gray")] if run.sets else []
    data = [(f"needs data: {', '.join(run.missing)}", "gray")] if run.missing else []
    return [*(shown or [("no verdict", "gray")]), (duration(run.seconds), "blue"), (of, "gray"), *used, *data]
