"""Controls above the figures of *Run*, and the tabs below: why it works, all numbers, the table of iterates, code."""

import inspect
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from lrlab.catalog import family, model_entry
from lrlab.engine.engine import get_engine
from lrlab.figures import convergence
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import truth_of
from lrlab.model_entry import Measure
from lrlab.parameters import display_name, duration
from lrlab.protocol import Spec
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import code, live, page
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

if TYPE_CHECKING:
    import pandas as pd

SEEDS = 2**32
HEIGHT, LEGEND = 400, 100
"""Height of the large figures of the first screen, and of the legend below the curves, in pixels."""
ON_CHANGE, PINNED = "converge-on-change", "converge:pinned"
WHY, NUMBERS, TABLE, CODE = "Why it works", "Numbers", "Table", "Code"
AT_THIS_SIZE = "Dashed: the mean final metric over problems simulated at this size, with the band of 80% of them."
BEST_ON_AVERAGE = (
    "Dotted: the Bayes-optimal value at this n and p, with the band of 80% of trials. A single run may end "
    "beyond it; the mean of many runs does not."
)
STATES = {"waiting": "Waiting for a free worker.", "running": "Running.", "failed": "Failed."}


class CurveSettings(NamedTuple):
    """The plotted metric, its clock ("iteration" or "seconds"), the logarithmic axes, and curves of pinned runs.

    height: of the curves, and of the estimates beside or above them, in pixels.
    """

    measure: str
    time: str
    log_x: bool = False
    log_y: bool = False
    pinned: tuple[Recovery, ...] = ()
    height: int = HEIGHT

    def of(self, measures: Mapping[str, Measure]) -> "CurveSettings":
        """Return these for a model: its first metric if it lacks the chosen one; shares on a linear axis."""
        measure = self.measure if self.measure in measures else next(iter(measures))
        return self._replace(measure=measure, log_y=self.log_y and not measures[measure].rising)

    @property
    def title(self) -> str:
        """The measure as a heading."""
        name = display_name(self.measure)
        return name[:1].upper() + name[1:]


def buttons(link: Permalink, jobs: Sequence[Job]) -> None:
    """Show the buttons; a link starts a run, and so does a change of the jobs if the user wants that."""
    wanted = link.take_opened() or bool(st.session_state.get(ON_CHANGE))
    live.buttons("converge", lambda: get_engine().follow(jobs), ready=bool(jobs), about=list(jobs), wanted=wanted)
    st.button("New data", key="converge-new", disabled=not jobs, on_click=_new_data, args=(link,))
    st.toggle("Run on change", key=ON_CHANGE, help="start a run whenever a parameter or a solver changes")


def _new_data(link: Permalink) -> None:
    seed = link.key("seed")
    st.session_state[seed] = (int(controls.current(link, seed) or 0) + 1) % SEEDS
    live.request("converge")
    # The seed is not in the part of the page that has the button.
    st.rerun()


def choose(link: Permalink, model: str, spec: object) -> CurveSettings:
    """Show the controls of the curves and return the settings."""
    entry = model_entry(model)
    known, of = entry.family.measures, spec if isinstance(spec, Spec) else entry.spec()
    # Without those that the spec does not have, that no iterate changes, or that are shares.
    titles = {
        name: display_name(name)
        for name, one in known.items()
        if not (one.constant or one.quotient[0] or name in of.absent_metrics)
    }
    first = next(iter(titles))
    measure = controls.choose(link, "show", titles, known[first].meaning, "Show", few=True)
    scale = controls.choose(
        link,
        "axes",
        {"linear": "linear", "log-y": "log y", "log-x": "log x", "log-log": "log-log"},
        "which axes are logarithmic; fractions, and an objective that is not positive, stay linear",
        "axes",
        default="log-y",
        few=True,
    )
    times = {"iteration": "iteration", "seconds": "seconds"}
    meaning = "iterations, or the time of the solver without scoring; Play uses the same clock"
    time = controls.choose(link, "against", times, meaning, "against", few=True)
    pinned = st.session_state.get(PINNED, ("", ()))
    kept = pinned[1] if pinned[0] == entry.family.name else ()
    return CurveSettings(measure, time, scale in ("log-x", "log-log"), scale in ("log-y", "log-log"), kept)


def show_tabs(
    settings: CurveSettings,
    spec: Spec,
    runs: Sequence[Any],
    drawn: Sequence[Recovery],
    parts: Parts,
    *,
    ran: bool,
) -> None:
    """Show the tabs; only the open one is made and sent; ran: whether there are results."""
    jobs = [run.job for run in runs]
    contents = {
        WHY: lambda: _why(spec, jobs),
        NUMBERS: lambda: _numbers(settings, spec, drawn, parts, ran),
        TABLE: lambda: _table(spec, runs if ran else ()),
        CODE: lambda: page.copy(code.python(jobs), code.shell(jobs), figure=code.figure(jobs)),
    }
    tabs = st.tabs(list(contents), default=NUMBERS, key="converge-tabs", on_change="rerun")
    for place, draw in zip(tabs, contents.values(), strict=True):
        if place.open:
            with place:
                draw()


