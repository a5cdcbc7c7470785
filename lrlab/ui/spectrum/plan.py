"""A spectrum as it is asked for: whichever family it is of, draws along an axis."""

from typing import NamedTuple

from lrlab.catalog.families import SINGLE_INDEX, family
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.spectra.draws import Draw
from lrlab.spectra.moments import moment_draws, moment_spectrum
from lrlab.spectra.pairwise import pairwise_spectrum, spectrum_draws
from lrlab.ui.shared import code
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.axis import Axis


class SpectrumPlan(NamedTuple):
    """The spec, the axis, how often, and the draws that measure it."""

    spec: Spec
    along: Axis
    trials: int
    draws: list[Draw]

    @property
    def pairwise(self) -> bool:
        """Whether it is of the pairwise moments of a single-index model; if not, of the moment of a spectral start."""
        return family(self.spec.model) is SINGLE_INDEX

    @property
    def measure(self):
        """What is measured of each draw."""
        return pairwise_spectrum if self.pairwise else moment_spectrum


def make_plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> SpectrumPlan | InputError | None:
    """Return the plan; the error in it; or None where its parts are in error themselves."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    drawn = spectrum_draws if family(spec.model) is SINGLE_INDEX else moment_draws
    try:
        number = int(controls.TRIALS.check(trials))
        return SpectrumPlan(spec, along, number, drawn(spec, along.name, along.values, number))
    except InputError as error:
        return error


def python_script(plan: SpectrumPlan) -> str:
    """Return the script that computes the same table."""
    name = "spectrum" if plan.pairwise else "moments"
    module = "pairwise" if plan.pairwise else "moments"
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}"
    return "\n".join(
        [
            "import lrlab",
            f"from lrlab.spectra.{module} import {name}",
            "",
            f"spec = {code.spec_python(plan.spec)}",
            f"table = {name}({arguments})",
            "print(table)",
        ]
    )
