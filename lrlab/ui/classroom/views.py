"""The page of a class: the teacher's screen, the screens of students, and the place to enter a code."""

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures import build, theme
from lrlab.parameters import InputError, Parameter
from lrlab.ui.classroom.room import OPEN, PAGE, RUNNING, SHOWN, LessonPoll, Present, Room, Round, find
from lrlab.ui.lessons import drawing, lesson_view
from lrlab.ui.lessons.drawing import DrawnPoll
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import cards, live, page
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain, show_error

TRUTH = "class.truth"
CODE = Parameter(meaning="code of a class", name="code", kind=str, default="")
TEACHER = Parameter(
    meaning="the teacher's screen, in the browser that opened it", name="teacher", kind=bool, default=False
)
HEIGHT = 430
"""Pixels of the histogram."""
ASSETS = Path(__file__).parents[1] / "assets"


def show(link: Permalink) -> None:
    """Show the class of the address."""
    room, teaching = find(str(link.held(CODE))), link.held(TEACHER)
    if room is None or room.over:
        _enter(link)
    elif teaching and room.owner == live.browser_key():
        _follow(room, lambda: _teacher(room), lambda present: _parts(present.room))
    else:
        room.join(live.browser_key())
        _follow(room, lambda: _student(room), None)


def _follow(room: Room, draw: Callable[[], None], parts: Callable[[Present], Parts] | None) -> None:
    followed = live.current(PAGE)
    if not isinstance(followed, Present) or followed.room is not room or not followed.alive:
        st.session_state[f"{PAGE}:run"] = Present(room)
    live.alive_as_shown(PAGE)
    live.follow(PAGE, draw, parts)


def _enter(link: Permalink) -> None:
    page.heading("Class", "Predict, then see the result. No names, and lrlab stores nothing.")
    given = st.session_state[link.key("code")]
    if given:
        show_error(InputError("code", "the code of an open class", given, "ask your teacher; it may have ended"))
    with st.form("class-form", width=400, border=False):
        code = st.text_input("Code", key="class-code", max_chars=8)
        if st.form_submit_button("Open", type="primary") and code.strip():
            st.session_state[link.key("code")] = code.strip().upper()
            st.rerun()
    st.caption("Teachers: press *Poll the class* on one of these pages, on another lesson, or on *Run*.")
    known = [lesson_view.lesson_card("one-bit"), lesson_view.lesson_card("eigengap"), lesson_view.DRAW]
    cards.show(known, lambda card: live.go(card.page, card.address))


def _teacher(room: Room) -> None:
    one, state = room.round, room.round.state
    st.html(ASSETS / "teacher.css")
    page.heading(room.title)
    left, right = st.columns([1, 3], gap="large")
    with left:
        address = f"{(st.context.url or '').partition('?')[0]}?code={room.code}"
        page.qr_code(address)
        st.markdown(f"Code **{room.code}** at `{address.partition('?')[0].partition('//')[2]}`")
        plot.words(_count(room), key="class.count")
    with right:
        st.header(one.poll.title, anchor=False)
        st.markdown(one.poll.text)
        plot.show(shown(one), key="class.answers", label=in_words(one))
        plot.words(escape(_said(room)), key="class.words")
        _steps(room, state)
    # The computation ends with the teacher's tab, or goes on in the one that follows it.
    if state == RUNNING and get_channel().adopt(live.tab(), TRUTH) is None:
        get_channel().register(live.tab(), TRUTH, one.computed, room.code)
    if state == SHOWN and isinstance(one.poll, LessonPoll):
        st.markdown(one.poll.step.filled(one.poll.question.feedback))
        if one.poll.step.figure:
            lesson_view.show_figure(one.poll.step, one.poll.step.figure, f"class.{room.code}.{len(room.rounds)}")
    plot.send("status", "class-status", {"words": _said(room)}, height=1)


def _steps(room: Room, state: str) -> None:
    with st.container(horizontal=True, key="class-steps"):
        # One button, so that the focus stays on it for the whole of a class.
        words = {OPEN: "Show the result", RUNNING: "Computing ..."}
        words[SHOWN] = "Next question" if len(room.polls) > 1 else "Ask again"
        act = room.reveal if state == OPEN else partial(room.ask, 1)
        st.button(
            f":primary[**{words[state]}**]", key="class-step", on_click=_act, args=(act,), disabled=state == RUNNING
        )
        if state == SHOWN and len(room.polls) > 1:
            st.button("Ask again", key="class-again", on_click=room.ask, args=(0,))
        st.space("stretch")
        # The table of drawings is empty until somebody draws.
        known = any(one.poll.options or one.answers for one in room.rounds)
        if known and (len(room.rounds) > 1 or state == SHOWN):
            file = f"class-{room.code}.csv"
            tables.download("Predictions (CSV)", lambda: tables.csv(pd.DataFrame(room.rows)), file, key="class-csv")
        st.button("End the class", key="class-end", type="tertiary", on_click=_end, args=(room,))


def _act(act: Callable[[], None]) -> None:
    try:
        act()
    except InputError as error:
        show_error(error)


def _end(room: Room) -> None:
    room.end()
    # The page that opened it; a reload forgets that.
    live.go(*st.session_state.get("class:from", ("learn", {})))


def _parts(room: Room) -> Parts:
    return {"class.answers": shown(room.round), "class.count": _count(room), "class.words": escape(_said(room))}


def _count(room: Room) -> str:
    return f"<strong>{len(room.round.answers)}</strong> of {len(room.members)} have predicted"


