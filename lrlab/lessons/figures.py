"""The kinds of live figures of lessons: the numbers, the plot and the words of each at a position of the slider."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.figures import build, convergence, theme
from lrlab.figures.convergence import prediction
from lrlab.figures.numbers import rounded
from lrlab.figures.recovery import Recovery, pictures
from lrlab.figures.runs import aligned
from lrlab.lessons.figure import HEIGHT, Figure
from lrlab.parameters import counted, display_name
from lrlab.runs import theory
from lrlab.spectra import pairwise

FINE = 60
"""Points of a line of theory."""
ALL_METHODS = "information-theoretic limit"
WHOLE = ("bits", "bits-at-budget")
"""Axes that have no positions between whole numbers."""
LEAST = 1e-16
"""Least error of a trial on a plot."""
SHOWN, REACH, BINS = 300, 3.0, 13
"""Number of plotted responses, end of the axis of projections, and number of bins of means."""
MOST_RATIO = 1e6
"""A threshold above this number of measurements per unknown is none: the gap is zero to rounding of t."""


class Scores(Figure):
    """A score of several solvers along the slider: replicates and their means up to its position, and predictions."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return the mean score of each series, and what theory says of it and of all methods."""
        return {one.label: fmean(self.trial_values(one, at)) for one in self.series} | self.expected(at)

    def expected(self, at: Any, exact: bool = True) -> dict[str, float]:
        """Return the known limits of each series and of all methods; `exact`: also mean and band at these sizes."""
        result = dict[str, float]()
        for one in self.series:
            job = self.job(one, at)
            known = theory.exact_predictions(job) if exact else theory.predictions(job, sampled=False)
            limits = {f"limit of {one.label}": "limit", ALL_METHODS: "limit_best"}
            said = {name: prediction(known, self.metric, prefix) for name, prefix in limits.items()}
            if exact:
                ends = ("", "_low", "_high")
                said |= {f"predicted {one.label}{end}": known.get(f"predicted_{self.metric}{end}") for end in ends}
            result |= {name: value for name, value in said.items() if value is not None and math.isfinite(value)}
        return result

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the lines of theory along the whole slider, and the measurements up to its position.

        It begins where the figure began before the question, so that the way from there to its answer is visible.
        alone: only the measurements at one position.
        """
        drawn, values = build.Figure(), self.slider.values
        first, last = sorted((values.index(at), values.index(at if alone else self.slider.before or values[0])))
        lines = pd.DataFrame() if alone else _lines(self)
        known = {name: lines.dropna(subset=[name]) for name in lines}
        for label, (color, *_) in theme.looks(self.labels).items():
            if (name := f"predicted {label}") in known:
                own = known[name]
                theme.band(drawn, own["at"], own[f"{name}_low"], own[f"{name}_high"], color)
                theme.dashed(drawn, own["at"], own[name], color)
            if (name := f"limit of {label}") in known:
                theme.asymptote(drawn, known[name]["at"], known[name][name], color, f"asymptotic {name}", legend=False)
        self._add_means(drawn, values[first : last + 1], at)
        if ALL_METHODS in known:
            x, y = (known[ALL_METHODS][name] for name in ("at", ALL_METHODS))
            theme.line(drawn, x, y, name=ALL_METHODS, hover=f"{ALL_METHODS}: %{{y:.4g}}", dash="longdashdot")
        if any(name.startswith("predicted") for name in known):
            theme.dashed(drawn, [None], [None], name="finite-size theory, 80% of trials")
        if any(name.startswith("limit of") for name in known):
            theme.asymptote(drawn, [None], [None], name="asymptotic limits", legend=True)
        return self.along_slider(drawn, self.metric_title)

    def _add_means(self, drawn: build.Figure, shown: Sequence[Any], at: Any) -> None:
        """Add a small mark for each draw, and a large one for their mean, the largest at the slider's position."""
        looks = theme.looks(self.labels)
        for one in self.series:
            results, (color, _, symbol) = [self.trial_values(one, place) for place in shown], looks[one.label]
            look: dict[str, Any] = {"name": one.label, "legendgroup": one.label, "hover": f"{one.label}: %{{y:.3g}}"}
            marker: dict[str, Any] = {"size": 4, "color": theme.faint(color, 0.6), "symbol": symbol}
            if self.trials > 1:
                x, y = [place for place in shown for _ in range(self.trials)], list(chain.from_iterable(results))
                theme.line(drawn, x, y, mode="markers", legendgroup=one.label, marker=marker)
            sizes, y = [13 if place == at else 8 for place in shown], [fmean(values) for values in results]
            marker = {"symbol": symbol, "color": color, "size": sizes, "opacity": 1}
            theme.line(drawn, shown, y, color, mode="lines+markers", width=1, dash="dot", marker=marker, **look)

    def sentence(self, at: Any) -> str:
        """Return the means at the slider's position."""
        result, name, parts = self.numbers(at), display_name(self.metric), []
        for label in self.labels:
            predicted, limit = (result.get(f"{kind} {label}") for kind in ("predicted", "limit of"))
            words = f" (predicted {rounded(predicted)})" if predicted else ""
            words = f" (asymptotic limit {rounded(limit)})" if limit and not words else words
            parts.append(f"{label}: {rounded(result[label])}{words}")
        draws = f", mean of {self.trials} trials (the small marks)" if self.trials > 1 else ""
        return f"{name[0].upper()}{name[1:]}{draws}. {'; '.join(parts)}."


