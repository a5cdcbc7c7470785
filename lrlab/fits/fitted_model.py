"""Fitted multi-label solvers: models that predict labels of new rows, saved as numpy's .npz and never a pickle.

Arrays of such a file: `lrlab_model` (the version of this form), `solver`, `options` (JSON), `kind` (of the estimate),
`sizes` (features, labels, the numbers by which files call the first of each, and whether features are sparse),
`feature_names` and `label_names` where there are any, and the arrays of the estimate as `estimate_...`. Since version
2: `scaling` and `units` of the features, and the chosen `threshold` where there is one. Of version 3 are models some of
whose labels (`own_labels`) have `own_thresholds`. Older versions ignore `calibration`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy.sparse import csr_array

from lrlab import datasets, ranking
from lrlab.arrays import Array, Indices, Matrix
from lrlab.datasets import LIMIT_BYTES, Dataset
from lrlab.datasets.npz import Declared, names_arrays, names_of, read_arrays
from lrlab.datasets.text import Source
from lrlab.fits import ratings_model
from lrlab.fits.calibration import Calibration
from lrlab.fits.model_shapes import LARGEST, PARTS, require_numbers, require_shapes
from lrlab.fits.own_files import label_names
from lrlab.fits.ratings_model import RatingModel
from lrlab.lowrank import LowRank
from lrlab.models.multilabel_problem import Predictor
from lrlab.models.own_rows import OwnThresholds, thresholds
from lrlab.models.scaling import SCALINGS, Scaling
from lrlab.parameters import InputError
from lrlab.solvers.multilabel.affine import Affine
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.kernel_features import KernelRank, SignedKernelRank
from lrlab.solvers.multilabel.label_losses import Signed

VERSION = 3
KINDS: Mapping[str, type[Any]] = {
    **{kind.__name__: kind for kind in (LowRank, Signed, Affine, KernelRank, SignedKernelRank, Compressed)},
    # What older files call it.
    "Centred": Affine,
    "Ranked": Affine,
}
"""Classes of estimates; a file names its own, and no other class is ever constructed from a file."""
ESTIMATE = "estimate_"
PREDICTION_COLUMNS = ("row", "place", "label", "score", "predicted")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A solver's estimate, with the columns of the rows that it was fitted to (`columns`, a Dataset without rows).

    scaling: that of features before the estimate sees them. chosen_threshold: the score above which a label is
    predicted, as validation chose it; None takes the estimate's own. own: labels that have another one. calibration: of
    scores as probabilities.
    """

    solver: str
    options: Mapping[str, Any]
    estimate: Predictor = field(repr=False)
    columns: Dataset = field(repr=False)
    scaling: Scaling = field(default=Scaling(), repr=False)
    chosen_threshold: float | None = None
    own: OwnThresholds = ()
    calibration: Calibration = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, or else their numbers."""
        return label_names(self.columns)

    @property
    def threshold(self) -> float:
        """A label is predicted where its score is above this, unless it has a threshold of its own."""
        return self.estimate.threshold if self.chosen_threshold is None else self.chosen_threshold

    @property
    def thresholds(self) -> Array:
        """Return the thresholds of all labels (L,)."""
        return thresholds(self.estimate, self.chosen_threshold, self.own, self.columns.L)

    def scores(self, X: Matrix) -> ranking.Scores:
        """Return the scores (n, L) of rows as files have them, X (n, d)."""
        return self.estimate.scores(self.scaling.applied(X))

    def read(
        self, path: str | Path, labels: Any = None, limit_bytes: int = LIMIT_BYTES, file_format: str = ""
    ) -> Dataset:
        """Read rows with the features of the model; labels are optional, all as `datasets.read` takes them."""
        return datasets.read(
            path, labels, like=self.columns, unlabelled=True, limit_bytes=limit_bytes, file_format=file_format
        )

    def top(self, X: Matrix, k: int) -> tuple[Indices, Array]:
        """Return the places of the k labels of highest score in each row of X (n, d), best first, and the scores."""
        k, n = min(k, self.columns.L), X.shape[0]
        places, values = np.empty((n, k), dtype=np.intp), np.empty((n, k))
        for rows, block in ranking.row_blocks(self.scores(X), n, self.columns.L):
            order = np.argsort(-block, axis=1, kind="stable")[:, :k]
            places[rows], values[rows] = order, np.take_along_axis(block, order, axis=1)
        return places, values

    def predict(self, X: Matrix, k: int) -> list[dict[str, Any]]:
        """Return rows `row`, `place` (both from 1), `label`, `score`, `predicted`: the k best labels of each."""
        names, (places, values), at = self.label_names, self.top(X, k), self.thresholds
        return [
            {
                "row": i + 1,
                "place": j + 1,
                "label": names[one],
                "score": float(score),
                "predicted": bool(score > at[one]),
            }
            for i in range(X.shape[0])
            for j, (one, score) in enumerate(zip(places[i], values[i], strict=True))
        ]


def save_model(path: str | Path | IO[bytes], model: FittedModel | RatingModel) -> None:
    """Write a model so that `load_model` gives the same one."""
    if isinstance(model, RatingModel):
        arrays, kind, parts = dict[str, Array](), ratings_model.KIND, model.arrays()
    else:
        columns, kind, parts = model.columns, type(model.estimate).__name__, model.estimate.arrays()
        if kind not in KINDS:
            raise InputError("estimate", f"one of {', '.join(KINDS)} to be saved", kind, "take another solver")
        arrays = {
            "sizes": np.array([columns.d, columns.L, *columns.counts_from, not isinstance(columns.X, np.ndarray)]),
            "scaling": np.array(model.scaling.name),
            "units": model.scaling.units,
            **names_arrays(columns),
        }
        if model.chosen_threshold is not None:
            arrays["threshold"] = np.array(model.chosen_threshold)
        if model.own:
            labels, values = zip(*model.own, strict=True)
            arrays |= {"own_labels": np.array(labels), "own_thresholds": np.array(values)}
        if model.calibration:
            arrays["calibration"] = np.array(model.calibration)
    arrays |= {
        # Others can be read by older versions, too.
        "lrlab_model": np.array(VERSION if "own_labels" in arrays else 2),
        "solver": np.array(model.solver),
        "options": np.array(json.dumps(dict(model.options))),
        "kind": np.array(kind),
    }
    arrays |= {ESTIMATE + name: part for name, part in parts.items()}
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_model(path: str | PathLike[str], limit_bytes: int = LIMIT_BYTES) -> FittedModel | RatingModel:
    """Read a model; what is foreign, newer, damaged or larger than `limit_bytes` is refused by one InputError."""
    source = Source(Path(path), "model .npz")
    source.check_size(limit_bytes, growth=1)

    def check(declared: Mapping[str, Declared], formed: Callable[[str], Array]) -> None:
        with _refusing(source):
            require_shapes(declared, formed, ESTIMATE, limit_bytes)

    arrays = read_arrays(source, limit_bytes, lambda name: name in PARTS or name.startswith(ESTIMATE), check)
    version = arrays.get("lrlab_model")
    if version is None or version.shape != () or version.dtype.kind not in "iu":
        expected, remedy = "a file that `fit --save` has written", "fit and save a model first"
        raise InputError("model", expected, source.path.name, remedy)
    if not 1 <= version <= VERSION:
        raise InputError("model", f"a file of version {VERSION}", f"version {version}", "update lrlab to read it")
    with _refusing(source):
        return _restored(arrays)


@contextmanager
def _refusing(source: Source) -> Iterator[None]:
    """Refuse what does not fit in one sentence."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        expected = "a whole file that `fit --save` has written"
        words = f"{source.path.name} ({error or type(error).__name__})"
        raise InputError("model", expected, words, "fit and save it again") from None