def _said(room: Room) -> str:
    one = room.round
    if one.state == OPEN:
        return f"Round {len(room.rounds)}: predictions are taken."
    if one.state == RUNNING:
        computed = one.computed
        return f"{computed.done} of {computed.total} trials are computed." if computed else ""
    return one.truth.words if one.truth else ""


def _student(room: Room) -> None:
    one, me = room.round, live.browser_key()
    page.heading(room.title)
    with st.container(width=760):
        st.header(one.poll.title, anchor=False)
        st.markdown(one.poll.text)
        mine, state = one.answers.get(me), one.state
        if state == OPEN and isinstance(one.poll, DrawnPoll):
            _canvas(room, mine)
        elif state == OPEN:
            _choices(room, -1 if mine is None else mine)
        chosen = "" if mine is None else _chosen(one, mine)
        later = {OPEN: "You may change it until it is computed." if chosen else "", RUNNING: "It is being computed."}
        words = f"{chosen} {later.get(state) or _said(room) if state != OPEN else later[OPEN]}".strip()
        st.markdown(plain(words))
        if state == SHOWN:
            plot.show(shown(one, mine), key="class.answers", label=in_words(one))
    plot.send("status", "class-status", {"words": words}, height=1)


def _chosen(one: Round, mine: Any) -> str:
    if not isinstance(one.poll, DrawnPoll):
        return f"Your prediction: {one.poll.options[mine]}."
    return "Your line is sent." if one.state != SHOWN else drawing.own_words(mine, drawing.measured(one.computed))


def _canvas(room: Room, mine: Any) -> None:
    number, me = len(room.rounds) - 1, live.browser_key()

    def take(sent: object) -> None:
        # A refused drawing leaves the former one.
        _act(lambda: room.answer(number, me, drawing.checked(sent)))

    drawing.ask(f"class-draw-{number}", mine, take)


def _choices(room: Room, mine: int) -> None:
    options, number = room.round.poll.options, len(room.rounds) - 1
    if room.round.poll.axis:
        key = f"class-place-{number}"
        st.select_slider(room.round.poll.axis, options, options[max(mine, 0)], key=key)
        st.button("Send", key="class-send", type="primary", on_click=_send, args=(room, number, key))
        return
    with st.container(horizontal=True):
        for k, text in enumerate(options):
            label = f":primary[**{text}**]" if k == mine else text
            args = (number, live.browser_key(), k)
            st.button(label, key=f"class-choice-{number}-{k}", on_click=room.answer, args=args)


def _send(room: Room, number: int, key: str) -> None:
    room.answer(number, live.browser_key(), list(room.round.poll.options).index(st.session_state[key]))


def shown(one: Round, mine: Any = None) -> build.Figure:
    """Return the predictions of a round, and the knowledge about the truth; `mine` is marked."""
    if not isinstance(one.poll, DrawnPoll):
        return histogram(one, -1 if mine is None else mine)
    return drawing.figure([*one.answers.values()], one.computed, mine)


def histogram(one: Round, mine: int = -1) -> build.Figure:
    """Return the fraction of each option, the right one in another color, and the success rates.

    mine: the option of the person who looks, which is marked.
    """
    poll, truth, drawn = one.poll, one.truth, build.Figure()
    total, right, rates = max(1, sum(one.counts)), truth.right if truth else -1, truth.shares if truth else {}
    places, fractions = list(range(len(poll.options))), [count / total for count in one.counts]
    colors = [theme.PALETTE[2] if k == right else theme.faint(theme.PALETTE[0], 0.7) for k in places]
    look = {"marker_color": colors, "textposition": "outside", "cliponaxis": False, "name": "predictions"}
    hover = f"%{{text}} of {total}<extra></extra>"
    drawn.add_bar(x=places, y=fractions, text=[str(count or "") for count in one.counts], hovertemplate=hover, **look)
    if rates:
        line: dict[str, Any] = {
            "name": "trials that succeed",
            "mode": "lines+markers",
            "hover": "%{y:.0%} of the trials",
        }
        theme.line(drawn, list(rates), list(rates.values()), theme.PALETTE[1], **line)
    if right >= 0:
        # Visible even if nobody has predicted it.
        border = {"width": 2, "color": theme.PALETTE[2]}
        fill = theme.faint(theme.PALETTE[2])
        drawn.add_vrect(x0=right - 0.45, x1=right + 0.45, layer="below", fillcolor=fill, line=border)
    texts = [f"<b>{text}</b>" if k == right else text for k, text in enumerate(poll.options)]
    if mine >= 0:
        texts[mine] += "<br>you"
    drawn.update_xaxes(tickvals=places, ticktext=texts, range=[-0.6, len(places) - 0.4])
    high = 1.0 if rates else max([0.2, *fractions])
    drawn.update_yaxes(range=[0, 1.12 * high], tickformat=".0%").update_layout(showlegend=bool(rates))
    return theme.style(drawn, poll.axis, "fraction", height=HEIGHT)


def in_words(one: Round) -> str:
    """Return the predictions, and the knowledge about the right answer in words."""
    truth = one.truth.words if one.truth else ""
    if isinstance(one.poll, DrawnPoll):
        return f"Phase diagram with {len(one.answers)} drawn lines. {truth}".strip()
    counts = zip(one.poll.options, one.counts, strict=True)
    said = ", ".join(f"{option}: {count}" for option, count in counts if count) or "none yet"
    return f"Predictions: {said}. {truth}".strip()
