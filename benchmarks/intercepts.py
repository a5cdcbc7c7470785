"""Measures what intercepts change: test scores of a solver with them less those without, on random splits of a set.

    PYTHONPATH=. python benchmarks/intercepts.py DIR NAME [SOLVER] [SPLITS] [OPTION=VALUE ...]

The first line is the published split, with the standard error of each difference over its test rows; the others have
as many training rows, drawn from all. Features are taken as they are, five iterations. At the end the mean
difference over the random splits and its standard error. All in points (percent). Of binary relevance, ridge
regression by default, scikit-learn's own scores on the published split come first, without and with an intercept.
"""

import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.linear_model import Ridge

from lrlab import catalog, datasets, ranking
from lrlab.arrays import Array
from lrlab.datasets import Dataset
from lrlab.datasets.published import located
from lrlab.fits.own_files import default_rank
from lrlab.models.own_rows import OwnProblem, solver_stream
from lrlab.parameters import settle

ITERATIONS, PLACES = 5, (1, 3, 5)


def splits(folder: str, name: str, count: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield the published split of a set of a folder, then random ones of the same sizes."""
    files = located(folder, (name,))[name]
    train = datasets.read(files.train, files.labels)
    test = datasets.read(files.test, files.labels, like=train)
    yield train, test
    X, Y = (csr_array(vstack([csr_array(a), csr_array(b)])) for a, b in ((train.X, test.X), (train.Y, test.Y)))
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(X.indptr) - 1)
        learnt, held = np.sort(order[: train.n]), np.sort(order[train.n :])
        yield Dataset(X[learnt], Y[learnt]), Dataset(X[held], Y[held])


def scores(train: Dataset, test: Dataset, solver: str, given: dict[str, str], intercept: bool) -> Array:
    """Return the test rows' precision at 1, 3 and 5 and their AUC (n_test, 4) in percent; nan where it has none."""
    problem = OwnProblem.between(train, test, default_rank(train), intercept=intercept)
    run = catalog.solver(solver, "multilabel").run
    iterates = run(problem, **settle(run, given), rng=solver_stream(0))
    estimate = list(islice(iterates, ITERATIONS))[-1].estimate
    return by_row(ranking.rows_of(estimate.scores(problem.X_test), slice(None)), test)


def ridge_scores(train: Dataset, test: Dataset, given: dict[str, str], intercept: bool) -> Array:
    """Return the same of scikit-learn's Ridge, at the weight of `given`, 10 by default."""
    model = Ridge(alpha=float(given.get("regularization", 10.0)), fit_intercept=intercept)
    return by_row(model.fit(train.X.toarray(), train.Y.toarray()).predict(test.X.toarray()), test)


def by_row(S: Array, test: Dataset) -> Array:
    """Return the metrics of scores S (n_test, L)."""
    on = test.Y.toarray() > 0
    best = np.take_along_axis(on, np.argsort(-S, axis=1)[:, : max(PLACES)], axis=1)
    areas = [ranking.instance_auc(S[[i]], test.Y[[i]]).value for i in range(test.n)]
    return 100 * np.column_stack([*(best[:, :k].mean(axis=1) for k in PLACES), areas])


def main(folder: str, name: str, solver: str = "binary-relevance", count: str = "10", *given: str) -> None:
    """Print a line for each split, and the means."""
    options, means = dict(one.split("=") for one in given), []
    print("                precision@1     precision@3     precision@5     AUC")
    for number, (train, test) in enumerate(splits(folder, name, int(count))):
        if not number and solver == "binary-relevance":
            for flag in (False, True):
                values = np.nanmean(ridge_scores(train, test, options, flag), axis=0)
                print(f"Ridge(fit_intercept={flag}), published:", *(f"{value:.2f}" for value in values))
        without, having = (scores(train, test, solver, options, flag) for flag in (False, True))
        change = having - without
        rows = np.isfinite(change).sum(axis=0)
        mean, error = np.nanmean(change, axis=0), np.nanstd(change, axis=0) / np.sqrt(rows)
        print(f"{'published' if not number else f'split {number}':<12}", *show(mean, error), flush=True)
        means += [mean] if number else []
    if means:
        print(f"{'mean':<12}", *show(np.mean(means, axis=0), np.std(means, axis=0, ddof=1) / np.sqrt(len(means))))


def show(values: Array, errors: Array) -> list[str]:
    """Return values and their standard errors as words."""
    return [f"{value:+7.2f} ({error:.2f}) " for value, error in zip(values, errors, strict=True)]


if __name__ == "__main__":
    main(*sys.argv[1:])
