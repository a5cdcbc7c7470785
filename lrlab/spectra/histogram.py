"""All eigenvalues of a pairwise moment of one draw, with the bulk, its edge and the spike that theory predicts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import spectrum as drawing
from lrlab.figures.build import Figure
from lrlab.models.single_index import SingleIndexSpec
from lrlab.solvers.single_index.pairwise import pair_moments
from lrlab.theory import spiked
from lrlab.theory.bulk import density, support

FINE = 300
MOMENTS = ("M", "M'")


class Eigenvalues(NamedTuple):
    """Eigenvalues (p,) of M/4 or M'/4, ascending, and the squared overlap of the leading eigenvector with the truth."""

    values: Array
    overlap: float


@lru_cache(maxsize=256)
def eigenvalues(spec: SingleIndexSpec, moment: str) -> Eigenvalues:
    """Compute all eigenvalues of one sample."""
    problem: Any = spec.build()
    values, vectors = np.linalg.eigh(pair_moments(problem, "consecutive")[MOMENTS.index(moment)])
    return Eigenvalues(values, float(vectors[:, -1] @ problem.truth) ** 2)


def prediction(spec: SingleIndexSpec, moment: str) -> spiked.Prediction:
    """Return the theory of a moment of a spec."""
    return spiked.predict(spec.link_function.moments, spec.n / spec.p, moment)


def bulk(spec: SingleIndexSpec, moment: str) -> tuple[float, float]:
    """Return ratio and scale of the law of the bulk of M/4: p / (N pi) and 2 pi, of N pi pairs among N = n/2."""
    rest = prediction(spec, moment).population_rest
    return 2.0 * spec.p / (spec.n * rest / 2.0), rest


def figure(spec: SingleIndexSpec, moment: str, extent: tuple[float, float]) -> Figure:
    """Return the histogram of a sample; `extent` is the range of the axis."""
    limit, (ratio, scale) = prediction(spec, moment), bulk(spec, moment)
    x = np.linspace(*support(ratio, scale), FINE)
    return drawing.histogram(
        eigenvalues(spec, moment).values,
        x,
        density(x, ratio, scale),
        edge=limit.second,
        spike=limit.top if limit.overlap > 0 else None,
        extent=extent,
        title=f"eigenvalues of {moment.replace(chr(39), '′')}/4",
    )


def extent(specs: Sequence[SingleIndexSpec], moment: str) -> tuple[float, float]:
    """Return the range of an axis that holds the predicted spectra of several specs."""
    limits = [prediction(spec, moment) for spec in specs]
    return 0.0, 1.15 * max(max(limit.top, limit.second) for limit in limits)
