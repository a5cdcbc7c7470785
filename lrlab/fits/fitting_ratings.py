"""Fits a solver of inductive completion to users' own ratings, and tests it on others after every iteration."""

from dataclasses import dataclass
from typing import Any

from lrlab import catalog, datasets
from lrlab.fits.fit_result import FitResult, Row
from lrlab.fits.own_files import File, checked_options
from lrlab.models.completion import InductiveCompletion
from lrlab.models.own_rows import solver_stream
from lrlab.models.ratings_problem import RatingsProblem, aligned, rms
from lrlab.parameters import InputError
from lrlab.protocol import limits
from lrlab.runs.memory import require_memory

MODEL = InductiveCompletion.model
ITERATIONS = 20
"""Default limit of iterations."""


@dataclass(kw_only=True)
class RatingsFit(FitResult):
    """The result of a fit to ratings: a `FitResult`.

    means: rmse_mean, that of the training ratings' mean on the test ratings, and how many of those there are, of users
    and of items without training ratings.
    """

    rank: int
    means: Row

    @property
    def extra_values(self) -> dict[str, Any]:
        """The rank, and the error of the mean."""
        return {"rank": self.rank, **self.means}


def fit_ratings(
    train: File,
    test: File,
    users: File | None = None,
    items: File | None = None,
    *,
    solver: str = "altmin",
    rank: int = 0,
    iterations: int | None = None,
    seed: int = 0,
    max_seconds: float = 3600.0,
    **settings: object,
) -> RatingsFit:
    """Fit a solver of inductive completion to the ratings of one file, and test it on those of another.

    Files as for `datasets.read_ratings`: ratings `user,item,rating`, and features of users and of items; a side
    without features has none by which new members could be predicted. rank: 0 takes 5, or less where there are fewer
    features. iterations: the most there are, 20 unless given. settings: the solver's options.
    Scores: `rmse` on the test ratings, also for users and items without training ratings, and `train_rmse`.
    InputError where a file, a setting or a size is wrong.
    """
    options = checked_options(MODEL, solver, settings)
    ending = limits({"max_iter": ITERATIONS if iterations is None else iterations, "max_seconds": max_seconds})
    training, fresh = (datasets.read_ratings(path, users, items) for path in (train, test))
    given, wanted, table = aligned(training, fresh)
    problem = RatingsProblem(given, wanted, training.X, training.Y, table, rank)
    entry = catalog.solver(solver, MODEL)
    try:
        entry.refuse(problem.drawn_alike, options)
    except InputError as error:
        if error.name == "features":
            # There are no features to be set here, only files of them.
            raise InputError("solver", "one that uses features, as they are given", solver, "take altmin") from None
        raise
    require_memory(problem.drawn_alike, entry, options)
    means = {
        "rmse_mean": rms(problem.test.values - problem.mean),
        "test_ratings": len(problem.test.values),
        "cold_user_ratings": int(problem.cold_users.sum()),
        "cold_item_ratings": int(problem.cold_items.sum()),
    }
    fitted = RatingsFit(solver=solver, options=options, rank=problem.rank, means=means)
    fitted.fill(entry.run(problem, **options, rng=solver_stream(seed)), problem.score, ending)
    return fitted
