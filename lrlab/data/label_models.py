"""Models of labels: a solver's estimate for rows in your units, saved as numpy's .npz without pickles.

A file has arrays `lrlab_model` (version of the format), `kind` (class of the estimate), `sizes` (number of features,
number of labels, first index of each in files, 1 for sparse features), `feature_names` and `label_names` if known,
`estimate_...` (arrays of the estimate), and `scaling` and `units` of the features.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix, Vector
from lrlab.data.arrays import LARGEST
from lrlab.data.dataset import Dataset, in_units
from lrlab.data.files import COLUMN_BYTES, LIMIT_BYTES, Source, names_of, read_arrays
from lrlab.lowrank import LowRank, rows_of
from lrlab.models.multilabel_problem import Predictor
from lrlab.parameters import InputError
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.label_losses import Signed
from lrlab.solvers.multilabel.predictors import Affine, KernelRank

VERSION = 2
KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (LowRank, Signed, Affine, KernelRank, Compressed)}
"""Classes of estimates that a file can name; lrlab constructs no other class from a file."""
ESTIMATE, LISTS = "estimate_", ("feature_names", "label_names")
PARTS = ("lrlab_model", "kind", "sizes", "scaling", "units", *LISTS)


@dataclass(frozen=True, eq=False)
class LabelModel:
    """A predictor of labels for your rows (n, d): the estimate of a solver, and the units of features before it.

    columns: the columns of its training samples, a Dataset without rows.
    """

    estimate: Predictor = field(repr=False)
    units: Array = field(repr=False)
    columns: Dataset = field(repr=False)

    @property
    def threshold(self) -> float:
        """The score above which the model assigns a label."""
        return self.estimate.threshold

    def scores(self, X: Matrix) -> Array:
        """Return the scores (n, L) of unscaled rows X (n, d)."""
        return rows_of(self.estimate.scores(in_units(X, self.units)), slice(None))

    def predict(self, X: Matrix, k: int) -> pd.DataFrame:
        """Return the k best labels of each row: `row`, `place` (both from 1), `label`, `score`, `predicted`."""
        scores = self.scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rows, places = (index.ravel() + 1 for index in np.indices(order.shape))
        best = np.take_along_axis(scores, order, axis=1).ravel()
        labels, predicted = np.array(self.columns.names)[order].ravel(), best > self.threshold
        return pd.DataFrame({"row": rows, "place": places, "label": labels, "score": best, "predicted": predicted})

    def arrays(self) -> dict[str, Vector]:
        """Return the arrays of a file; InputError if a file cannot hold this estimate."""
        columns, kind = self.columns, type(self.estimate).__name__
        if kind not in KINDS:
            raise InputError("estimate", f"one of {', '.join(KINDS)} to be saved", kind, "take another solver")
        return {
            **{"lrlab_model": np.array(VERSION), "kind": np.array(kind)},
            **{"scaling": np.array("deviations" if self.units.size else "none"), "units": self.units},
            "sizes": np.array([columns.d, columns.L, *columns.counts_from, issparse(columns.X)]),
            **{name: np.array(words) for name in LISTS if (words := getattr(columns, name)) is not None},
            **{ESTIMATE + name: part for name, part in self.estimate.arrays().items()},
        }


def save_model(path: str | PathLike[str] | IO[bytes], model: LabelModel) -> None:
    """Write a model so that `load_model` returns the same one."""
    np.savez_compressed(path, allow_pickle=False, **model.arrays())


def load_model(path: str | PathLike[str]) -> LabelModel:
    """Read a model; one InputError for a foreign, newer or damaged file, or one beyond the limit of memory."""
    source = Source(Path(path), "model .npz")
    arrays = read_arrays(source, lambda name: name in PARTS or name.startswith(ESTIMATE))
    with source.whole("a model of this version that `fit --save` has written", "fit and save it again"):
        if (version := str(arrays.get("lrlab_model", "unknown"))) != str(VERSION):
            raise ValueError(f"version {version}")
        if str(arrays.get("scaling")) == "rows":
            raise ValueError("scaling by rows, which lrlab no longer supports")
        if arrays["sizes"].shape != (5,):
            raise ValueError("sizes that no model has")
        d, L, feature, label, is_sparse = map(int, arrays["sizes"])
        if not (0 < d < 2**31 and 0 < L < 2**31) or COLUMN_BYTES * (d + L) > LIMIT_BYTES:
            raise ValueError(f"sizes {d} and {L} beyond the limit of memory")
        parts = {name.removeprefix(ESTIMATE): part for name, part in arrays.items() if name.startswith(ESTIMATE)}
        for name, part in parts.items():
            if part.dtype.kind not in "fiub" or not (np.abs(part.astype(float)) <= LARGEST).all():
                raise ValueError(f"{name}, an estimate of other than numbers below {LARGEST:g}")
        if arrays["units"].shape not in ((0,), (d,)) or not (arrays["units"] > 0).all():
            raise ValueError(f"{arrays['units'].size} units for {d} features")
        row = csr_array((1, d)) if is_sparse else np.zeros((1, d))
        names, label_names = (names_of(arrays, name) for name in LISTS)
        columns = Dataset(row[:0], csr_array((0, L)), None, names, label_names, (feature, label))
        model = LabelModel(KINDS[str(arrays["kind"])].restored(parts), arrays["units"], columns)
        # Scoring an empty row fails unless all parts fit each other.
        scores = model.scores(row)
        if scores.shape != (1, L) or not np.isfinite(scores).all():
            raise ValueError(f"scores of a shape {scores.shape} for {L} labels")
        return model
