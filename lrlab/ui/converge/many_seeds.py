"""The chosen solvers on many seeds: median and quartiles of each iterate, and the time to a given accuracy.

pandas and what needs it are imported when they are used: a first page does not wait for them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from lrlab.catalog import family
from lrlab.engine.engine import on_workers
from lrlab.engine.stream import Collection
from lrlab.figures.convergence import TIMES
from lrlab.parameters import display_name
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, run_traced
from lrlab.store.location import get_shared_store
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.shared import captions, live, progress
from lrlab.ui.widgets import plot, tables

if TYPE_CHECKING:
    import pandas as pd

PAGE = "seeds"
FIRST, MOST = 20, 200
ACCURACY = 0.1


def show(settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Offer to run the jobs on many seeds, and draw what has arrived."""
    fold = st.expander("Many seeds", key="converge-seeds", on_change="rerun")
    if not fold.open:
        return
    with fold:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            seeds = st.number_input("seeds", 2, MOST, FIRST, key="converge-seeds-number", width=160)
            goal = family(jobs[0].spec.model).goal if jobs else None
            first = goal.below or goal.above if goal and goal.measure == settings.measure else None
            level = st.number_input(
                "accuracy", value=first or ACCURACY, format="%.4g", key=f"converge-accuracy-{settings.measure}",
                width=160, help=f"a run has reached it when its {display_name(settings.measure)} is this good",
            )  # fmt: skip
            about = (tuple(jobs), int(seeds))
            live.buttons(PAGE, lambda: begin(*about), ready=bool(jobs), about=about, label="Run seeds")
        live.follow(PAGE, lambda: draw(settings, float(level), about))


def begin(jobs: Sequence[Job], seeds: int) -> Collection:
    """Start the trials that the store does not have; all solvers see the same data in a trial."""
    from lrlab.presets.resumed import Resumed

    trials = [Trial(job, number) for number in range(seeds) for job in jobs]
    return Collection(Resumed(run_traced, trials, get_shared_store().open, on_workers))


def draw(settings: CurveSettings, level: float, about: tuple[tuple[Job, ...], int]) -> None:
    """Draw the median of each solver with its quartiles, and the table of times."""
    from lrlab.figures.series import series
    from lrlab.presets.traces import median_traces

    batch, ran = live.current(PAGE), live.about(PAGE)
    progress.show_batch_progress(batch, "seeds.progress", changed=batch is not None and ran != about)
    results = progress.batch_results(batch)
    if not results:
        return
    spec = ran[0][0].spec
    measures = family(spec.model).measures
    if settings.measure not in measures:
        settings = settings._replace(measure=next(iter(measures)))
    titles = {job.solver: captions.style_of(spec.model, job.solver).title for job in ran[0]}
    rows = live.once(f"{PAGE}:rows", (id(batch), len(results)), lambda: table(results, titles))
    points = median_traces(rows, settings.measure)
    figure = series(
        points.assign(x=points[settings.time]), axis_title=TIMES[settings.time],
        value_title=f"median {measures[settings.measure].title}", log_x=settings.log_x,
        log_y=settings.log_y and bool((points[["y", "low"]] > 0.0).all(axis=None)), bands=True,
    )  # fmt: skip
    rising = measures[settings.measure].rising
    reached = times(rows, settings.measure, level, rising=rising)
    words = "; ".join(f"{row.solver}: {row.reached} of {row.seeds} seeds" for row in reached.itertuples())
    name = display_name(settings.measure)
    plot.show(figure, key="converge.seeds", label=f"{name} over seeds. Reach {level:g}: {words}")
    side = "at least" if rising else "at most"
    st.caption(
        f"{captions.describe_spec(spec)}. Medians of the seeds, with quartiles; a run that has ended keeps its last "
        f"value. Below: seeds that reach {name} {side} {level:g}, and the quartiles of the solver time until then."
    )
    tables.view(reached)
    tables.download_csv("All iterates (CSV)", rows, f"{spec.model}-seeds", key="converge-seeds-csv")


def table(results: Mapping[int, Sequence[Mapping[str, Any]]], titles: Mapping[str, str]) -> "pd.DataFrame":
    """Return the iterates of all runs, a row each, with the titles of their solvers as `series`."""
    import pandas as pd

    rows = pd.DataFrame([row for own in results.values() for row in own])
    return rows.assign(series=rows["solver"].map(titles))


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
        counted.append({
            "solver": solver, "seeds": len(first), "reached": int(first["seconds"].notna().sum()),
            "median seconds": quartiles["seconds"][0.5], "first quartile": quartiles["seconds"][0.25],
            "third quartile": quartiles["seconds"][0.75], "median iterations": quartiles["iteration"][0.5],
        })  # fmt: skip
    return pd.DataFrame(counted)
