"""Fits biases and a low-rank part to users' own ratings, tuned on held-out ones; tests on others."""

import math
from typing import Any

import numpy as np

from lrlab import datasets
from lrlab.datasets import Ratings
from lrlab.datasets.ratings_features import read_features
from lrlab.fits import implicit, ratings_solvers
from lrlab.fits.biased_als import Line, bias_line
from lrlab.fits.fit_result import Row
from lrlab.fits.implicit import WEIGHTED
from lrlab.fits.own_files import File
from lrlab.fits.ratings_fit import RatingsFit
from lrlab.fits.ratings_model import RatingModel, members_of
from lrlab.fits.ratings_solvers import BIASES, OWN, Candidate, RatingsRun
from lrlab.fits.ratings_tuning import FEWEST, Result, Tuner
from lrlab.fits.settings import RANK
from lrlab.fits.tuning import Progress
from lrlab.models.ratings_problem import Cells, Factors, RatingTable, aligned, rms
from lrlab.parameters import InputError, settle
from lrlab.protocol import Limits, limits

ITERATIONS = {OWN: 60, BIASES: 1, WEIGHTED: 60}
"""Default limits of iterations; that of the catalogue's solvers is 20."""
OTHER_ITERATIONS = 20
TEST_SHARE = 0.2
"""Share of the ratings that is held out for the test where no file of test ratings is given."""
FAR, RANDOM_CELLS = 2.0, 10_000
"""Bound of `plausible`, and cells that it draws; sound fits reach .4 to .8."""
IMPLAUSIBLE = "The low-rank part diverges where there are no ratings, and is left out."


def fit_ratings(
    train: File,
    test: File | None = None,
    users: File | None = None,
    items: File | None = None,
    *,
    solver: str = OWN,
    rank: int = 0,
    iterations: int | None = None,
    seed: int = 0,
    max_seconds: float = 3600.0,
    duplicates: str = "",
    progress: Progress = lambda count, best: None,
    **settings: object,
) -> RatingsFit:
    """Fit ratings by their mean, biases of users and items, and a part of low rank, and test it on others.

    Files as for `datasets.read_ratings`: ratings `user,item,rating`, and features of users and of items, numbers or
    words. Without a file of test ratings a fifth of the ratings is held out, drawn with the seed.
    Pairs `user,item` without ratings, or with ratings that are all equal, are implicit feedback: `weighted-als` ranks
    the items that a user has no pair with, and its scores are precision@10 and recall@10, beside popularity's.
    solver: `biased-als`, whose ridge comes from the ratings; `biases`, without a low-rank part; or a solver of
    inductive completion, which is fitted to what biases leave, or with features to the ratings, beside biases.
    rank: at most that; 0 chooses it on held-out training ratings, as also ridge, iterations (up to the given number)
    and the weight of the low-rank part, which is left out where biases alone are not worse. settings: the solver's
    options, which are not tuned then. max_seconds: of each run. duplicates: of several ratings of an item by a user
    their last or mean counts; left out, they are refused.
    Scores: `rmse` on the test ratings, also for users and items without training ratings, and `train_rmse`.
    InputError where a file, a setting or a size is wrong.
    """
    options, rank = ratings_solvers.ratings_options(solver, settings), int(RANK.check(rank))
    most = ITERATIONS.get(solver, OTHER_ITERATIONS) if iterations is None else iterations
    ending = limits({"max_iter": most, "max_seconds": max_seconds})
    ratings, table = read_table(train, test, users, items, seed, duplicates)
    if ratings.alike or solver == WEIGHTED:
        return fit_pairs(ratings, table, solver, rank, settings, ending, seed, progress)
    return fit_table(ratings, table, solver, rank, options, set(settings), ending, seed, progress)


def read_table(
    train: File, test: File | None, users: File | None, items: File | None, seed: int, duplicates: str = ""
) -> tuple[Ratings, RatingTable]:
    """Return the ratings of the training file, and those of both files as a table."""
    x, y = (read_features(path, what) if path else None for path, what in ((users, "user"), (items, "item")))
    training = datasets.read_ratings(train, x, y, duplicates=duplicates)
    if test is None:
        if len(training.values) < 2:
            raise InputError("ratings", "at least 2, of which one is held out for the test", 1, "add ratings")
        held = np.zeros(len(training.values), dtype=bool)
        drawn = np.random.default_rng((1, seed)).permutation(len(held))
        held[drawn[: max(1, round(TEST_SHARE * len(held)))]] = True
        cells = Cells(training.rows, training.columns, training.values)
        given, fresh, size = cells.part(~held), cells.part(held), training.table
    else:
        given, fresh, size = aligned(training, datasets.read_ratings(test, x, y, duplicates=duplicates))
    X, Y = (
        np.ones((n, 1)) if values is None else members.scaling.applied(values)
        for n, members, values in zip(size, members_of(training), (training.X, training.Y), strict=True)
    )
    return training, RatingTable(given, fresh, X, Y)


