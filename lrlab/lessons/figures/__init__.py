"""The kinds of live figures, a module each, and their data: jobs along the slider, computed once each.

A module has `check(figure)`, which raises InputError if the kind lacks something; `numbers(figure, at)`, computed at a
position of the slider; `draw(figure, at, alone)`, the plot there, with or without other positions; `sentence(figure,
at)`, its message in words; and `names(figure)`, the names of the numbers, if these are not the labels of the series.
"""

from functools import lru_cache
from pkgutil import iter_modules

from lrlab import catalog
from lrlab.lessons.definition import Figure, Series
from lrlab.models.axes import place
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, Value, declared
from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_job, run_trial
from lrlab.runs.trace import Trace

KINDS = tuple(sorted(module.name for module in iter_modules(__path__)))
MOST_TRIALS, MOST_TRACES = 8192, 64
"""Number of results in memory: numbers, and whole runs."""


def spec_at(figure: Figure, at: Value, series: Series | None = None) -> Spec:
    """Return the spec of a figure, or of one of its series, at a position of the slider."""
    spec = figure.spec.replace(**dict(series.spec)) if series and series.spec else figure.spec
    if figure.slider.setting:
        return spec
    parameter = declared(type(spec)).get(figure.slider.name)
    # Lines of theory also pass between whole numbers.
    return place(spec, figure.slider.name, round(float(at)) if parameter and parameter.kind is int else float(at))


def single_index(figure: Figure, at: Value) -> SingleIndexSpec:
    """Return the spec of a single-index model at a position of the slider; InputError for another model."""
    spec = spec_at(figure, at)
    if not isinstance(spec, SingleIndexSpec):
        raise InputError("model", "a single-index model", spec.model, "take one-bit-sensing")
    return spec


def job(figure: Figure, series: Series, at: Value) -> Job:
    """Return the checked job of a series at a position of the slider; InputError without any."""
    settings = dict(series.settings)
    spec = spec_at(figure, at, series)
    if figure.slider.setting and figure.slider.name in catalog.solver(series.solver, spec.model).options:
        settings[figure.slider.name] = at
    return make_job(spec, series.solver, **settings)


@lru_cache(maxsize=MOST_TRIALS)
def _score(job: Job, number: int, measure: str) -> float:
    return run_trial(Trial(job, number)).scores.get(measure, float("nan"))


def trial_values(figure: Figure, series: Series, at: Value) -> list[float]:
    """Return the figure's measure of each of its trials, at the last iterate."""
    one = job(figure, series, at)
    return [_score(one, number, figure.get("measure", "error")) for number in range(figure.trials)]


@lru_cache(maxsize=MOST_TRACES)
def run(job: Job) -> Trace:
    """Return the trace of a job on the figure's own seed."""
    return run_job(job)


def require_series(figure: Figure) -> None:
    """Raise InputError if a figure has no series."""
    if not figure.series:
        raise InputError("series", "given", "nothing", "add a list of tables with label and solver to the figure")


def require_keys(figure: Figure, *keys: str) -> None:
    """Raise InputError if a figure lacks a key."""
    for key in keys:
        if figure.get(key) is None:
            raise InputError(key, "given", "nothing", f"add {key} to the figure")