@lru_cache(maxsize=64)
def _lines(figure: Scores) -> pd.DataFrame:
    """Return predictions at the slider's positions, and limits, finely if the positions are numbers of an axis."""
    values: Sequence[Any] = figure.slider.values
    rows = [{"at": at, **{k: v for k, v in figure.expected(at).items() if k.startswith("predicted")}} for at in values]
    if figure.slider.axis and any(figure.expected(at, exact=False) for at in values):
        ends = float(min(values)), float(max(values))
        values = (np.geomspace if figure.log_x else np.linspace)(*ends, FINE).tolist()
        if figure.slider.axis in WHOLE:
            values = list(range(int(ends[0]), int(ends[1]) + 1))
    return pd.DataFrame([*rows, *({"at": at, **figure.expected(at, exact=False)} for at in values)])


class Counts(Figure):
    """Numbers of the spec along the slider: unknowns, measurements, bytes; without simulations."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return each attribute of the spec at a position: a name, or several to be multiplied, as `d1 * d2`."""
        spec = self.spec_at(at)
        factors = {label: words.split(" * ") for label, words in self.attributes.items()}
        number = lambda part: float(part if part.isdigit() else getattr(spec, part))  # noqa: E731
        return {label: math.prod(map(number, parts)) for label, parts in factors.items()}

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the numbers along the slider, or at one position, with marks at `at`."""
        drawn, values = build.Figure(), (at,) if alone else self.slider.values
        result = [self.numbers(value) for value in values]
        for label, look in theme.looks(list(self.attributes)).items():
            marker = {"symbol": look.symbol, "size": [13 if v == at else 6 for v in values], "color": look.color}
            y = [one[label] for one in result]
            theme.line(drawn, values, y, look.color, name=label, hover=None, mode="lines+markers", marker=marker)
        drawn = self.along_slider(drawn, "number")
        return drawn.update_yaxes(dtick=1, range=None, autorange=True) if self.log_y else drawn

    def sentence(self, at: Any) -> str:
        """Return the numbers at the slider's position."""
        return _listed(self.numbers(at))


def _listed(numbers: dict[str, float]) -> str:
    return "; ".join(f"{label}: {rounded(number)}" for label, number in numbers.items()) + "."


