"""Prepares runs for figures: style, estimates next to the ground truth, theory, and the verdict in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab import catalog
from lrlab.aliases import VALUES
from lrlab.arrays import Intervals
from lrlab.catalog import family
from lrlab.engine.live import LiveRun
from lrlab.figures import convergence, theme
from lrlab.figures.recovery import Recovery
from lrlab.lowrank import LowRank, columns_normalized
from lrlab.model_entry import Measure, Outcome
from lrlab.parameters import InputError, counted, require_known
from lrlab.protocol import Estimate, Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job

if TYPE_CHECKING:
    from lrlab.runs.trace import Trace


def styles(model: str, solvers: Iterable[str]) -> dict[str, Recovery]:
    """Return the titles and styles of the solvers of a figure.

    Each has the color of its place in the catalog, unless another solver of the figure has it. Colors repeat, with
    another dash, if there are more solvers than colors.
    """
    shown = list(dict.fromkeys(solvers))
    names = [entry.name for entry in catalog.solvers_for(model, shown)]
    # The last color is a second blue, which only an eighth solver gets.
    own = {solver: names.index(solver) % (len(theme.PALETTE) - 1) for solver in shown}
    first = {place: solver for solver, place in reversed(own.items())}
    free = (place for place in range(len(names) + len(theme.PALETTE)) if place not in first)
    places = {solver: own[solver] if first[own[solver]] == solver else next(free) for solver in shown}
    return {name: Recovery(catalog.solver(name, model).title, *theme.look(place)) for name, place in places.items()}


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return runs with their styles and predictions."""
    truth = truth_of(spec)
    comparable, looks = aligned(spec, truth), styles(spec.model, (run.job.solver for run in runs))
    return [
        replace(
            looks[run.job.solver],
            rows=run.trace.rows,
            predictions=theory.predictions(run.job),
            # Predictions of the first iterations are quick.
            expected=expected(run.job, min(run.trace.iterations, 40)),
            history=run.trace.history,
            estimate=None if run.trace.estimate is None else comparable(run.trace.estimate),
            intervals=turned(run.trace.intervals, run.trace.estimate, truth),
            comparable=comparable,
        )
        for run in runs
    ]


@lru_cache(maxsize=64)
def expected(job: Job, iterations: int) -> Sequence[float]:
    """Return the overlaps that theory predicts for the first iterates of a job."""
    return job.entry.predict_iterations(job.spec, dict(job.options), iterations) if iterations else ()


@lru_cache(maxsize=64)
def truth_of(spec: Spec) -> Any:
    """Return the ground truth of a spec, without its data; None if nothing is compared with one."""
    return spec.build().truth if "error" in measures_of(spec) else None


def aligned(spec: Spec, truth: Estimate) -> Callable[[Estimate], Estimate]:
    """Return the function that gives estimates the scale or sign of the ground truth if measurements leave it open."""
    if truth is None or isinstance(truth, LowRank):
        return columns_normalized if spec.undetermined == "columns" else lambda estimate: estimate

    def comparable(estimate: Estimate) -> Estimate:
        inner, size = np.vdot(estimate, truth), np.linalg.norm(estimate)
        if spec.undetermined != "nothing" and inner:
            estimate = inner / abs(inner) * estimate
        if spec.undetermined == "scale" and size:
            estimate = np.linalg.norm(truth) / size * estimate
        # A picture is real, its estimates from complex projections are not.
        return real_parts(estimate, spec)

    return comparable


def turned(intervals: Intervals | None, estimate: Estimate, truth: Estimate) -> Intervals | None:
    """Return the intervals of an estimate at unit length, with the sign that is nearer to the ground truth."""
    if intervals is None or estimate is None or truth is None or estimate @ truth >= 0:
        return intervals
    return intervals._replace(low=-intervals.high, high=-intervals.low)


def real_parts(x: Any, spec: Spec) -> Any:
    """Return a complex vector as real numbers: a picture's real part, else all real and then all imaginary parts."""
    if not np.iscomplexobj(x):
        return x
    return np.real(x) if spec.side else np.concatenate([np.real(x), np.imag(x)])


def outcomes(runs: Sequence[Any], drawn: Sequence[Recovery]) -> list[Outcome]:
    """Return what came of each run so far."""
    return [
        Outcome(
            run.job.solver,
            look.title.partition(" (")[0],
            look.rows[-1] if look.rows else {},
            len(look.rows),
            run.over,
            dict(run.job.options),
            look.predictions,
            run.trace.stop in (Stop.MAX_ITER, Stop.TIMEOUT),
        )
        for run, look in zip(runs, drawn, strict=True)
    ]


