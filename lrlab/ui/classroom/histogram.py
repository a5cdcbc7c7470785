"""The predictions of a class as a histogram, with the truth laid over."""

from lrlab.figures import build, theme
from lrlab.ui.classroom.room import Round

HEIGHT, TYPE = 430, 17
"""px; the type is for a projector."""


def draw(one: Round, mine: int = -1) -> build.Figure:
    """Return the fraction of each option, the right one in another color, and the success rates.

    mine: the option of the person who looks, which is marked.
    """
    poll, truth, drawn = one.poll, one.truth, build.Figure()
    total = max(1, sum(one.counts))
    shares, right = [count / total for count in one.counts], truth.right if truth else -1
    places = list(range(len(shares)))
    drawn.add_bar(
        x=places,
        y=shares,
        name="predictions",
        marker={"color": [theme.PALETTE[2] if k == right else theme.faint(theme.PALETTE[0], 0.7) for k in places]},
        text=[str(count or "") for count in one.counts],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{text} of " + f"{total}<extra></extra>",
    )
    if truth and truth.shares:
        drawn.add_scatter(
            x=list(truth.shares),
            y=list(truth.shares.values()),
            name="trials that succeed",
            mode="lines+markers",
            line={"color": theme.PALETTE[1]},
            hovertemplate="%{y:.0%} of the trials<extra></extra>",
        )
    if right >= 0:
        # Visible even if nobody has predicted it.
        look = {"fillcolor": theme.faint(theme.PALETTE[2]), "line": {"width": 2, "color": theme.PALETTE[2]}}
        drawn.add_vrect(x0=right - 0.45, x1=right + 0.45, layer="below", **look)
    texts = [f"<b>{text}</b>" if k == right else text for k, text in enumerate(poll.options)]
    if mine >= 0:
        texts[mine] += "<br>you"
    drawn.update_xaxes(tickvals=places, ticktext=texts, range=[-0.6, len(places) - 0.4], tickfont={"size": TYPE - 2})
    drawn.update_xaxes(title_font_size=TYPE)
    high = 1.0 if truth and truth.shares else max([0.2, *shares])
    drawn.update_yaxes(range=[0, 1.12 * high], tickformat=".0%", title_font_size=TYPE)
    drawn.update_layout(showlegend=bool(truth and truth.shares), font_size=TYPE)
    return theme.style(drawn, poll.axis, "share", height=HEIGHT)


def words(one: Round) -> str:
    """Return the histogram, and the knowledge about the right answer in words."""
    counts = zip(one.poll.options, one.counts, strict=True)
    said = ", ".join(f"{option}: {count}" for option, count in counts if count) or "none yet"
    return f"Predictions: {said}. {one.truth.words if one.truth else ''}".strip()