class Runs(Figure):
    """The error of each iterate of several solvers, at the slider's position."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return the metric of each series' last iterate, and the number of its iterates."""
        result = dict[str, float]()
        for label, trace in self.traces(at).items():
            result |= {label: trace.rows[-1][self.metric], f"iterations {label}": float(len(trace.rows))}
        return result

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the metric against the iteration."""
        looks, measures = theme.looks(self.labels), catalog.family(self.spec.model).measures
        runs = [Recovery(label, *looks[label], rows=trace.rows) for label, trace in self.traces(at).items()]
        drawn = convergence.curves(runs, self.metric, measures=measures, log_y=True, height=HEIGHT)
        longest = max((int(one.settings.get("max_iter", 0)) for one in self.series), default=0)
        if longest:
            drawn.update_xaxes(range=[0, longest + 1])
        drawn.update_layout(showlegend=True).update_yaxes(range=[-16, math.log10(self.most or 1e3)])
        return theme.name_ends(drawn, self.labels)

    def sentence(self, at: Any) -> str:
        """Return how each run ended."""
        parts = []
        for label, trace in self.traces(at).items():
            last, ending = rounded(trace.rows[-1][self.metric]), trace.stop.name if trace.stop else ""
            words = ending.replace("_", " ").replace("MAX ITER", "iteration limit").lower()
            parts.append(f"{label}: {last} after {counted(trace.iterations, 'iteration')} ({words})")
        return "; ".join(parts) + "."


class Outcomes(Figure):
    """The final errors of many draws at the slider's position, smallest first: who succeeds, and who ends elsewhere."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return the number of draws of each series that end below the level."""
        return {one.label: float(sum(v < self.level for v in self.trial_values(one, at))) for one in self.series}

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return a marker for each draw, on a log axis, and the level of success."""
        drawn, looks, ends = build.Figure(), theme.looks(self.labels), [0, self.trials + 1]
        for one in self.series:
            values = sorted(max(v, LEAST) if math.isfinite(v) else math.inf for v in self.trial_values(one, at))
            marker = {"color": looks[one.label].color, "symbol": looks[one.label].symbol, "size": 9}
            x, hover = list(range(1, len(values) + 1)), f"{one.label}: %{{y:.2g}}"
            theme.line(drawn, x, values, name=one.label, hover=hover, mode="markers", marker=marker)
        theme.dashed(drawn, ends, [self.level, self.level], name=f"success: below {self.level:g}")
        drawn.update_yaxes(type="log", range=[-16.5, 1.5]).update_xaxes(range=ends)
        return theme.style(drawn, "trials, the best first", self.metric_title, height=HEIGHT)

    def sentence(self, at: Any) -> str:
        """Return how many draws succeed."""
        parts = [f"{label}: {number:.0f} of {self.trials}" for label, number in self.numbers(at).items()]
        return f"Success. {'; '.join(parts)}."


class Pictures(Figure):
    """The true image next to the solvers' estimates, at the slider's position."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return the error of each series."""
        return {label: trace.rows[-1]["error"] for label, trace in self.traces(at).items()}

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the pictures in one row."""
        spec = self.spec_at(at)
        truth = spec.build().truth
        comparable, traces = aligned(spec, truth), self.traces(at).items()
        runs = [Recovery(label, rows=trace.rows, estimate=comparable(trace.estimate)) for label, trace in traces]
        return pictures(truth, runs, columns=len(runs) + 1, height=300)

    def sentence(self, at: Any) -> str:
        """Return the errors."""
        return f"Error. {_listed(self.numbers(at))}"


class Answers(Figure):
    """The responses of a single-index model against the projection <x, b>, with the mean response: the link."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return the mean of y <x, b>, and its expectation mu_1."""
        spec = self.spec_at(at)
        problem = spec.build()
        correlation = float(np.mean(problem.y * (problem.X @ problem.truth)))
        return {"correlation": correlation, "mu1": spec.link_function.moments.mu1}

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the first responses as marks, their means in bins, and the link function."""
        spec, drawn = self.spec_at(at), build.Figure()
        problem = spec.build()
        index, z = problem.X @ problem.truth, np.linspace(-REACH, REACH, 241)
        jitter = 0.06 * np.random.default_rng(0).standard_normal(SHOWN)
        marker = {"size": 4, "color": theme.faint(theme.PALETTE[0], 0.5)}
        y = problem.y[:SHOWN] + jitter[: spec.n]
        theme.line(drawn, index[:SHOWN], y, name="responses yᵢ", mode="markers", marker=marker)
        ends = np.linspace(-REACH, REACH, BINS + 1)
        places = np.digitize(index, ends)
        bins = [(k, problem.y[places == k]) for k in range(1, BINS + 1) if (places == k).any()]
        x, y = [(ends[k - 1] + ends[k]) / 2 for k, _ in bins], [float(own.mean()) for _, own in bins]
        words, marker = f"means of all {spec.n:,} responses", {"size": 9, "color": theme.PALETTE[1]}
        theme.line(drawn, x, y, name=words, hover=None, mode="markers", marker=marker)
        theme.dashed(drawn, z, spec.link_function(z), name="link f, the expected response")
        drawn.update_xaxes(range=[-REACH, REACH])
        drawn.update_yaxes(range=[-1.25, 1.25], tickvals=[-1, 0, 1])
        return theme.style(drawn, "projection ⟨x, b⟩", "response y", height=380)

    def sentence(self, at: Any) -> str:
        """Return the mean of y <x, b> and its expectation."""
        result = self.numbers(at)
        return f"Mean of y⟨x, b⟩: {rounded(result['correlation'])}, expected {rounded(result['mu1'])}."


class Histogram(Figure):
    """All eigenvalues of a pairwise moment at the slider's position; the bulk, its edge and the spike of theory."""

    def numbers(self, at: Any) -> dict[str, float]:
        """Return how far the largest eigenvalue is beyond the bulk, the overlap, and what theory says of them."""
        spec, moment = self.spec_at(at), self.moment
        (values, overlap), limit = pairwise.eigenvalues(spec, moment), pairwise.prediction(spec, moment)
        return {
            "gap": float(values[-1]) - limit.second,
            "overlap": overlap,
            "limit of overlap": limit.overlap,
            "threshold": limit.threshold,
            "ratio": spec.n / spec.p,
            "phi": spec.link_function.moments.phi,
        }

    def draw(self, at: Any, alone: bool = False) -> build.Figure:
        """Return the histogram, with the overlap of the leading eigenvector; its axis is the same for all positions."""
        spec, moment = self.spec_at(at), self.moment
        drawn = pairwise.histogram(spec, moment, [self.spec_at(value) for value in self.slider.values])
        _, overlap = pairwise.eigenvalues(spec, moment)
        words = f"squared overlap of the leading eigenvector: {rounded(overlap)}"
        end: dict[str, Any] = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "bottom"}
        return drawn.add_annotation(text=words, x=1, y=1.02, **end)

    def sentence(self, at: Any) -> str:
        """Return overlap, ratio and threshold."""
        result = self.numbers(at)
        overlap = f"Squared overlap {rounded(result['overlap'])}, asymptotically {rounded(result['limit of overlap'])}"
        if result["threshold"] > MOST_RATIO:
            return f"{overlap}: this matrix has no gap here, whatever n/p."
        side = "above" if result["ratio"] > result["threshold"] else "below"
        threshold = f"the asymptotic threshold {rounded(result['threshold'])}"
        return f"{overlap}: n/p = {rounded(result['ratio'])} is {side} {threshold}."


KINDS: dict[str, Callable[..., Figure]] = {one.__name__.lower(): one for one in Figure.__subclasses__()}
