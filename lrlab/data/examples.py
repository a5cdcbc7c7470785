"""Example data of each kind: small tables of scikit-learn, and simulated ones."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lrlab.data.columns import Given
from lrlab.data.dataset import Dataset
from lrlab.data.hints import COMPLETION
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import require_known

EXAMPLE = "example:"
"""Prefix of an example's name, in place of a file."""
SEED = 32
SIMULATED = ("simulated", "simulated by lrlab, no license needed")
HERE = "as scikit-learn has it"
UCI, OPEN = f"UCI Machine Learning Repository, {HERE}", "CC BY 4.0, as the repository states"


class Example(NamedTuple):
    """The function that makes example measurements, their source and license."""

    make: Callable[[], Given]
    source: str
    license: str


def table(name: str, words: str, model: str, **options: Any) -> Given:
    """Return a table of scikit-learn: features, and a number or word per row; words, model, options as in `Given`."""
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")()
    kinds = getattr(data, "target_names", None)
    y = data.target if kinds is None else kinds[data.target]
    return Given(y, data.data, names=tuple(data.feature_names), words=words, model=model, options=options)


def wine() -> Given:
    """Return 13 standardized properties of 178 wines, without a fifth of the entries."""
    given = table("wine", "Wines: 13 properties, a fifth left out", COMPLETION)
    known = np.random.default_rng(SEED).random(given.X.shape) < 0.8
    standard = (given.X - given.X.mean(axis=0)) / given.X.std(axis=0)
    return given._replace(y=np.where(known, standard, np.nan), X=None)


def digit() -> Given:
    """Return diffraction patterns of the image of a digit behind six masks of random signs."""
    from sklearn.datasets import load_digits

    image = np.pad(load_digits().images[3], 4)
    masks = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(6, *image.shape))
    patterns = np.abs(np.fft.fft2(image * masks))
    return Given(patterns, masks, words="Diffraction patterns of a digit", model="phase-retrieval")


def bilinear_form() -> Given:
    """Return 600 measurements x^T W z with noise, W (10, 8) of rank 2."""
    rng = np.random.default_rng(SEED)
    X, Z = rng.standard_normal((600, 10)), rng.standard_normal((600, 8))
    W = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 8))
    y = np.einsum("ij,jk,ik->i", X, W, Z)
    y += 0.1 * y.std() * rng.standard_normal(600)
    names = tuple(f"x{k}" for k in range(1, 11))
    return Given(y, X, Z, names, words="A simulated bilinear form", model="rank-one-sensing")


def ratings() -> Given:
    """Return 3,000 noisy ratings of 60 movies by 120 users: means of both plus a matrix of rank 2."""
    rng = np.random.default_rng(SEED)
    n1, n2, m = 120, 60, 3000
    rows, columns = np.divmod(np.sort(rng.choice(n1 * n2, size=m, replace=False)), n2)
    U, V = 0.6 * rng.standard_normal((n1, 3)), 0.6 * rng.standard_normal((n2, 3))
    values = 3.2 + U[rows, 0] + V[columns, 0] + (U[rows, 1:] * V[columns, 1:]).sum(axis=1)
    stars = np.clip(np.round(2 * (values + 0.3 * rng.standard_normal(m))), 1, 10) / 2
    names, users = tuple(f"movie {k + 1}" for k in range(n2)), tuple(f"user {k + 1}" for k in range(n1))
    given = Given((rows, columns, stars), names=names, rows=users, options={"biases": True})
    return given._replace(words="Ratings of movies", model=COMPLETION)


def labels() -> Given:
    """Return 800 rows of 40 features with 24 labels, three per row."""
    drawn = Multilabel(n=800, d=40, labels=24, rank=4, per_row=3, noise=0.4).build()
    data = Dataset(drawn.X, drawn.Y, label_names=tuple(f"label {k + 1}" for k in range(24)))
    return Given(data, words="Rows with labels", model=Multilabel.model)


CANCER = f"Wolberg, Street, Mangasarian: Breast Cancer Wisconsin (Diagnostic), {UCI}"
LARS = f"Efron, Hastie, Johnstone, Tibshirani (2004), www4.stat.ncsu.edu/~boos/var.select/diabetes.html, {HERE}"
DIGIT = f"the image: Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, {UCI}; masks are simulated"
WINE = f"Forina et al.: Wine recognition; missing entries are simulated, {UCI}"
UNSTATED = "not stated in scikit-learn's description of it; scikit-learn itself is BSD 3-Clause"
TUMORS = "breast_cancer", "Breast cancer: benign or malignant by 30 features", "flipped-logistic"
PATIENTS = "diabetes", "Diabetes: progression by 10 features", "polynomial-network"
EXAMPLES = {
    "breast-cancer": Example(partial(table, *TUMORS), CANCER, OPEN),
    "diabetes": Example(partial(table, *PATIENTS, constant=True), LARS, UNSTATED),
    "drawn-form": Example(bilinear_form, *SIMULATED),
    "wine": Example(wine, WINE, OPEN),
    "ratings": Example(ratings, *SIMULATED),
    "labels": Example(labels, *SIMULATED),
    "digit": Example(digit, DIGIT, OPEN),
}


def example(name: str) -> Example:
    """Return an example by name; InputError for an unknown name."""
    require_known(name, EXAMPLES, what="example")
    return EXAMPLES[name]
