"""Synthetic rows of the shape of a published data set, for whoever does not have the set itself."""

from lrlab.datasets.dataset import Dataset
from lrlab.datasets.published import SHAPES
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.runs.memory import GIB, memory_limit

MOST_BYTES = 2**25
"""Memory of the features; of larger sets as many rows are drawn as take no more."""
SPARSE = 0.3
"""Share of the features that is not 0 above which they are drawn dense."""
RANK, NOISE = 20, 1.0
"""Of the scores that labels are drawn by; the rank is at most half of the largest one."""


def stand_in(name: str, seed: int) -> tuple[Dataset, Dataset]:
    """Return rows to learn from and to test on, with the set's numbers of features, labels and both per row.

    They are as many as the set has, or fewer in the same proportion. Nothing else is that of the set. InputError where
    there is no memory for them.
    """
    spec, n = stand_in_spec(name, seed)
    if spec.data_bytes > memory_limit():
        expected, size = f"at most {memory_limit() / GIB:.1f} GiB", f"{spec.data_bytes / GIB:.1f} GiB"
        raise InputError("memory", f"{expected} for synthetic rows of the shape of {name}", size, "get the set itself")
    drawn = spec.build()
    return Dataset(drawn.X[:n], drawn.Y[:n]), Dataset(drawn.X[n:], drawn.Y[n:])


def stand_in_spec(name: str, seed: int) -> tuple[Multilabel, int]:
    """Return the spec of all rows of a stand-in, and how many of them are to learn from."""
    shape = SHAPES[name]
    share = shape.features_per_row / shape.features
    row_bytes = 8 * shape.features if share > SPARSE else 26 * shape.features_per_row
    kept = min(1.0, MOST_BYTES / (row_bytes * (shape.rows + shape.test_rows)))
    n, test = (max(2, round(kept * rows)) for rows in (shape.rows, shape.test_rows))
    most = max(1, min(shape.features, shape.labels) // 2)
    spec = Multilabel(
        n=n + test, d=shape.features, labels=shape.labels, rank=min(RANK, most), per_row=round(shape.labels_per_row),
        density=1.0 if share > SPARSE else share, noise=NOISE, seed=seed,
    )  # fmt: skip
    return spec, n
