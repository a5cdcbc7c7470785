"""The chosen solvers on many seeds: median and quartiles of each iterate, and the time to a given accuracy.

pandas and its users are imported late: a first page does not wait for them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from lrlab.catalog import family
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.figures.build import Figure
from lrlab.figures.convergence import TIMES
from lrlab.figures.runs import styles
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, run_traced
from lrlab.store.location import get_shared_store
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live.stream import Parts
from lrlab.ui.live.tabs import View
from lrlab.ui.shared import captions, live, progress
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.text import plain

if TYPE_CHECKING:
    import pandas as pd

PAGE, FOLD = "seeds", "converge-seeds"
FIRST, MOST = 20, 200
ACCURACY = 0.1


def show(settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Offer to run the jobs on many seeds, and draw the results so far."""
    fold = st.expander("Many seeds", key=FOLD, on_change="rerun")
    if not fold.open:
        return
    with fold:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            seeds = st.number_input("seeds", 2, MOST, FIRST, key="converge-seeds-number", width=160)
            goal = family(jobs[0].spec.model).goal if jobs else None
            noise = float(getattr(jobs[0].spec, "noise", 0.0)) if jobs else 0.0
            first = goal.level(noise) if goal and goal.measure == settings.measure else None
            level = st.number_input(
                "accuracy",
                value=first or ACCURACY,
                format="%.4g",
                key=f"converge-accuracy-{settings.measure}",
                width=160,
                help=f"a run has reached it when its {display_name(settings.measure)} is this good",
            )
            about = (tuple(jobs), int(seeds))
            live.buttons(PAGE, lambda: begin(*about), ready=bool(jobs), about=about, label="Run seeds")
        live.follow(PAGE, lambda: draw(settings, float(level), about), live_view(settings, float(level), about))


def begin(jobs: Sequence[Job], seeds: int) -> Results:
    """Start the trials that the store does not have; all solvers see the same data in a trial."""
    from lrlab.presets.resumed import Resumed

    trials = [Trial(job, number) for number in range(seeds) for job in jobs]
    return Resumed(run_traced, trials, get_shared_store().open, on_workers)


def draw(settings: CurveSettings, level: float, about: tuple[tuple[Job, ...], int]) -> None:
    """Draw the median of each solver with its quartiles, and the table of times."""
    batch, ran = live.current(PAGE), live.about(PAGE)
    progress.show_batch_progress(batch, "seeds.progress", changed=batch is not None and ran != about)
    results = progress.batch_results(batch, PAGE)
    alive = batch is not None and batch.alive
    if not results and not alive:
        return
    spec = ran[0][0].spec
    rows = live.once(f"{PAGE}:rows", (id(batch), len(results)), lambda: table(results, ran[0]))
    settings, reached = _settings(settings, spec), times_of(settings, spec, rows, level)
    words = "; ".join(f"{row.solver}: {row.reached} of {row.seeds} seeds" for row in reached.itertuples())
    name = display_name(settings.measure)
    label = f"{name} over seeds. Reach {level:g}: {words}"
    plot.show(medians(settings, spec, rows), key="converge.seeds", label=label)
    side = "at least" if family(spec.model).measures[settings.measure].rising else "at most"
    st.caption(
        f"{plain(captions.describe_spec(spec))}. Medians of the seeds, with quartiles; a run that has ended keeps its "
        f"last value. Below: seeds that reach {name} {side} {level:g}, and the quartiles of the solver time until then."
    )
    if alive:
        plot.words(tables.html(reached), key="seeds.times")
        return
    tables.view(reached)
    tables.download_csv("All iterates (CSV)", rows, f"{spec.model}-seeds", key="converge-seeds-csv")


def live_view(settings: CurveSettings, level: float, about: tuple[tuple[Job, ...], int]) -> View | None:
    """Return the view of the seeds that run, for their live channel."""
    batch, ran = live.current(PAGE), live.about(PAGE)
    if batch is None:
        return None
    spec = ran[0][0].spec
    settings = _settings(settings, spec)

    def parts() -> Parts:
        rows = table(progress.computed(batch), ran[0])
        reached = tables.html(times_of(settings, spec, rows, level))
        drawn = {"converge.seeds": medians(settings, spec, rows), "seeds.times": reached}
        return {**progress.batch_parts(batch, PAGE, ran != about), **drawn}

    return parts


def _settings(settings: CurveSettings, spec: Spec) -> CurveSettings:
    return settings.of(family(spec.model).measures)


def medians(settings: CurveSettings, spec: Spec, rows: "pd.DataFrame") -> Figure:
    """Return the medians of the seeds with their quartiles; without rows the empty axes."""
    from lrlab.figures.series import series
    from lrlab.presets.lines import median_traces

    points = median_traces(rows, settings.measure)
    looks = list(styles(spec.model, rows["solver"].unique()).values())
    return series(
        points.assign(x=points[settings.time]),
        axis_title=TIMES[settings.time],
        value_title=f"median {family(spec.model).measures[settings.measure].title}",
        log_x=settings.log_x,
        log_y=settings.log_y and bool((points[["y", "low"]] > 0.0).all(axis=None)),
        bands=True,
        looks={look.title: look for look in looks},
    )


def times_of(settings: CurveSettings, spec: Spec, rows: "pd.DataFrame", level: float) -> "pd.DataFrame":
    """Return `times` of the measure that is shown."""
    return times(rows, settings.measure, level, rising=family(spec.model).measures[settings.measure].rising)


def table(results: Mapping[int, Sequence[Mapping[str, Any]]], jobs: Sequence[Job]) -> "pd.DataFrame":
    """Return the iterates of all runs, a row each, with the titles of their solvers as `series`."""
    import pandas as pd

    titles = {job.solver: job.entry.title for job in jobs}
    rows = [row for own in results.values() for row in own]
    measures = family(jobs[0].spec.model).measures
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=["solver", "trial", "iteration", "seconds", *measures])
    return table.assign(series=table["solver"].map(titles))


def times(rows: "pd.DataFrame", measure: str, level: float, *, rising: bool) -> "pd.DataFrame":
    """Return for each solver how many seeds reach a level, and the quartiles of seconds and iterations until then.

    A seed that does not reach it counts as one that takes for ever: quartiles beyond the share that reaches it are inf.
    """
    import pandas as pd

    good = rows[measure] >= level if rising else rows[measure] <= level
    counted = []
    for solver, own in rows.assign(good=good).groupby("series", sort=False):
        first = own[own["good"]].groupby("trial").first().reindex(own["trial"].unique())
        taken = first[["seconds", "iteration"]].fillna(float("inf"))
        quartiles = taken.quantile([0.25, 0.5, 0.75], interpolation="higher")
        counted.append(
            {
                "solver": solver,
                "seeds": len(first),
                "reached": int(first["seconds"].notna().sum()),
                "median seconds": quartiles["seconds"][0.5],
                "first quartile": quartiles["seconds"][0.25],
                "third quartile": quartiles["seconds"][0.75],
                "median iterations": quartiles["iteration"][0.5],
            }
        )
    return pd.DataFrame(counted)
