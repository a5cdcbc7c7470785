"""Examples of own measurements that come with the lab: small tables of scikit-learn, and drawn ones, by kind."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lrlab.data.columns import Given
from lrlab.data.dataset import Dataset
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import require_known

SEED = 32
NOT_STATED = "not stated in scikit-learn's description of it; scikit-learn itself is BSD 3-Clause"
DRAWN = "drawn by the lab, no licence needed"
UCI, OPEN = "UCI Machine Learning Repository, as scikit-learn has it", "CC BY 4.0, as the repository states"


class Example(NamedTuple):
    """Measurements that are one click away: their kind, model and options, where they come from, what makes them."""

    title: str
    kind: str
    model: str
    source: str
    licence: str
    make: Callable[[], Given]
    options: Mapping[str, Any] = {}


def breast_cancer() -> Given:
    """Return 30 features of 569 cell nuclei, and whether they are benign."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return Given(data.target_names[data.target], data.data, names=tuple(data.feature_names))


def diabetes() -> Given:
    """Return 10 features of 442 patients, and the progression of their disease in a year."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    return Given(data.target, data.data, names=tuple(data.feature_names))


def wine() -> Given:
    """Return 13 properties of 178 wines in units of their deviations, a fifth of the entries left out."""
    from sklearn.datasets import load_wine

    data = load_wine()
    table = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    known = np.random.default_rng(SEED).random(table.shape) < 0.8
    return Given(np.where(known, table, np.nan), names=tuple(data.feature_names))


def digit() -> Given:
    """Return diffraction patterns of the picture of a digit behind six masks of random signs."""
    from sklearn.datasets import load_digits

    image = np.pad(load_digits().images[3], 4)
    masks = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(6, *image.shape))
    return Given(np.abs(np.fft.fft2(image * masks)), masks)


def drawn_answers() -> Given:
    """Return 1,000 answers to 8 correlated columns of any scale; the chance of a yes rises and falls again."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((1000, 8)) @ rng.standard_normal((8, 8))
    index = X @ rng.standard_normal(8)
    index = index / index.std()
    y = np.where(rng.random(1000) < 0.05 + 0.9 * np.exp(-2.0 * (index - 0.5) ** 2), "yes", "no")
    return Given(y, X * 10.0 ** rng.uniform(-2, 2, 8) + 50.0, names=tuple(f"column {k}" for k in range(1, 9)))


def drawn_form() -> Given:
    """Return 600 measurements x^T W z with noise, W (10, 8) of rank 2."""
    rng = np.random.default_rng(SEED)
    X, Z = rng.standard_normal((600, 10)), rng.standard_normal((600, 8))
    W = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 8))
    y = np.einsum("ij,jk,ik->i", X, W, Z)
    return Given(y + 0.1 * y.std() * rng.standard_normal(600), X, Z, tuple(f"x{k}" for k in range(1, 11)))


def drawn_table() -> Given:
    """Return a table (80, 40) of rank 3 with noise, of which half is known."""
    rng = np.random.default_rng(SEED)
    table = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 40)) + 0.1 * rng.standard_normal((80, 40))
    return Given(np.where(rng.random(table.shape) < 0.5, table, np.nan))


def drawn_magnitudes() -> Given:
    """Return magnitudes |A x| of a complex signal of 32 entries by 256 random vectors."""
    rng = np.random.default_rng(SEED)
    A = rng.standard_normal((256, 32)) + 1j * rng.standard_normal((256, 32))
    x = rng.standard_normal(32) + 1j * rng.standard_normal(32)
    return Given(np.abs(A @ x), A)


def ratings() -> Given:
    """Return 3,000 ratings of 60 films by 120 people, of rank 2 beside means of both, with noise."""
    rng = np.random.default_rng(SEED)
    n1, n2, m = 120, 60, 3000
    rows, columns = np.divmod(np.sort(rng.choice(n1 * n2, size=m, replace=False)), n2)
    U, V = 0.6 * rng.standard_normal((n1, 3)), 0.6 * rng.standard_normal((n2, 3))
    values = 3.2 + U[rows, 0] + V[columns, 0] + (U[rows, 1:] * V[columns, 1:]).sum(axis=1)
    stars = np.clip(np.round(2 * (values + 0.3 * rng.standard_normal(m))), 1, 10) / 2
    names, people = tuple(f"film {k + 1}" for k in range(n2)), tuple(f"person {k + 1}" for k in range(n1))
    return Given((rows, columns, stars), names=names, rows=people)


def labels() -> Given:
    """Return 800 rows of 40 features with 24 labels, three per row."""
    drawn = Multilabel(n=800, d=40, labels=24, rank=4, per_row=3, noise=0.4).build()
    names = tuple(f"label {k + 1}" for k in range(24))
    return Given(Dataset(drawn.X, drawn.Y, label_names=names))


ANSWERS, FORMS, TABLE, MAGNITUDES = "answers", "forms", "table", "magnitudes"
NETWORK = "polynomial-network"
EXAMPLES: Mapping[str, Example] = {
    "breast-cancer": Example(
        "Breast cancer: benign or malignant by 30 features",
        ANSWERS,
        "flipped-logistic",
        f"Wolberg, Street, Mangasarian: Breast Cancer Wisconsin (Diagnostic), {UCI}",
        OPEN,
        breast_cancer,
    ),
    "drawn-answers": Example("Drawn answers with a hump", ANSWERS, "flipped-logistic", "drawn", DRAWN, drawn_answers),
    "diabetes": Example(
        "Diabetes: progression by 10 features",
        FORMS,
        NETWORK,
        "Efron, Hastie, Johnstone, Tibshirani (2004), www4.stat.ncsu.edu/~boos/var.select/diabetes.html, "
        "as scikit-learn has it",
        NOT_STATED,
        diabetes,
        {"constant": True},
    ),
    "drawn-form": Example("A drawn bilinear form", FORMS, "rank-one-sensing", "drawn", DRAWN, drawn_form),
    "wine": Example(
        "Wines: 13 properties, a fifth left out",
        TABLE,
        "inductive-completion",
        f"Forina et al.: Wine recognition, {UCI}; the gaps are drawn",
        OPEN,
        wine,
    ),
    "ratings": Example("Ratings of films", TABLE, "inductive-completion", "drawn", DRAWN, ratings, {"biases": True}),
    "labels": Example("Rows with labels", "labels", "multilabel", "drawn", DRAWN, labels),
    "drawn-table": Example("A drawn table", TABLE, "inductive-completion", "drawn", DRAWN, drawn_table),
    "digit": Example(
        "Diffraction patterns of a digit",
        MAGNITUDES,
        "phase-retrieval",
        f"the picture: Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, {UCI}; masks are drawn, patterns "
        "computed",
        OPEN,
        digit,
    ),
    "drawn-magnitudes": Example("Drawn magnitudes", MAGNITUDES, "phase-retrieval", "drawn", DRAWN, drawn_magnitudes),
}


def example(name: str) -> Example:
    """Return an example; InputError where there is none of this name."""
    require_known(name, EXAMPLES, what="example")
    return EXAMPLES[name]
