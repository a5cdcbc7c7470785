"""Fits to own ratings as tasks for workers."""

from contextlib import ExitStack
from typing import NamedTuple

from lrlab.fits.fitting_ratings import fit_ratings
from lrlab.fits.ratings_fit import RatingsFit
from lrlab.models.own_rows import stored


class RatingsTask(NamedTuple):
    """A solver on files, each given by its path or by itself as text (`own_rows.packed`), "" for none."""

    train: str
    test: str
    users: str
    items: str
    solver: str
    rank: int
    iterations: int | None
    max_seconds: float
    seed: int


def run_task(task: RatingsTask) -> RatingsFit:
    """Return the fit of a task, whose estimate stays in its model alone."""
    with ExitStack() as files:
        train, test, users, items = (files.enter_context(stored(text)) if text else None for text in task[:4])
        assert train is not None
        result = fit_ratings(
            train,
            test,
            users,
            items,
            solver=task.solver,
            rank=task.rank,
            iterations=task.iterations,
            seed=task.seed,
            max_seconds=task.max_seconds,
        )
    result.estimate = None
    return result
