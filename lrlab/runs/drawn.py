"""Runs as they are drawn: their style, their estimates beside the truth, theory, and the verdict in words."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from lrlab import catalog
from lrlab.catalog import family
from lrlab.figures import theme
from lrlab.figures.recovery import Recovery
from lrlab.lowrank import LowRank
from lrlab.model_entry import Outcome
from lrlab.protocol import Estimate, Spec
from lrlab.runs import theory
from lrlab.runs.job import Job

EXPECTED_ITERATIONS = 40
"""Iterations of a solver whose prediction is drawn one by one."""


def style_of(model: str, solver: str) -> Recovery:
    """Return a solver's title and style on a model, which do not depend on the other solvers that run."""
    names, title = [entry.name for entry in catalog.solvers_for(model)], catalog.solver(solver, model).title
    return Recovery(title, theme.colours(names)[solver], theme.dashes(names)[solver], theme.symbols(names)[solver])


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return runs as they are drawn."""
    comparable = aligned(spec, truth_of(spec))
    return [
        replace(
            style_of(spec.model, run.job.solver),
            rows=run.trace.rows,
            predictions=theory.known(run.job),
            expected=expected(run.job, min(len(run.trace.rows), EXPECTED_ITERATIONS)),
            history=[(k, comparable(estimate)) for k, estimate in run.trace.history],
            estimate=None if run.trace.estimate is None else comparable(run.trace.estimate),
            intervals=run.trace.intervals,
        )
        for run in runs
    ]


@lru_cache(maxsize=64)
def expected(job: Job, iterations: int) -> Sequence[float]:
    """Return the overlaps that theory predicts for the first iterates of a job."""
    return job.entry.predict_iterations(job.spec, dict(job.options), iterations) if iterations else ()


@lru_cache(maxsize=64)
def truth_of(spec: Spec) -> Any:
    """Return the truth of a spec, None where estimates are not compared with one; its data is not drawn for that."""
    return spec.build().truth if "error" in family(spec.model).measures else None


def aligned(spec: Spec, truth: Estimate) -> Callable[[Estimate], Estimate]:
    """Return the function that makes an estimate comparable to the truth: a phase rotation, or the spec's own."""
    if truth is None or isinstance(truth, LowRank):
        return spec.comparable

    def turned(estimate: Estimate) -> Estimate:
        # A picture is real, its estimates from complex projections are not.
        if not np.iscomplexobj(estimate):
            return spec.comparable(estimate)
        return real_parts(np.exp(-1j * np.angle(np.vdot(truth, estimate))) * estimate, spec)

    return turned


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
        )
        for run, look in zip(runs, drawn, strict=True)
    ]
