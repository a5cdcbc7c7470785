"""One-bit compressed sensing: signs of noisy projections (Yi et al. 2015, section 2)."""

from dataclasses import dataclass

from lrlab.model_entry import ModelEntry
from lrlab.models.index_family import FAMILY
from lrlab.models.single_index import Noise, SingleIndexSpec
from lrlab.theory.links import Link, SignLink


@dataclass(frozen=True, kw_only=True)
class OneBitSensing(SingleIndexSpec):
    """Signs of noisy projections."""

    model = "one-bit-sensing"
    title = "One-bit compressed sensing"
    summary = "Only the sign of each noisy projection is observed: y = sign(⟨x, b⟩ + σe)."
    equation = (
        r"y_i = \operatorname{sign}(\langle x_i, b\rangle + \sigma e_i), \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.1

    @property
    def link_function(self) -> Link:  # noqa: D102
        return SignLink(self.noise, flip=self.flip)


ENTRY = ModelEntry(
    spec=OneBitSensing,
    family=FAMILY,
    main=("n", "p", "sparsity", "noise"),
    plane=("variance", "ratio"),
    along="variance",
)
