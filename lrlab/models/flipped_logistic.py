"""Logistic regression with flipped responses (Yi et al. 2015, section 2)."""

from dataclasses import dataclass
from typing import Annotated

from lrlab.model_entry import ModelEntry
from lrlab.models.index_family import FAMILY
from lrlab.models.single_index import Noise, SingleIndexSpec
from lrlab.parameters import number
from lrlab.theory.links import Link, LogisticLink


@dataclass(frozen=True, kw_only=True)
class FlippedLogistic(SingleIndexSpec):
    """Logistic responses, some of them flipped."""

    model = "flipped-logistic"
    title = "Flipped logistic regression"
    summary = "P(y = 1) is logistic in ⟨x, b⟩ + intercept; each response is then flipped with a fixed probability."
    equation = (
        r"\mathbb P(y_i = 1) = \frac{1}{1 + e^{-z_i}}, \quad z_i = \langle x_i, b\rangle + \zeta + \sigma e_i,"
        r" \quad \text{then flipped with probability } p_e"
    )

    noise: Noise = 0.0
    flip: Annotated[float, number(0, 0.5, "flip probability", symbol="pₑ")] = 0.0
    intercept: Annotated[float, number(-5, 5, "added to ⟨x, b⟩", symbol="ζ")] = 0.0

    @property
    def link_function(self) -> Link:  # noqa: D102
        return LogisticLink(self.noise, self.flip, self.intercept)


ENTRY = ModelEntry(
    spec=FlippedLogistic,
    family=FAMILY,
    main=("n", "p", "flip"),
    plane=("flip", "ratio"),
    along="flip",
    along_range=(0.0, 0.3, "linear"),
    ranges={"flip": (0.0, 0.2, "linear"), "ratio": (50.0, 5000.0, "log")},
)
