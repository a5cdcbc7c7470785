"""One-bit phase retrieval: whether the magnitude of a projection exceeds a threshold (Yi et al. 2015)."""

from dataclasses import dataclass
from typing import Annotated

from lrlab.model_entry import ModelEntry
from lrlab.models.index_family import FAMILY
from lrlab.models.single_index import Noise, SingleIndexSpec
from lrlab.parameters import number
from lrlab.theory.links import Link, ThresholdLink


@dataclass(frozen=True, kw_only=True)
class OneBitPhaseRetrieval(SingleIndexSpec):
    """Responses that compare the magnitude of a projection with a threshold."""

    model = "one-bit-phase-retrieval"
    title = "One-bit phase retrieval"
    summary = "Each response tells only whether |⟨x, b⟩ + σe| exceeds the threshold θ: sign and size are lost."
    equation = (
        r"y_i = \operatorname{sign}\bigl(|\langle x_i, b\rangle + \sigma e_i| - \theta\bigr),"
        r" \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.0
    threshold: Annotated[float, number(0, 5, "magnitude above which y = +1", symbol="θ")] = 1.0

    @property
    def link_function(self) -> Link:  # noqa: D102
        return ThresholdLink(self.noise, self.threshold, flip=self.flip)


ENTRY = ModelEntry(
    spec=OneBitPhaseRetrieval,
    family=FAMILY,
    main=("n", "p", "threshold"),
    plane=("threshold", "ratio"),
    along="threshold",
    # Noise brings answers of |<x, b>| far from the threshold nearer to it: some of it helps.
    turns=("noise",),
)
