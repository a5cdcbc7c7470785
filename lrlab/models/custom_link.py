"""Single-index models with any link: a formula in z that you type, or a ready one."""

from dataclasses import dataclass
from typing import Annotated

from lrlab.model_entry import ModelEntry
from lrlab.models.index_family import FAMILY
from lrlab.models.single_index import Noise, SingleIndexSpec
from lrlab.parameters import Parameter
from lrlab.theory.formula_link import READY, FormulaLink, checked
from lrlab.theory.links import Link


@dataclass(frozen=True, kw_only=True)
class CustomLink(SingleIndexSpec):
    """Responses by a link that is a formula in z."""

    model = "custom-link"
    title = "Custom link"
    summary = "P(y = 1) = (1 + f(⟨x, b⟩ + σe))/2 for a formula f in z, with values in -1..1, that you type."
    equation = r"\mathbb P(y_i = 1) = \tfrac12\bigl(1 + f(\langle x_i, b\rangle + \sigma e_i)\bigr), \qquad \|b\| = 1"

    noise: Noise = 0.0
    link: Annotated[
        str,
        Parameter(
            meaning=f"formula in z such as sin(2z), or one of: {', '.join(READY)}",
            symbol="f",
        ),
    ] = "sin 2z"

    def check(self) -> None:
        """Reject an invalid formula, or one that leaves -1..1."""
        super().check()
        checked(self.link)

    @property
    def link_function(self) -> Link:  # noqa: D102
        return FormulaLink(self.noise, self.link, flip=self.flip)


ENTRY = ModelEntry(
    spec=CustomLink,
    family=FAMILY,
    main=("n", "p", "link"),
    plane=("flip", "ratio"),
    along="flip",
    # For some links, noise reveals the threshold of the responses.
    turns=("noise",),
)
