"""The part of *own data* for ratings of items by users: errors beside the baselines, what tuning tried, predictions."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.engine.messages import Failure
from lrlab.engine.stream import Collection
from lrlab.figures.build import Figure
from lrlab.figures.labels import rating_errors
from lrlab.fits.implicit import PRECISION, RECALL
from lrlab.fits.ratings_fit import RatingsFit
from lrlab.parameters import InputError
from lrlab.ui.live.changes import State
from lrlab.ui.live.tabs import View
from lrlab.ui.own_data import ratings_controls, ratings_predictions, ratings_source
from lrlab.ui.own_data.ratings_controls import RatingsPlan, title
from lrlab.ui.shared import live, page, progress
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain, show_warning

PAGE = "own_ratings"
BASELINES = {"rmse_mean": "The mean of the ratings", "rmse_biases": "Biases of users and items alone"}
RANKING = {
    PRECISION: "share of the 10 best items of a user that are in the test pairs, a mean over users",
    RECALL: "share of a user's test pairs that are among the 10 best items, a mean over users",
}
HELP = {
    **RANKING,
    "rmse": "root mean squared error on the test ratings",
    "over biases": "rmse minus that of biases alone: below 0 is better",
    "new users": "rmse on test ratings of users without training ratings",
    "new items": "rmse on test ratings of items without training ratings",
}


def show(link: Permalink) -> None:
    """Show ratings, fits, and predictions."""
    with st.sidebar:
        files = ratings_source.choose(link)
        plan = ratings_controls.choose(link, files)
    page.show_errors(files, *([plan] if not isinstance(files, InputError) else []))
    with st.container():
        if isinstance(files, ratings_source.RatingFiles):
            st.caption(plain(files.words))
        elif files is None:
            st.info("Upload a CSV of ratings on the left: a row for each, user, item, rating.")
    ready = plan if isinstance(plan, RatingsPlan) else None

    def begin() -> Collection:
        assert ready is not None
        return ratings_controls.begin(get_engine(), ready)

    live.buttons(PAGE, begin, ready=ready is not None, about=ready)
    live.follow(PAGE, lambda: draw(ready), live_view())
    # After all solvers are done: otherwise the first to finish would become the choice.
    fits = {} if live.alive(PAGE) else fitted()
    st.header("Predictions", anchor=False)
    if fits:
        ratings_predictions.show(link, fits)
    else:
        st.caption("Predictions, the best unrated items of a user, and files appear when a run has ended.")
        link.accept(["ratings.by", "ratings.user", "ratings.top"])
    if ready:
        page.fold_code(ratings_controls.python(ready), ratings_controls.shell(ready))


def draw(plan: RatingsPlan | None) -> None:
    """Draw the run that is followed."""
    running, followed = live.current(PAGE), live.about(PAGE)
    if running is None or followed is None:
        st.caption("Scores on test ratings appear here, beside those of biases and the mean, or of popularity.")
        return
    over = f"Cancelled: {running.done} of {running.total} solvers were fitted." * (running.done < running.total)
    words = progress_bar(running) if running.alive else over * (not running.error)
    progress.strip(words, f"{PAGE}.progress", alive=running.alive)
    with st.container():
        if plan is not None and plan != followed:
            st.caption("**The ratings or settings have changed since this run: press Run.**")
        progress.show_failures(failures(running, followed), PAGE, alive=running.alive)
    fits = fits_of(running)
    if not fits and not running.alive:
        return
    curves, comparison_column = st.columns([1, 1.1], gap="medium")
    with curves:
        plot.show(figure(fits), key="own_data.rating_errors", label="rmse on test ratings by iteration")
    with comparison_column:
        if running.alive:
            plot.words(comparison_html(fits), key=f"{PAGE}.scores")
        else:
            show_table(fits)
    tried = [{"solver": name, **row} for name, fit in fits.items() for row in fit.tried]
    note = "Scores on held-out training ratings, at the best iteration; rank 0 without features is a baseline."
    key, heading = "own_data-ratings-tried", "Settings tried"
    if tried:
        tables.show(lambda: pd.DataFrame(tried), key=key, file="tuning", title=heading, note=note)


def live_view() -> View | None:
    """Return the view of the run that is followed, for its live channel."""
    running, followed = live.current(PAGE), live.about(PAGE)

    def parts() -> State:
        fits = fits_of(running)
        return {
            f"{PAGE}.progress": progress_bar(running),
            f"{PAGE}.failures": progress.failures_html(failures(running, followed)),
            "own_data.rating_errors": figure(fits),
            f"{PAGE}.scores": comparison_html(fits),
        }

    return parts if running else None


def progress_bar(running: Any) -> str:
    """Return how many solvers are fitted as HTML, for the live channel."""
    words = f"{running.done} of {running.total} solvers fitted; each tries its settings on held-out ratings first"
    return progress.bar((running.done + 0.3) / (running.total + 0.3), words)


def figure(fits: Mapping[str, RatingsFit]) -> Figure:
    """Return the errors of fits by iteration, beside those of the baselines."""
    baselines = next(iter(fits.values())).baselines if fits else {}
    return rating_errors({name: fit.rows for name, fit in fits.items()}, baselines)


def fitted() -> dict[str, RatingsFit]:
    """Return the fits of the run that is followed."""
    running = live.current(PAGE)
    return fits_of(running) if running is not None else {}


def fits_of(running: Any) -> dict[str, RatingsFit]:
    """Return the fits of the solvers that are done, by title: of pairs without ratings the solver is another one."""
    results = sorted(running.results.items())
    return {title(fit.solver): fit for _, fit in results if isinstance(fit, RatingsFit) and fit.rows}


def failures(running: Any, followed: RatingsPlan) -> list[str]:
    """Return why fits failed, as sentences."""
    results = sorted(running.results.items())
    failed = [(followed.tasks[k].solver, result.sentence) for k, result in results if isinstance(result, Failure)]
    return [f"{title(solver)}: {sentence}" for solver, sentence in failed] + [running.error] * bool(running.error)


def comparison_html(fits: Mapping[str, RatingsFit]) -> str:
    """Return the comparison of the fits so far as HTML, for the live channel."""
    return tables.html(comparison(fits)) if fits else ""


def show_table(fits: Mapping[str, RatingsFit]) -> None:
    """Show one row per baseline and solver, and a sentence for each fit that is no better than a baseline."""
    table = comparison(fits)
    columns = {name: st.column_config.NumberColumn(format="%.4f", help=words) for name, words in HELP.items()}
    columns["over biases"] = st.column_config.NumberColumn(format="%+.4f", help=HELP["over biases"])
    columns["ridge"] = columns["seconds"] = st.column_config.NumberColumn(format="%.3g")
    st.dataframe(table, hide_index=True, column_config=columns, key="own_data.rating_table")
    one = next(iter(fits.values()))
    biases = "Pairs are implicit feedback: items are ranked." if one.implicit else "Biases are in every fit."
    st.caption(f"Scores on {one.baselines['test_ratings']:,} test ratings, which tuning does not see. {biases}")
    for name, fit in fits.items():
        if fit.remark:
            show_warning(f"{name}: {fit.remark}")


def comparison(fits: Mapping[str, RatingsFit]) -> pd.DataFrame:
    """Return one row per baseline and solver."""
    lines = next(iter(fits.values())).baselines
    if next(iter(fits.values())).implicit:
        scores = {name: {**fit.rows[-1], "rank": fit.rank, "iterations": len(fit.rows)} for name, fit in fits.items()}
        popular = {one: lines[f"{one}_popularity"] for one in RANKING}
        ranked = [{"solver": name, **row} for name, row in {"Popularity alone": popular, **scores}.items()]
        return pd.DataFrame(ranked)[["solver", *RANKING, "rank", "iterations", "seconds"]]
    rows: list[dict[str, Any]] = [
        {"solver": words, "rmse": lines[name], "over biases": lines[name] - lines["rmse_biases"]}
        for name, words in BASELINES.items()
    ]
    for name, fit in fits.items():
        last = fit.rows[-1]
        about = {"solver": name, "rmse": last["rmse"], "over biases": last["rmse"] - lines["rmse_biases"]}
        about |= {"new users": last["rmse_cold_users"], "new items": last["rmse_cold_items"], "rank": fit.rank}
        about |= {"ridge": fit.options.get("ridge") or None, "iterations": len(fit.rows), "seconds": last["seconds"]}
        rows.append(about)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")
