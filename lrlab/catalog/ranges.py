"""Where the axes of figures lead at first."""

from collections.abc import Mapping

from lrlab import catalog
from lrlab.parameters import declared

Range = tuple[float, float, str]

RANGES: Mapping[str, Range] = {
    "n": (500.0, 8000.0, "log"),
    "p": (10.0, 200.0, "log"),
    "sparsity": (1.0, 20.0, "linear"),
    "noise": (0.0, 1.5, "linear"),
    "variance": (0.0, 1.5, "linear"),
    "flip": (0.0, 0.3, "linear"),
    "intercept": (-2.0, 2.0, "linear"),
    "threshold": (0.1, 2.0, "linear"),
    "ratio": (2.0, 200.0, "log"),
    "dense-rate": (0.02, 0.3, "linear"),
    "sparse-rate": (0.05, 0.5, "linear"),
    "m": (200.0, 2000.0, "log"),
    "d1": (10.0, 100.0, "linear"),
    "d2": (10.0, 100.0, "linear"),
    "rank": (1.0, 10.0, "linear"),
    "r": (1.0, 8.0, "linear"),
    "condition": (1.0, 1000.0, "log"),
    "observed": (0.001, 0.1, "log"),
    "missing": (0.5, 0.99, "linear"),
    "per-freedom": (1.0, 4.0, "linear"),
    "n1": (50.0, 500.0, "log"),
    "n2": (50.0, 500.0, "log"),
    "d": (5.0, 40.0, "linear"),
    "labels": (10.0, 100.0, "linear"),
}
"""Where an axis leads at first; what is not here takes its parameter's bounds."""


def first_range(model: str, name: str) -> Range:
    """Return where an axis leads at first: from, to, spacing."""
    if name in RANGES:
        return RANGES[name]
    parameter = declared(catalog.MODELS[model])[name]
    return parameter.low, parameter.high, parameter.scale
