"""A live figure of a lesson: its jobs along the slider, each computed once, and the plot and the words of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.figures import build, theme
from lrlab.models.axes import place_near
from lrlab.parameters import Value
from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_job, run_trial
from lrlab.runs.trace import Trace

HEIGHT = 400
cached_trial, cached_run = lru_cache(maxsize=8192)(run_trial), lru_cache(maxsize=64)(run_job)


class Series(NamedTuple):
    """A solver with its settings, on the figure's spec with some changed parameters."""

    label: str
    solver: str
    settings: Mapping[str, Value] = {}
    spec: Mapping[str, Value] = {}


class Slider(NamedTuple):
    """The positions of a figure's slider: an axis of the spec, or a setting of the solvers.

    at: its first position without a question, by default the first value. before: the position before the answer.
    """

    label: str
    values: Sequence[Any]
    axis: str = ""
    setting: str = ""
    at: Any = None
    before: Any = None


@dataclass(frozen=True, eq=False)
class Figure(ABC):
    """A live figure: the calculation along the slider, and its plot.

    most: the end of the axis of values. level: the error of success. moment: the matrix of a histogram. attributes:
    labels and products of attributes of the spec.
    """

    kind: str
    spec: Spec
    slider: Slider
    series: Sequence[Series] = ()
    trials: int = 1
    metric: str = "error"
    log_x: bool = False
    log_y: bool = False
    most: float | None = None
    level: float = 0.0
    moment: str = "M"
    attributes: Mapping[str, str] = field(default_factory=dict)

    @abstractmethod
    def numbers(self, at: Any) -> dict[str, float]:
        """Return the numbers at a position of the slider, by name."""

    @abstractmethod
    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the plot at a position of the slider; alone: whether to omit the other positions."""

    @abstractmethod
    def sentence(self, at: Any) -> str:
        """Return the message at a position of the slider in words."""

    @property
    def labels(self) -> list[str]:
        """The labels of its series."""
        return [one.label for one in self.series]

    @property
    def metric_title(self) -> str:
        """The title of an axis of its metric."""
        return catalog.family(self.spec.model).measures[self.metric].title

    def spec_at(self, at: Value, series: Series | None = None) -> Any:
        """Return the spec of the figure, or of one of its series, at a position of the slider."""
        spec = self.spec.replace(**series.spec) if series and series.spec else self.spec
        # Lines of theory also pass between whole numbers.
        return place_near(spec, self.slider.axis, float(at)) if self.slider.axis else spec

    def job(self, series: Series, at: Value) -> Job:
        """Return the checked job of a series at a position of the slider; InputError without any."""
        settings, spec, name = dict(series.settings), self.spec_at(at, series), self.slider.setting
        if name in catalog.solver(series.solver, spec.model).options:
            settings[name] = at
        return make_job(spec, series.solver, **settings)

    def traces(self, at: Value) -> dict[str, Trace]:
        """Return the trace of each series on the figure's own seed, by label."""
        return {one.label: cached_run(self.job(one, at)) for one in self.series}

    def trial_values(self, series: Series, at: Value) -> list[float]:
        """Return the metric of each trial of a series, at the last iterate."""
        job = self.job(series, at)
        results = [cached_trial(Trial(job, number)) for number in range(self.trials)]
        return [one.scores.get(self.metric, math.nan) for one in results]

    def along_slider(self, drawn: build.Figure, title: str) -> build.Figure:
        """Return a figure along the slider with axes that hold still whatever its position."""
        values = self.slider.values
        low, high = min(values), max(values)
        words, scale = isinstance(low, str), math.log10 if self.log_x else float
        if not words:
            margin = 0.04 * (scale(high) - scale(low))
            drawn.update_xaxes(range=[scale(low) - margin, scale(high) + margin])
            drawn.update_xaxes(tickvals=list(values) if len(values) <= 10 else None)
        drawn.update_xaxes(type=None if words else "log" if self.log_x else "linear")
        if self.log_y:
            drawn.update_yaxes(type="log", range=[-16, math.log10(self.most or 100.0)])
        elif self.most:
            drawn.update_yaxes(range=[0, 1.03 * self.most])
        theme.style(drawn.update_layout(showlegend=True), self.slider.label, title, height=HEIGHT)
        return drawn if words else theme.name_ends(drawn, self.labels)
