"""Measures the tuning of label fits: on drawn sets by each metric, and on sets of a folder beside ridge regressions.

    PYTHONPATH=. python benchmarks/tuning.py [--sets 20] [--first 1000] [--metrics ndcg@5 auc] [--data DIR NAME ...]

Drawn sets have 150 to 800 rows, 8 to 60 features with offsets and units of their own, dense or sparse, and 4 to 40
labels that are on in 1% to 60% of the rows, or a few per row. For each the Hamming loss of test rows where a metric
chooses, less that where Hamming loss itself does; the share with at most .01; the largest weight chosen. For a set of a
folder, test AUC and precision@5 by seed of the split, beside those of ridge regressions with intercepts.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from lrlab import datasets, ranking
from lrlab.datasets import Dataset
from lrlab.datasets.published import located
from lrlab.fits.estimator import LabelEstimator
from lrlab.fits.row_fit import Fit, fit_rows

WEIGHTS = (1.0, 10.0, 100.0)
"""Of ridge regressions shown for comparison."""


def drawn(seed: int) -> tuple[Dataset, Dataset]:
    """Return training and test rows of a random shape."""
    rng = np.random.default_rng(seed)
    n, d, L = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((150, 800), (8, 60), (4, 40)))
    rank = int(rng.integers(1, 1 + min(d, L) // 2))
    Z = rng.standard_normal((n + 1000, d))
    scores = Z @ rng.standard_normal((d, rank)) @ rng.standard_normal((rank, L)) / np.sqrt(d * rank)
    scores += np.exp(rng.uniform(np.log(0.2), np.log(2.0))) * rng.standard_normal(scores.shape)
    if rng.random() < 0.5:
        shares = np.geomspace(0.01, rng.uniform(0.2, 0.6), L)
        Y = scores > np.quantile(scores, 1 - shares, axis=0).diagonal()
    else:
        count = max(1, L // 8)
        Y = scores >= np.sort(scores, axis=1)[:, -count][:, None]
    X = Z * 10.0 ** rng.uniform(-2, 2, d) + 10.0 ** rng.uniform(-1, 2, d) * (rng.random() < 0.5)
    if rng.random() < 0.3:
        X = csr_array(X * (rng.random(X.shape) < 0.4))
    table = csr_array(Y.astype(float))
    return Dataset(X[:n], table[:n]), Dataset(X[n:], table[n:])


def tuned(train: Dataset, test: Dataset, solver: str, metric: str, seed: int = 0) -> Fit:
    """Return a fit tuned by a metric."""
    settings = LabelEstimator(solver, tune_by=metric, seed=seed, max_seconds=60).checked()
    return fit_rows(train, test, settings)


def show_drawn(seeds: Sequence[int], metrics: Sequence[str], solver: str) -> None:
    """Print a line for each drawn set, and the summary."""
    gaps, weights = {metric: list[float]() for metric in metrics}, list[float]()
    for seed in seeds:
        train, test = drawn(seed)
        best = tuned(train, test, solver, "hamming").rows[-1]["hamming"]
        words = [f"seed {seed}: n {train.n} d {train.d} L {train.L}: hamming {best:.4f}"]
        for metric in metrics:
            fit = tuned(train, test, solver, metric)
            chosen = fit.tuned.chosen.candidate if fit.tuned else None
            gaps[metric].append(fit.rows[-1]["hamming"] - best)
            weights.append(float(chosen.regularization or 0) if chosen else 0.0)
            words.append(f"{metric} {gaps[metric][-1]:+.4f} ({chosen.scaling if chosen else ''} {weights[-1]:g})")
        print("  ".join(words), flush=True)
    for metric, values in gaps.items():
        within = sum(value <= 0.01 for value in values)
        print(f"{metric}: {within} of {len(values)} within .01 of tuning for Hamming loss, worst {max(values):.4f}")
    print(f"largest weight {max(weights):g}")


def show_ridge(folder: str, names: Sequence[str], metrics: Sequence[str], seeds: Sequence[int], solver: str) -> None:
    """Print test scores of tuned fits to sets of a folder, and those of ridge regressions."""
    for name, files in located(folder, tuple(names)).items():
        train = datasets.read(files.train, files.labels)
        test = datasets.read(files.test, files.labels, like=train)
        if isinstance(train.X, np.ndarray):
            scaler = StandardScaler().fit(train.X)
            X, X_test = scaler.transform(train.X), scaler.transform(test.X)
            for weight in WEIGHTS:
                scores = Ridge(weight).fit(X, train.Y.toarray()).predict(X_test)
                print(f"{name}: ridge, weight {weight:g}: AUC {ranking.instance_auc(scores, test.Y).value:.4f}")
        for metric in metrics:
            for seed in seeds:
                fit = tuned(train, test, solver, metric, seed)
                last, chosen = fit.rows[-1], fit.tuned.chosen if fit.tuned else None
                about = f"{chosen.candidate}, {chosen.iterations} iterations" if chosen else ""
                scores = "  ".join(f"{key} {last[key]:.4f}" for key in ("auc", "ndcg@5", "precision@5", "hamming"))
                print(f"{name}: {solver} by {metric}, seed {seed}: {scores}  {about}", flush=True)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--metrics", nargs="+", default=["ndcg@5", "auc"])
    parser.add_argument("--solver", default="leml-squared")
    parser.add_argument("--data", nargs="+", metavar="DIR NAME", default=[])
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.sets)
    if options.data:
        show_ridge(options.data[0], options.data[1:], options.metrics, seeds, options.solver)
    else:
        show_drawn(seeds, options.metrics, options.solver)


if __name__ == "__main__":
    main()
