"""Compares estimators for your measurements with scikit-learn, on the examples and on simulated measurements.

python -m benchmarks.own_measurements [--seeds 5] [--write]

Responses: mean log loss, beside scikit-learn's logistic regression on standardized columns. Forms: root mean squared
error relative to predicting the mean, beside ridge regression on all products of columns, its penalty by
cross-validation. Matrices: root mean squared error of held-out entries relative to column means, beside
IterativeImputer and KNNImputer. A third of the rows, or a fifth of the observed entries, is held out. The table has
means over seeds of split and simulation. --write puts it into the documentation.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import lrlab
from lrlab.arrays import Array
from lrlab.data.examples import example

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "estimators.md"
START, END = "<!-- baselines -->", "<!-- end of baselines -->"
FIRST_SEED = 610_000
Scores = dict[str, float]


def drawn_answers(seed: int, hump: bool) -> tuple[Array, Array]:
    """Return 900 answers to 10 columns: logistic along a direction, or with a hump."""
    rng = np.random.default_rng(seed)
    X, b = rng.standard_normal((900, 10)) @ rng.standard_normal((10, 10)), rng.standard_normal(10)
    index = X @ b / (X @ b).std()
    chance = 0.05 + 0.9 * np.exp(-2.0 * index**2) if hump else 1.0 / (1.0 + np.exp(-2.0 * index))
    return X * 10.0 ** rng.uniform(-2, 2, 10), (rng.random(900) < chance).astype(int)


def drawn_form(seed: int, *, symmetric: bool, m: int = 400) -> tuple[Array, Array]:
    """Return measurements x^T W z or x^T L x of rank 2 with a tenth of noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 24))
    U, V = rng.standard_normal((12, 2)), rng.standard_normal((12, 2))
    y = ((X[:, :12] @ U) * (X[:, 12:] @ V)).sum(axis=1)
    if symmetric:
        y = ((X @ np.vstack([U, V])) ** 2) @ np.array([1.0, -1.0])
    return X, y + 0.1 * y.std() * rng.standard_normal(m)


def drawn_table(seed: int) -> Array:
    """Return a table (120, 40) of rank 3 with noise, of which half is known."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 40)) + 0.3 * rng.standard_normal((120, 40))
    return np.where(rng.random(table.shape) < 0.5, table, np.nan)


def answers(X: Array, y: Array, seed: int) -> Scores:
    """Return held-out log losses."""
    A, B, a, b = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
    peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(A, a)
    own = lrlab.SingleIndexClassifier().fit(A, a)
    return {name: log_loss(b, one.predict_proba(B)) for name, one in (("lrlab", own), ("LogisticRegression", peer))}


def forms(X: Array, y: Array, seed: int, own: Any) -> Scores:
    """Return held-out errors relative to the mean."""
    A, B, a, b = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    products = PolynomialFeatures(2, include_bias=False)
    ridge = make_pipeline(StandardScaler(), products, StandardScaler(), RidgeCV(np.logspace(-3, 5, 17)))
    own = make_pipeline(StandardScaler(), own)
    base = np.sqrt(np.mean((b - a.mean()) ** 2))
    named = {"lrlab": own, "quadratic ridge": ridge}
    return {name: float(np.sqrt(np.mean((one.fit(A, a).predict(B) - b) ** 2)) / base) for name, one in named.items()}


def table(given: Array, seed: int) -> Scores:
    """Return errors of entries left out, relative to the means of columns."""
    known = np.argwhere(~np.isnan(given))
    out = tuple(known[np.random.default_rng(seed).permutation(len(known))[: len(known) // 5]].T)
    rest = given.copy()
    rest[out] = np.nan
    base = np.sqrt(np.mean((given[out] - np.nanmean(rest, axis=0)[out[1]]) ** 2))
    named = {
        "lrlab": lrlab.LowRankImputer(),
        "IterativeImputer": IterativeImputer(random_state=0, max_iter=20),
        "KNNImputer": KNNImputer(),
    }
    return {
        name: float(np.sqrt(np.mean((one.fit_transform(rest) - given)[out] ** 2)) / base) for name, one in named.items()
    }


def given_of(name: str) -> Any:
    """Return the measurements of an example."""
    return example(name).make()


def cases() -> Mapping[str, Callable[[int], Scores]]:
    """Return what is compared, by name: scores for a seed."""
    cancer, diabetes, wine = (given_of(name) for name in ("breast-cancer", "diabetes", "wine"))
    network, bilinear = lrlab.QuadraticNetworkRegressor, lrlab.BilinearRegressor
    return {
        "breast cancer, log loss": lambda seed: answers(cancer.X, cancer.y, seed),
        "simulated, logistic, log loss": lambda seed: answers(*drawn_answers(seed, False), seed),
        "simulated, a hump, log loss": lambda seed: answers(*drawn_answers(seed, True), seed),
        "diabetes, error": lambda seed: forms(diabetes.X, diabetes.y, seed, network()),
        "simulated network, error": lambda seed: forms(*drawn_form(seed, symmetric=True), seed, network()),
        "simulated bilinear form, error": lambda seed: forms(
            *drawn_form(seed, symmetric=False), seed, bilinear(first=12, constant=False)
        ),
        "wine with missing entries, error": lambda seed: table(wine.y, seed),
        "simulated matrix with missing entries, error": lambda seed: table(drawn_table(seed), seed),
    }


def rows(seeds: int) -> list[str]:
    """Return the lines of the table."""
    lines = ["| measurements | lrlab | baselines |", "|---|---|---|"]
    for name, score in cases().items():
        each = [score(FIRST_SEED + k) for k in range(seeds)]
        means = {who: float(np.mean([one[who] for one in each])) for who in each[0]}
        baselines = ", ".join(f"{who} {mean:.3f}" for who, mean in means.items() if who != "lrlab")
        lines.append(f"| {name} | {means['lrlab']:.3f} | {baselines} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the table, and write it into the documentation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    lines = rows(options.seeds)
    if options.write:
        text = PAGE.read_text()
        head, _, rest = text.partition(START)
        PAGE.write_text("\n".join([f"{head}{START}", "", *lines, "", f"{END}{rest.partition(END)[2]}"]))


if __name__ == "__main__":
    main()
