"""The kinds of live figures, a module each, and their data: jobs along the slider, computed once each.

A module has `numbers(figure, at)`, computed at a position of the slider; `draw(figure, at, alone)`, the plot there,
with or without other positions; and `sentence(figure, at)`, its message in words.
"""

from functools import lru_cache
from typing import Any

from lrlab import catalog
from lrlab.lessons.definition import Figure, Series
from lrlab.models.axes import place_near
from lrlab.parameters import Value
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_job, run_trial
from lrlab.runs.trace import Trace

MOST_TRIALS, MOST_TRACES = 8192, 64
"""Number of results in memory: numbers, and whole runs."""


def spec_at(figure: Figure, at: Value, series: Series | None = None) -> Any:
    """Return the spec of a figure, or of one of its series, at a position of the slider."""
    spec = figure.spec.replace(**dict(series.spec)) if series and series.spec else figure.spec
    if figure.slider.setting:
        return spec
    # Lines of theory also pass between whole numbers.
    return place_near(spec, figure.slider.name, float(at))


def job(figure: Figure, series: Series, at: Value) -> Job:
    """Return the checked job of a series at a position of the slider; InputError without any."""
    settings = dict(series.settings)
    spec = spec_at(figure, at, series)
    if figure.slider.setting and figure.slider.name in catalog.solver(series.solver, spec.model).options:
        settings[figure.slider.name] = at
    return make_job(spec, series.solver, **settings)


@lru_cache(maxsize=MOST_TRIALS)
def _score(job: Job, number: int, metric: str) -> float:
    return run_trial(Trial(job, number)).scores.get(metric, float("nan"))


def trial_values(figure: Figure, series: Series, at: Value) -> list[float]:
    """Return the figure's metric of each of its trials, at the last iterate."""
    one = job(figure, series, at)
    return [_score(one, number, figure.metric) for number in range(figure.trials)]


@lru_cache(maxsize=MOST_TRACES)
def run(job: Job) -> Trace:
    """Return the trace of a job on the figure's own seed."""
    return run_job(job)
