"""Fits a solver to users' own multi-label files, tuned if required, and tests it after every iteration."""

from typing import Any

from lrlab import datasets
from lrlab.fits.estimator import LabelEstimator
from lrlab.fits.fit_result import Following
from lrlab.fits.metrics import METRIC
from lrlab.fits.own_files import File, read, require_rank
from lrlab.fits.row_fit import fit_rows
from lrlab.fits.settings import fit_settings
from lrlab.fits.tuning import Progress, Tuned, tune_rows


def fit(
    train: File,
    test: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    intercept: bool = True,
    scaling: str = "auto",
    seed: int = 0,
    max_seconds: float = 3600.0,
    tune_by: str = "",
    compared: bool = True,
    limit: int = 0,
    file_format: str = "",
    areas: bool | None = None,
    progress: Progress = lambda count, best: None,
    following: Following = lambda iteration, iterations, seconds: None,
    **settings: object,
) -> LabelEstimator:
    """Fit a multi-label solver to the rows of one file, and test it on those of another after every iteration.

    labels: as for `datasets.read`. rank: 0 takes half of what is possible, at most 100. iterations: the most there are,
    5 unless given. observed: share of the known training labels that the solver observes, drawn with the seed.
    intercept: whether each label has one, which nothing penalises. scaling: of features, one of `scaling.SCALINGS`.
    settings: the solver's options. tune_by: a metric of `validation.METRICS`; rank and regularization, unless they are
    given, and the number of iterations (at most `iterations`, or 10) are then chosen as by `tune`, and all rows are
    fitted with these.
    compared: whether label frequencies and full rank, a ridge regression, are scored on the same rows, too.
    Scores: precision@1, @3, @5 in percent, ndcg@3, @5, hamming, auc (a mean over `auc_rows` rows that have labels of
    both kinds); of the last iteration, if areas, also micro_auc and macro_auc (a mean over `auc_labels` labels); by
    default where they sort no more than 10^8 scores. limit: how many rows of each file are read, the first ones; 0
    takes all. file_format: of both files, one of `datasets.FORMATS`, where their suffixes do not say it.
    progress(settings tried, best score) and following(iteration, most iterations, seconds of the solver) are called as
    the fit goes on.
    Returns an estimator of scikit-learn that has the attributes of a `row_fit.Fit`, too.
    InputError where a file, a setting or a size is wrong, or where memory does not suffice.
    """
    own: dict[str, Any] = dict(settings)
    estimator = LabelEstimator(
        solver,
        rank=rank,
        iterations=iterations,
        intercept=intercept,
        regularization=own.pop("regularization", None),
        feature_scaling=scaling,
        tune_by=tune_by,
        seed=seed,
        max_seconds=max_seconds,
        settings=own or None,
    )
    checked = estimator.checked()
    training = read(train, labels, observed, seed, limit, file_format)
    fresh = datasets.read(test, labels, like=training, limit=limit, file_format=file_format)
    return estimator.take(
        fit_rows(training, fresh, checked, compared=compared, areas=areas, progress=progress, following=following)
    )


def tune(
    train: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    intercept: bool = True,
    scaling: str = "auto",
    seed: int = 0,
    max_seconds: float = 3600.0,
    metric: str = METRIC,
    progress: Progress = lambda count, best: None,
    **settings: object,
) -> Tuned:
    """Choose rank, regularisation and number of iterations on rows of a file that are held out.

    A fifth of the rows is held out, drawn with the seed and the same for all solvers, and where that is less than 500
    rows up to four further ones in turn, whose scores are averaged; of their labels only those
    count that are known and, where `observed` is less than 1, drawn. A given rank or `regularization` is not tuned.
    max_seconds: of each run. The other parameters are as for `fit`.
    """
    checked = fit_settings(
        solver,
        settings,
        rank=rank,
        iterations=iterations,
        max_seconds=max_seconds,
        metric=metric,
        scaling=scaling,
        intercept=intercept,
        seed=seed,
    )
    rows = read(train, labels, observed, seed)
    require_rank(checked.rank, rows)
    return tune_rows(rows, checked, progress)
