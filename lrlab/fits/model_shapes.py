"""Shapes that the arrays of a saved model must have, checked before any large one is formed."""

from collections.abc import Callable, Mapping

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.npz import Declared
from lrlab.datasets.text import COLUMN_BYTES

PARTS = (
    "lrlab_model",
    "solver",
    "options",
    "kind",
    "sizes",
    "feature_names",
    "label_names",
    "scaling",
    "units",
    "threshold",
    "own_labels",
    "own_thresholds",
    "calibration",
)
"""Names of the arrays of a file beside those of the estimate."""
LARGEST = 1e100
"""Numbers of an estimate stay below this: products of three of them are finite."""

FACTORS = {"U": "dk", "s": "k", "V": "Lk"}
AXES: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("LowRank", "Signed", "Ranked", "Centred"), FACTORS),
    "Compressed": {"W": "dk", "Phi": "kL", "settings": "4"},
    **dict.fromkeys(
        ("KernelRank", "SignedKernelRank"),
        {
            **FACTORS,
            "U": "mk",
            "kernel": "3",
            "centre": "d",
            "units": "d",
            "landmarks": "md",
            "values": "e",
            "columns": "e",
            "size": "2",
        },
    ),
}
"""Axes of the arrays of an estimate, by kind: d features, L labels, k rank, m landmarks, e entries; others are free."""


def require_shapes(
    declared: Mapping[str, Declared], formed: Callable[[str], Array], prefix: str, limit_bytes: int
) -> None:
    """Raise ValueError where sizes, names and arrays (`prefix` and their name) of a model do not fit each other."""
    for name in ("lrlab_model", "solver", "options", "kind"):
        if name in declared and declared[name].shape != ():
            raise ValueError(f"{name} of the shape {declared[name].shape}")
    if "sizes" not in declared:
        return
    sizes = formed("sizes") if declared["sizes"].shape == (5,) else np.zeros(5)
    if sizes.dtype.kind not in "iu" or not (0 < int(sizes[0]) < 2**31 and 0 < int(sizes[1]) < 2**31):
        raise ValueError("sizes that no model has")
    d, L = int(sizes[0]), int(sizes[1])
    if COLUMN_BYTES * (d + L) > limit_bytes or not np.isin(sizes[2:], (0, 1)).all():
        raise ValueError(f"sizes {d} and {L} beyond the limit of memory, or no flags")
    for name, size in (("feature_names", d), ("label_names", L)):
        if name in declared and declared[name].shape != (size,):
            raise ValueError(f"{name} of the shape {declared[name].shape} for {size}")
    lengths = {"d": d, "L": L}
    axes = AXES.get(str(formed("kind")) if "kind" in declared else "", {})
    for name in axes:
        shape = declared[prefix + name].shape if prefix + name in declared else None
        if shape is not None and len(shape) != len(axes[name]):
            raise ValueError(f"{name} of the shape {shape}")
        for axis, size in zip(axes[name], shape or (), strict=False):
            if size != (int(axis) if axis.isdigit() else lengths.setdefault(axis, size)):
                raise ValueError(f"{name} of the shape {shape}")


def require_numbers(parts: Mapping[str, Array]) -> None:
    """Raise ValueError unless all arrays of an estimate hold numbers that stay finite when they are multiplied."""
    for name, part in parts.items():
        if part.dtype.kind not in "fiub" or not np.isfinite(part).all():
            raise ValueError(f"{name}, an estimate of other than finite numbers")
        if part.size and float(np.abs(part.astype(np.float64)).max()) > LARGEST:
            raise ValueError(f"{name}, an estimate of other than numbers below {LARGEST:g}")
