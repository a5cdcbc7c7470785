"""Plans a spectrum from the controls of the page: draws along an axis, for any family."""

from collections.abc import Callable
from typing import NamedTuple

from lrlab.catalog import MODELS
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.spectra.draws import Draw, Row
from lrlab.spectra.moments import moment_draws, moment_spectrum
from lrlab.spectra.pairwise import pairwise_spectrum, spectrum_draws
from lrlab.ui.shared import code
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.axis import Axis


def is_pairwise(model: str) -> bool:
    """Whether the spectrum of a model is of the pairwise moments of a single-index model, not of a spectral start."""
    return issubclass(MODELS[model], SingleIndexSpec)


class SpectrumPlan(NamedTuple):
    """The spec, the axis, the number of trials, the draws, and what computes the spectrum of one."""

    spec: Spec
    along: Axis
    trials: int
    draws: list[Draw]
    measure: Callable[[Draw], list[Row]]


def make_plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> SpectrumPlan | InputError | None:
    """Return the plan, the error in it, or None where the spec or the axis is an error."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    pairs, others = (spectrum_draws, pairwise_spectrum), (moment_draws, moment_spectrum)
    drawn, measure = pairs if is_pairwise(spec.model) else others
    try:
        number = int(controls.TRIALS.check(trials))
        return SpectrumPlan(spec, along, number, drawn(spec, along.name, along.values, number), measure)
    except InputError as error:
        return error


def python_script(plan: SpectrumPlan) -> str:
    """Return the script that computes the same table."""
    module, name = ("pairwise", "spectrum") if is_pairwise(plan.spec.model) else ("moments", "moments")
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}"
    return (
        f"import lrlab\nfrom lrlab.spectra.{module} import {name}\n\nspec = {code.spec_python(plan.spec)}\n"
        f"table = {name}({arguments})\nprint(table.to_csv(index=False))"
    )
