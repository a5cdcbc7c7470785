"""All eigenvalues of a pairwise moment at the slider's position, with the bulk, its edge and the spike of theory."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import build
from lrlab.figures.histogram import histogram
from lrlab.lessons.definition import Figure, rounded
from lrlab.lessons.trials import spec_at
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.solvers.single_index.pairwise import pair_moments
from lrlab.theory import marchenko_pastur, spiked

FINE = 300
MOMENTS = ("M", "M'")


class Spectrum(NamedTuple):
    """Eigenvalues (p,) of M/4 or M'/4, and the squared overlap of the leading eigenvector with the truth."""

    values: Array
    overlap: float


@lru_cache(maxsize=256)
def spectrum(spec: Spec, moment: str) -> Spectrum:
    """Compute all eigenvalues of one draw."""
    problem: Any = spec.build()
    values, vectors = np.linalg.eigh(pair_moments(problem, "consecutive")[MOMENTS.index(moment)])
    return Spectrum(values, float(vectors[:, -1] @ problem.truth) ** 2)


def bulk(spec: SingleIndexSpec, moment: str) -> tuple[float, float]:
    """Return ratio and scale of the law of the bulk of M/4: p / (N pi) and 2 pi, of N pi pairs among N = n/2."""
    limit = spiked.predict(spec.link_function.moments, spec.n / spec.p, moment)
    return 2.0 * spec.p / (spec.n * limit.population_rest / 2.0), limit.population_rest


def moment_of(figure: Figure) -> str:
    """Return which of the two moments the figure shows."""
    moment: str = figure.get("moment", "M")
    return moment


def check(figure: Figure) -> None:
    """Refuse models without pairwise moments."""
    if not isinstance(figure.spec, SingleIndexSpec):
        raise InputError("model", "a single-index model", figure.spec.model, "take one-bit-sensing")
    if moment_of(figure) not in MOMENTS:
        raise InputError("moment", "M or M'", moment_of(figure), "take one of them")


def names(figure: Figure) -> list[str]:
    """Return what `numbers` has."""
    return ["largest", "edge", "gap", "overlap", "predicted overlap", "predicted largest", "threshold", "ratio", "phi"]


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the largest eigenvalue, the edge of the bulk, the overlap, and what theory says of them."""
    spec, moment = spec_at(figure, at), moment_of(figure)
    assert isinstance(spec, SingleIndexSpec)
    drawn, limit = spectrum(spec, moment), spiked.predict(spec.link_function.moments, spec.n / spec.p, moment)
    return {
        "largest": float(drawn.values[-1]), "edge": limit.second, "gap": float(drawn.values[-1]) - limit.second,
        "overlap": drawn.overlap, "predicted overlap": limit.overlap, "predicted largest": limit.top,
        "threshold": limit.threshold, "ratio": spec.n / spec.p, "phi": spec.link_function.moments.phi,
    }  # fmt: skip


def draw(figure: Figure, at: float) -> build.Figure:
    """Return the histogram; its axes are the same for all positions."""
    spec, moment, result = spec_at(figure, at), moment_of(figure), numbers(figure, at)
    assert isinstance(spec, SingleIndexSpec)
    ratio, scale = bulk(spec, moment)
    low, high = marchenko_pastur.support(ratio, scale)
    x = np.linspace(low, high, FINE)
    all_of = [numbers(figure, value) for value in figure.slider.values]
    extent = (0.0, 1.08 * max(max(one["largest"], one["edge"], one["predicted largest"]) for one in all_of))
    return histogram(
        spectrum(spec, moment).values, x, marchenko_pastur.density(x, ratio, scale), edge=result["edge"],
        spike=result["predicted largest"] if result["predicted overlap"] > 0 else None, extent=extent,
        title=f"eigenvalues of {moment.replace(chr(39), '′')}/4",
    )  # fmt: skip


def sentence(figure: Figure, at: float) -> str:
    """Return overlap, ratio and threshold."""
    result = numbers(figure, at)
    overlap = f"Squared overlap {rounded(result['overlap'])}, predicted {rounded(result['predicted overlap'])}"
    if not np.isfinite(result["threshold"]):
        return f"{overlap}: this matrix has no gap here, whatever n/p."
    side = "above" if result["ratio"] > result["threshold"] else "below"
    return f"{overlap}: n/p = {rounded(result['ratio'])} is {side} the threshold {rounded(result['threshold'])}."