def _numbers(settings: CurveSettings, spec: Spec, drawn: Sequence[Recovery], parts: Parts, ran: bool) -> None:
    """Show the numbers of each run and their meaning."""
    measures = family(spec.model).measures
    meaning = measures[settings.measure].meaning
    words = [f"**{display_name(settings.measure)}**: {meaning}. " + theory_caption(drawn, settings.measure)]
    if ran and (reason := family(spec.model).why_no_best(spec)):
        words.append(f"No Bayes-optimal line at this n and p: {reason}.")
    st.caption("\n\n".join([*words, plain(code.describe_spec(spec))]))
    if ran:
        plot.words(parts["converge.cards"], key="converge.cards")
        present = {name for look in drawn for row in look.rows[-1:] for name in row}
        displayed = {display_name(name): measure for name, measure in measures.items() if name in present}
        st.caption(" ".join(f"**{name}**: {measure.meaning}." for name, measure in displayed.items()))
    if "converge.values" in parts:
        plot.show(parts["converge.values"], key="converge.values", label="singular values")
        gray = "" if truth_of(spec) is None else "Gray: the ground truth. "
        st.caption(f"{gray}Colors: the estimates; open markers: negative eigenvalues.")


def _table(spec: Spec, runs: Sequence[Any]) -> None:
    """Show all iterates, and offer them as a file."""
    meanings = " ".join(f"{name}: {measure.meaning}." for name, measure in family(spec.model).measures.items())
    given = dict.fromkeys(f"{run.job.entry.title}: {words}" for run in runs if (words := run.job.given))
    rows = table(runs)
    tables.view(rows, f"One row per iterate. seconds: solver time. {meanings} {' '.join(given)}".rstrip())
    tables.download_csv("Download CSV", rows, f"{spec.model}-convergence", key="converge-table-csv")


def _why(spec: Spec, jobs: Sequence[Job]) -> None:
    """Show what makes the model recoverable, and a card for each solver."""
    st.markdown(spec.summary)
    for job in jobs:
        entry = job.entry
        with st.container(border=True, key=f"converge-why-{entry.name}"):
            st.markdown(f"**{entry.title}.** {entry.summary}")
            st.latex(entry.update)
            st.caption(" ".join(part for part in (job.given, entry.reference) if part))
            with st.popover(f"Docstring of {entry.name}", type="tertiary", width="content"):
                st.code(inspect.getdoc(entry.run) or "", language=None, wrap_lines=True)


def cards(runs: Sequence[Any], drawn: Sequence[Recovery], measures: Mapping[str, Measure]) -> str:
    """Return a card with the numbers of each solver as HTML."""
    body = "".join(_card(run, look, measures) for run, look in zip(runs, drawn, strict=True))
    return f'<div class="lr-runs">{body}</div>'


def _card(run: Any, look: Recovery, measures: Mapping[str, Measure]) -> str:
    """Return one solver's card as HTML."""
    trace, row = run.trace, dict(look.rows[-1]) if look.rows else {}
    if run.state == "failed":
        words, mark = escape(str(run.error or STATES["failed"])), ' class="failed"'
    else:
        stop = trace.ending if trace.stop else STATES.get(run.state, "")
        words, mark = escape(" ".join(part for part in (stop, trace.note, trace.swing) if part)), ""
    if run.state == "running" and run.progress and not row:
        words = f"Reading the data: {100 * run.progress:.0f}%."
    words = " ".join(part for part in (words, run.job.given) if part)
    numbers = [
        _number("iterations", f"{row.get('iteration', 0):.0f}"),
        _number("solver time", duration(row.get("seconds", 0.0))),
    ]
    for name, measure in measures.items():
        if name in row and row[name] == row[name]:
            predicted = convergence.prediction(look.predictions, name)
            # With a true minus sign.
            numbers.append(_number(name, f"{row[name]:.4g}".replace("-", "−"), predicted, measure.meaning))
    return (
        f'<article class="lr-run" style="--c: {look.color}"><h2>{escape(look.title)}</h2>'
        f'<p{mark}>{words}</p><dl class="lr-numbers">{"".join(numbers)}</dl></article>'
    )


def _number(name: str, value: str, predicted: float | None = None, meaning: str = "") -> str:
    """Return one number as HTML, with its name above and the prediction below."""
    theory = f"<small>theory {predicted:.4g}</small>" if predicted is not None else ""
    title = f' title="{escape(meaning)}"' if meaning else ""
    return f"<div{title}><dt>{display_name(name)}</dt><dd>{value}{theory}</dd></div>"


def theory_caption(drawn: Sequence[Recovery], measure: str) -> str:
    """Return the meaning of the lines and marks of theory, or "" if there are none."""

    def known(prefix: str, of: str = measure) -> bool:
        return any(convergence.prediction(run.predictions, of, prefix) is not None for run in drawn)

    words = ["Star: the asymptotic prediction of the initialization."] * known("predicted", f"start_{measure}")
    words += [AT_THIS_SIZE] * known("predicted")
    words += ["Thin and dotted: the asymptotic limit of a solver at this n/p."] * known("limit")
    iterated = [run.title for run in drawn if run.expected and measure in ("error", "overlap")]
    if iterated:
        words.append(f"Dashed and curved: each iterate of {', '.join(iterated)}.")
    words += [BEST_ON_AVERAGE] * known("best")
    hard = ", and the limit of polynomial-time methods" * known("limit_best_fast")
    limits = f"Thin and gray: the asymptotic information-theoretic limit{hard}; small problems may end beyond it."
    words += [limits] * known("limit_best")
    return " ".join(words)


def table(runs: Sequence[Any]) -> "pd.DataFrame":
    """Return all iterates of all runs, with the predictions."""
    import pandas as pd

    rows = [
        {"solver": run.job.solver, **row, **theory.predictions(run.job), "title": run.job.entry.title}
        for run in runs
        for row in run.trace.rows
    ]
    return pd.DataFrame(rows, columns=None if rows else ["solver", "iteration", "seconds"])