def fit_table(
    ratings: Ratings,
    table: RatingTable,
    solver: str,
    rank: int,
    options: dict[str, Any],
    given: set[str],
    ending: Limits,
    seed: int,
    progress: Progress = lambda count, best: None,
) -> RatingsFit:
    """Tune a solver on a table of ratings, fit it to all that are not for the test, and score each iterate.

    given: names of the options that are not tuned.
    """
    line = bias_line(table)
    features = table.X.shape[1] > 1 or table.Y.shape[1] > 1
    best, tried = None, list[Row]()
    if solver != BIASES:
        most = ratings_solvers.require_fits(table, solver, rank, options, line)
        if len(table.b) >= FEWEST:
            tuner = Tuner(solver, table, given, options, ending, seed, progress)
            best = tuner.search(ratings_solvers.candidate_ranks(solver, rank, most, features))
            tried = [{"rank": 0, "iterations": 1, "rmse": tuner.line_rmse}, *(result.row() for result in tuner.results)]
        elif solver == OWN:
            best = Result(Candidate(rank or min(most, 5), options), ending.max_iter, 1.0, math.nan, 1.0, 0.0)
    fit = RatingsFit(
        solver=solver,
        options=best.candidate.options if best else options,
        rank=best.candidate.rank if best else 0,
        share=best.share if best else 0.0,
        baselines=baselines(table, line),
        tried=tried,
    )
    if best:
        run = RatingsRun(table, line, solver, best.candidate.rank, best.share)
        fit.fill(run, run.entry, best.candidate.options, ending._replace(max_iter=max(1, best.iterations)), seed)
        fit.estimate = None if fit.estimate is None else run.factors(fit.estimate)
        if not plausible(fit.estimate, table, line, seed):
            best, fit.share, fit.notes = None, 0.0, (*fit.notes, IMPLAUSIBLE)
    if not best:
        run = RatingsRun(table, line, BIASES, 0)
        fit.fill(run, run.entry, {}, ending._replace(max_iter=2), seed)
    return with_model(fit, ratings, table, table.mean)


def with_model(fit: RatingsFit, ratings: Ratings, table: RatingTable, mean: float) -> RatingsFit:
    """Give a fit the model of its estimate, if it has one."""
    if fit.estimate is not None:
        # Some solvers find the rank themselves.
        fit.rank = fit.estimate.users.shape[1] - 1
        n1, n2 = ratings.table
        # Names of the test alone are no members of the model.
        factors = fit.estimate._replace(users=fit.estimate.users[:n1], items=fit.estimate.items[:n2])
        pointer = np.searchsorted(table.given.rows, np.arange(n1 + 1)).astype(np.int64)
        rated = table.given.columns.astype(np.int32)
        fit.model = RatingModel(fit.solver, fit.options, mean, factors, *members_of(ratings), pointer, rated)
    return fit


def fit_pairs(
    ratings: Ratings,
    table: RatingTable,
    solver: str,
    rank: int,
    settings: dict[str, Any],
    ending: Limits,
    seed: int,
    progress: Progress = lambda count, best: None,
) -> RatingsFit:
    """Tune weighted least squares on known pairs beside popularity, fit all that are not for the test, rank these."""
    if not ratings.alike:
        raise InputError("solver", "one of ratings that differ", solver, f"take {OWN}, or leave the ratings out")
    if solver not in (OWN, WEIGHTED):
        raise InputError("solver", f"{WEIGHTED} where all ratings are equal", solver, f"take {WEIGHTED}")
    if table.X.shape[1] + table.Y.shape[1] > 2:
        raise InputError("users and items", "left out where all ratings are equal", "features", "leave them out")
    options = settle(implicit.weighted_als, settings)
    best, tried = implicit.search(table, rank, options, set(settings), ending, seed, progress)
    pairs, last = implicit.Pairs(table, int(best["rank"])), ending._replace(max_iter=int(best["iterations"]))
    chosen = {name: best[name] for name in options if name in best}
    fit = RatingsFit(solver=WEIGHTED, options=chosen, rank=pairs.rank, tried=tried)
    fit.fill(pairs, implicit.entry(pairs.rank), chosen, last, seed)
    fit.estimate = None if fit.estimate is None else pairs.warmed(fit.estimate)
    popular = pairs.score(next(iter(implicit.popularity(pairs))).estimate)
    fit.baselines = {f"{name}_popularity": value for name, value in popular.items()} | cold(table)
    return with_model(fit, ratings, table, 0.0)


def plausible(factors: Factors | None, table: RatingTable, line: Line, seed: int) -> bool:
    """Return whether a fit differs from biases alone on random cells by no more than FAR times what these miss.

    On ratings themselves it differs by about as much as they miss. A solver that diverges where it has seen no rating
    on all of them need not have done so on the parts of them on which it was chosen.
    """
    rng = np.random.default_rng((4, seed))
    cells = [rng.integers(size, size=RANDOM_CELLS) for size in table.size]
    off = rms(table.b - line.factors.at(table.given.rows, table.given.columns))
    with np.errstate(over="ignore", invalid="ignore"):
        return factors is None or rms(factors.at(*cells) - line.factors.at(*cells)) <= FAR * off


def baselines(table: RatingTable, line: Line) -> Row:
    """Return the errors of the mean and of biases alone on the test ratings, and how many of these are cold."""
    test = table.test
    off = test.values - table.mean
    return {
        "rmse_biases": rms(off - line.factors.at(test.rows, test.columns)),
        "rmse_mean": rms(off),
        **cold(table),
    }


def cold(table: RatingTable) -> Row:
    """Return how many test ratings there are, and how many of users and of items without training ratings."""
    return {
        "test_ratings": len(table.test.values),
        "cold_user_ratings": int(table.cold_users.sum()),
        "cold_item_ratings": int(table.cold_items.sum()),
    }
