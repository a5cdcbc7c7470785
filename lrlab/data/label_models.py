"""Saves fitted multi-label solvers, which predict labels of new rows, as numpy's .npz without pickles.

A file has arrays `lrlab_model` (version of the format), `solver`, `options` (JSON), `kind` (class of the estimate),
`sizes` (number of features, number of labels, first index of each in files, 1 for sparse features), `feature_names`
and `label_names` if known, `estimate_...` (arrays of the estimate), and `scaling` and `units` of the features.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from lrlab import ranking
from lrlab.arrays import Array, Matrix
from lrlab.data.arrays import LARGEST
from lrlab.data.dataset import Dataset
from lrlab.data.files import COLUMN_BYTES, LIMIT_BYTES, Source
from lrlab.data.npz import names_arrays, names_of, read_arrays
from lrlab.data.rows import read
from lrlab.data.scaling import SCALINGS, Scaling
from lrlab.lowrank import LowRank
from lrlab.models.multilabel_problem import Predictor
from lrlab.parameters import InputError
from lrlab.solvers.multilabel.affine import Affine
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.kernel_rank import KernelRank
from lrlab.solvers.multilabel.label_losses import Signed

VERSION = 2
KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (LowRank, Signed, Affine, KernelRank, Compressed)}
"""Classes of estimates that a file can name; lrlab constructs no other class from a file."""
ESTIMATE = "estimate_"
PARTS = ("lrlab_model", "solver", "options", "kind", "sizes", "feature_names", "label_names", "scaling", "units")
WHOLE = "a whole file that `fit --save` has written"


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A solver's estimate, with the columns of its training rows (`columns`, a Dataset without rows).

    scaling: the scaling of features before the estimate gets them.
    """

    solver: str
    options: Mapping[str, Any]
    estimate: Predictor = field(repr=False)
    columns: Dataset = field(repr=False)
    scaling: Scaling = field(default=Scaling(), repr=False)

    def scores(self, X: Matrix) -> Array:
        """Return the scores (n, L) of unscaled rows X (n, d)."""
        return ranking.rows_of(self.estimate.scores(self.scaling.applied(X)), slice(None))

    def read(self, path: str | Path, labels: Any = None, file_format: str = "") -> Dataset:
        """Read rows with the features of the model; labels are optional, all as `rows.read` takes them."""
        return read(path, labels, like=self.columns, unlabelled=True, file_format=file_format)

    def predict(self, X: Matrix, k: int) -> pd.DataFrame:
        """Return the k best labels of each row: `row`, `place` (both from 1), `label`, `score`, `predicted`."""
        scores = self.scores(X)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rows, places = (index.ravel() + 1 for index in np.indices(order.shape))
        best = np.take_along_axis(scores, order, axis=1).ravel()
        labels, predicted = np.array(self.columns.names)[order].ravel(), best > self.estimate.threshold
        return pd.DataFrame({"row": rows, "place": places, "label": labels, "score": best, "predicted": predicted})


def save_model(path: str | PathLike[str] | IO[bytes], model: FittedModel) -> None:
    """Write a model so that `load_model` returns the same one."""
    columns, kind = model.columns, type(model.estimate).__name__
    if kind not in KINDS:
        raise InputError("estimate", f"one of {', '.join(KINDS)} to be saved", kind, "take another solver")
    words = {"solver": model.solver, "options": json.dumps(dict(model.options)), "kind": kind}
    arrays = {
        **{name: np.array(word) for name, word in {**words, "scaling": model.scaling.name}.items()},
        "lrlab_model": np.array(VERSION),
        "sizes": np.array([columns.d, columns.L, *columns.counts_from, not isinstance(columns.X, np.ndarray)]),
        "units": model.scaling.units,
        **names_arrays(columns),
        **{ESTIMATE + name: part for name, part in model.estimate.arrays().items()},
    }
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_model(path: str | PathLike[str], limit_bytes: int = LIMIT_BYTES) -> FittedModel:
    """Read a model; one InputError for a foreign, newer or damaged file, or one larger than `limit_bytes`."""
    source = Source(Path(path), "model .npz", limit_bytes)
    arrays = read_arrays(source, lambda name: name in PARTS or name.startswith(ESTIMATE))
    version = arrays.get("lrlab_model")
    if version is None or version.shape != () or version.dtype.kind not in "iu":
        raise InputError("model", WHOLE.replace("whole ", ""), source.path.name, "fit and save a model first")
    if version != VERSION:
        raise InputError("model", f"a file of version {VERSION}", f"version {version}", "fit and save it again")
    try:
        return _restored(source, arrays)
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError, MemoryError) as error:
        words = f"{source.path.name} ({error or type(error).__name__})"
        raise InputError("model", WHOLE, words, "fit and save it again") from None


def _restored(source: Source, arrays: Mapping[str, Array]) -> FittedModel:
    """Return the model of a file's arrays; ValueError or similar if they do not fit each other."""
    parts = {name.removeprefix(ESTIMATE): part for name, part in arrays.items() if name.startswith(ESTIMATE)}
    if arrays["sizes"].shape != (5,) or arrays["sizes"].dtype.kind not in "iub":
        raise ValueError("sizes that no model has")
    d, L, *first, is_sparse = (int(size) for size in arrays["sizes"])
    if not (0 < d < 2**31 and 0 < L < 2**31) or COLUMN_BYTES * (d + L) > source.limit_bytes:
        raise ValueError(f"sizes {d} and {L} beyond the limit of memory")
    if {*first, is_sparse} - {0, 1}:
        raise ValueError("flags other than 0 and 1")
    for name, part in parts.items():
        if (not part.ndim and name not in ("offset", "threshold")) or (
            name in ("centre", "units") and part.shape != (d,)
        ):
            raise ValueError(f"{name} of a shape {part.shape}")
        if part.dtype.kind not in "fiub" or not (np.abs(part.astype(float)) <= LARGEST).all():
            raise ValueError(f"{name}, an estimate of other than numbers below {LARGEST:g}")
    feature_names, label_names = (names_of(arrays, name) for name in ("feature_names", "label_names"))
    X = csr_array((0, d)) if is_sparse else np.empty((0, d))
    columns = Dataset(X, csr_array((0, L)), None, feature_names, label_names, (first[0], first[1]))
    estimate = KINDS[str(arrays["kind"])].restored(parts)
    # Scoring one empty row fails unless all parts of the estimate fit each other.
    scores = ranking.rows_of(estimate.scores(csr_array((1, d))), slice(0, 1))
    if scores.shape != (1, L) or not np.isfinite(scores).all():
        raise ValueError(f"scores of a shape {scores.shape} for {L} labels")
    scaling = Scaling(str(arrays["scaling"]), arrays["units"])
    expected = (d,) if scaling.name == "deviations" else (0,)
    if scaling.name not in SCALINGS[1:] or scaling.units.shape != expected or not (scaling.units > 0).all():
        raise ValueError(f"a scaling {scaling.name} of {scaling.units.shape} for {d} features")
    return FittedModel(str(arrays["solver"]), dict(json.loads(str(arrays["options"]))), estimate, columns, scaling)
