"""Controls of the curves on the page *converge*: the measure, iterations or time, and the scale of the axes."""

from typing import NamedTuple

from lrlab.catalog import model_entry
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink


class CurveSettings(NamedTuple):
    """The measure that is drawn, "iteration" or "seconds", and which axes are logarithmic."""

    measure: str
    time: str
    log_x: bool = False
    log_y: bool = False

    @property
    def title(self) -> str:
        """The measure as a heading."""
        name = display_name(self.measure)
        return name[:1].upper() + name[1:]


def choose(link: Permalink, model: str, spec: object) -> CurveSettings:
    """Show the controls of the curves and return the settings."""
    known = model_entry(model).family.measures
    absent = absent_measures(model, spec)
    titles = {name: display_name(name) for name in known if name not in absent}
    first = next(iter(titles))
    measure = controls.choose(link, "show", titles, first, known[first].meaning, "Show")
    scale = controls.choose(
        link, "axes", {"linear": "linear", "log-y": "log y", "log-x": "log x", "log-log": "log-log"}, "log-y",
        "which axes are logarithmic; an objective that is not positive stays linear", "axes",
    )  # fmt: skip
    return CurveSettings(measure, choose_time(link), scale in ("log-x", "log-log"), scale in ("log-y", "log-log"))


def choose_time(link: Permalink) -> str:
    """Show the choice between iterations and time, and return "iteration" or "seconds"."""
    times = {"iteration": "iteration", "seconds": "seconds"}
    meaning = "iterations, or the time of the solver without scoring"
    return controls.choose(link, "against", times, "iteration", meaning, "against")


def absent_measures(model: str, spec: object) -> set[str]:
    """Return the measures that a model, or a spec of it, does not have, that no iterate changes, or that are shares."""
    entry = model_entry(model)
    absent = {
        name
        for name, measure in entry.family.measures.items()
        if measure.constant or measure.quotient[0] or not (measure.common or name in entry.measures)
    }
    if not (isinstance(spec, Spec) and spec.values().get("sparsity")):
        absent.add("support")
    if not getattr(spec, "best_known", False):
        absent.add("excess_risk")
    return absent