def compare(
    traces: "Sequence[Trace]", measure: str = "", time: str = "iteration", *, log_x: bool = False, log_y: bool = True
) -> Any:
    """Return the figure of a measure of several traces, as on the page *Run*: a figure of plotly.

    measure: one of the model's, by default its first. time: "iteration" or "seconds". Titles of traces of one solver
    name their different settings. InputError if models differ, or have no such metric.
    """
    are_traces = isinstance(traces, Sequence) and all(hasattr(trace, "job") for trace in traces)
    models = dict.fromkeys(trace.job.spec.model for trace in traces) if are_traces else {}
    if len(models) != 1:
        got = ", ".join(models) or ("none" if are_traces else traces)
        raise InputError("traces", "some, all of one model", got, "give a list of traces of one model")
    measure = metric_of(traces[0].job.spec, measure)
    require_known(time, tuple(convergence.TIMES), what="time")
    drawn = [recoveries(trace.job.spec, [LiveRun(trace.job, trace)])[0] for trace in traces]
    if len({trace.job.solver for trace in traces}) < len(traces):
        words = [differences(one, [t for t in traces if t.job.solver == one.job.solver]) for one in traces]
        drawn = [
            replace(look, title=look.title + own, color=theme.PALETTE[k % len(theme.PALETTE)])
            for k, (look, own) in enumerate(zip(drawn, words, strict=True))
        ]
    look: dict[str, Any] = {"measures": measures_of(traces[0].job.spec), "log_x": log_x, "log_y": log_y, "hold": True}
    return convergence.curves(drawn, measure, time, **look).plotly()


def differences(trace: "Trace", others: "Sequence[Trace]") -> str:
    """Return the settings of a trace that are not the same in all others, as the end of its title."""

    def settings(one: "Trace") -> dict[str, Any]:
        return {**one.job.spec.public_values(), **dict(one.job.options), **one.job.limits._asdict()}

    known = [settings(one) for one in others]
    several = {k: v for k, v in settings(trace).items() if any(one.get(k) != v for one in known)}
    return "".join(f", {name} = {value}" for name, value in several.items())


def verdict(trace: "Trace") -> str:
    """Return the sentence that pages show above a run; for your data its first metric."""
    spec, runs = trace.job.spec, [LiveRun(trace.job, trace)]
    if spec.synthetic:
        return family(spec.model).verdict(spec, outcomes(runs, recoveries(spec, runs)))
    last = trace.rows[-1] if trace.rows else {}
    known = next((name for name in spec.data_metrics if name in last), "")
    return f"{spec.data_metrics[known].title}: {last[known]:.3g}." if known else "No estimate yet."


def measures_of(spec: Spec) -> Mapping[str, Measure]:
    """Return the metrics of a spec's problem: its family's, or the metrics of your data."""
    return spec.data_metrics or family(spec.model).measures


def metric_of(spec: Spec, name: str) -> str:
    """Return the name of a metric of a spec's problem, by default its first; InputError for an unknown one."""
    measures = measures_of(spec)
    name = VALUES.get(str(name), name) or next(iter(measures))
    require_known(name, measures, what="metric")
    return name


def mimebundle(trace: "Trace") -> dict[str, Any]:
    """Return the MIME bundle of a trace: its figure below its verdict and its end."""
    measures = measures_of(trace.job.spec)
    last = trace.rows[-1] if trace.rows else {}
    numbers = [f"{name} {last[name]:.4g}" for name in measures if last.get(name, np.nan) == last.get(name)]
    about = f"{trace.job.entry.title}: {', '.join([counted(trace.iterations, 'iteration'), *numbers])}."
    end = " ".join(part for part in (trace.ending, trace.note, trace.swing, trace.job.given) if part)
    words = " ".join([verdict(trace), about, end])
    if not trace.rows:
        return {"text/plain": words}
    drawn = compare([trace])
    lines = wrap(escape(words, quote=False), 100, break_on_hyphens=False)
    place = {"x": 0, "xanchor": "left", "yref": "container", "y": 1, "yanchor": "top", "pad_t": 14}
    drawn.update_layout(title={"text": "<br>".join(lines), "font_size": 13, **place}, margin_t=24 + 18 * len(lines))
    drawn.layout.height += 18 * len(lines)
    return {"text/plain": words, **drawn._repr_mimebundle_()}