def _restored(arrays: Mapping[str, Array]) -> FittedModel | RatingModel:
    """Return the model of a file's arrays; ValueError and its like where they do not fit each other."""
    parts = {name.removeprefix(ESTIMATE): part for name, part in arrays.items() if name.startswith(ESTIMATE)}
    if str(arrays["kind"]) == ratings_model.KIND:
        return ratings_model.restored(str(arrays["solver"]), str(arrays["options"]), parts)
    d, L, *first, is_sparse = (int(size) for size in arrays["sizes"])
    columns = Dataset(
        csr_array((0, d)) if is_sparse else np.empty((0, d)),
        csr_array((0, L)),
        feature_names=names_of(arrays, "feature_names"),
        label_names=names_of(arrays, "label_names"),
        counts_from=(first[0], first[1]),
    )
    require_numbers(parts)
    estimate = KINDS[str(arrays["kind"])].restored(parts)
    # One empty row goes through all parts of the estimate: this fails unless they fit each other.
    scores = ranking.rows_of(estimate.scores(csr_array((1, d))), slice(0, 1))
    if scores.shape != (1, L) or not np.isfinite(scores).all():
        raise ValueError(f"scores of a shape {scores.shape} for {L} labels")
    scaling, threshold = _scaling_of(arrays, d), arrays.get("threshold")
    options = dict(json.loads(str(arrays["options"])))
    chosen = None if threshold is None else float(threshold)
    decided = chosen, _own_of(arrays, L), _calibration_of(arrays)
    return FittedModel(str(arrays["solver"]), options, estimate, columns, scaling, *decided)


def _own_of(arrays: Mapping[str, Array], L: int) -> OwnThresholds:
    """Return the thresholds of single labels, none of older files."""
    if "own_labels" not in arrays:
        return ()
    labels, values = arrays["own_labels"], arrays["own_thresholds"]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.shape != values.shape or values.dtype.kind != "f":
        raise ValueError(f"thresholds of {values.shape} for labels of {labels.shape}")
    if not (np.isin(labels, np.arange(L)).all() and np.isfinite(values).all()):
        raise ValueError("thresholds of labels that there are not, or that are no numbers")
    return tuple((int(label), float(value)) for label, value in zip(labels, values, strict=True))


def _calibration_of(arrays: Mapping[str, Array]) -> Calibration:
    """Return the calibration of scores, where a file has one."""
    values = arrays.get("calibration", np.empty(0))
    if values.shape not in ((0,), (2,)) or values.dtype.kind != "f" or not (np.abs(values) <= LARGEST).all():
        raise ValueError(f"a calibration of {values.shape}")
    return tuple(values.tolist())


def _scaling_of(arrays: Mapping[str, Array], d: int) -> Scaling:
    """Return the scaling of a file of version 2; of version 1 there is none."""
    if "scaling" not in arrays:
        return Scaling()
    scaling = Scaling(str(arrays["scaling"]), arrays["units"])
    expected = (d,) if scaling.name == "deviations" else (0,)
    if scaling.name not in SCALINGS[1:] or scaling.units.shape != expected or not (scaling.units > 0).all():
        raise ValueError(f"a scaling {scaling.name} of {scaling.units.shape} for {d} features")
    return scaling
