"""The entries of golden numbers: solvers on models, theory, claims of papers, addresses of pages, sweeps.

`wanted` names every entry. A name such as `low-rank/gnimc/rank-one-sensing/hard` begins with its file; a pattern
selects the entries of a family, a solver or a model.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from streamlit.testing.v1 import AppTest

from benchmarks import ship
from lrlab import aliases, catalog, presets
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.presets import shipped
from lrlab.presets import sweeps as library
from lrlab.presets.result import lines
from lrlab.protocol import Spec, Stop
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_job
from lrlab.runs.theory import described
from lrlab.solver_entry import SolverEntry
from lrlab.spectra import moments, pairwise
from lrlab.sweeps import toml
from lrlab.ui.shared import code
from lrlab.ui.spectrum import python_script
from lrlab.ui.sweep import sweep_offers
from lrlab.ui.sweep.sweep_controls import of_sweep_page

Values = dict[str, Any]
HARD: dict[str, Values] = {
    "one-bit-sensing": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "noise": 1.0},
    "flipped-logistic": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "flip": 0.1},
    "one-bit-phase-retrieval": {"seed": 1, "n": 600, "p": 30, "sparsity": 4, "noise": 0.3},
    "custom-link": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "link": "three levels", "noise": 0.3},
    "rank-one-sensing": {"seed": 1, "m": 700, "condition": 100.0, "noise": 0.01},
    "inductive-completion": {"seed": 1, "n1": 200, "n2": 150, "d1": 30, "d2": 30, "observed": 0.04,
                             "condition": 100.0, "noise": 0.01},
    "multilabel-regression": {"seed": 1, "observed": 0.04, "condition": 100.0, "noise": 0.01},
    "polynomial-network": {"seed": 1, "m": 1500, "p": 60, "condition": 100.0, "noise": 0.01},
    "one-bit-completion": {"seed": 1, "rank": 3, "observed": 0.3, "noise": 1.0},
    "phase-retrieval": {"seed": 1, "m": 320, "p": 80, "noise": 0.1},
    "coded-diffraction": {"seed": 1, "side": 32, "masks": 4, "photons": 30.0},
    "multilabel": {"seed": 1, "n": 500, "d": 60, "labels": 30, "observed": 0.4, "noise": 2.0},
    "one-bit-multilabel": {"seed": 1, "m": 8000, "d1": 60, "d2": 30, "flip": 0.1},
}  # fmt: skip
"""Noise, a condition number of 100 or few measurements."""
OTHER: dict[str, tuple[Values, tuple[str, ...]]] = {
    "inductive-completion": (
        {"seed": 1, "n1": 60, "n2": 50, "features": "canonical", "observed": 0.4, "condition": 10.0, "noise": 0.01},
        ("als", "matrix-irls", "r2rils", "soft-impute"),
    ),
    "one-bit-multilabel": (
        {"seed": 1, "m": 4000, "d1": 40, "d2": 20, "observation": "full", "flip": 0.1},
        ("svm", "trace-norm-logistic", "trace-norm-squared"),
    ),
}
"""A spec for solvers that refuse both the defaults and the hard setting."""
THEORY: dict[str, list[Values]] = {
    "one-bit-sensing": [{}, {"n": 300, "p": 30, "noise": 0.5}, {"n": 2000, "p": 200, "noise": 1.0, "flip": 0.1}],
    "flipped-logistic": [{}, {"n": 400, "p": 30, "flip": 0.2}, {"n": 2000, "p": 200}],
    "one-bit-phase-retrieval": [{}, {"n": 600, "p": 30, "noise": 0.3}, {"n": 2000, "p": 200}],
    "custom-link": [{}, {"n": 400, "p": 30, "noise": 0.3}, {"n": 2000, "p": 200, "link": "three levels"}],
    "phase-retrieval": [{}, {"m": 300, "field": "real"}, {"m": 400, "noise": 0.3}, {"m": 500, "noise": 0.1}],
}
"""Specs whose limits and predictions are recorded, for every solver."""
INDEX_BEST: list[Values] = [{"n": 60, "p": 4}, {"n": 200, "p": 10}, {"n": 200, "p": 20, "sparsity": 1},
                            {"n": 400, "p": 150}]  # fmt: skip
BEST: dict[str, list[Values]] = {
    "one-bit-sensing": [{"noise": 0.5, **values} for values in INDEX_BEST],
    "flipped-logistic": [{"flip": 0.1, **values} for values in INDEX_BEST],
    "one-bit-phase-retrieval": INDEX_BEST,
    "custom-link": [{"noise": 0.3, **values} for values in INDEX_BEST],
    "rank-one-sensing": [{"noise": 0.1}],
    "polynomial-network": [{"noise": 0.1}],
    "one-bit-completion": [{}],
    "coded-diffraction": [{"photons": 30.0}],
}
"""Specs whose Bayes-optimal overlap and error, or bound on all methods, is recorded."""
SPECTRA: dict[str, tuple[Values, str, list[float]]] = {
    "one-bit-sensing": ({"p": 50}, "ratio", [10.0, 100.0]),
    "flipped-logistic": ({"p": 50}, "ratio", [20.0, 200.0]),
    "one-bit-phase-retrieval": ({"p": 50}, "ratio", [20.0, 200.0]),
    "custom-link": ({"p": 50}, "ratio", [20.0, 200.0]),
    "rank-one-sensing": ({}, "m", [500.0, 2000.0]),
    "inductive-completion": ({}, "observed", [0.01, 0.1]),
    "polynomial-network": ({}, "m", [2000.0, 20000.0]),
    "phase-retrieval": ({}, "ratio", [1.5, 6.0]),
}
"""Spec, axis and positions of predicted eigenvalues."""
ADDRESSES: dict[str, tuple[str, dict[str, str]]] = {
    "first": ("converge", {}),
    "digit": ("converge", {"truth": "digit-3", "p": "64", "n": "6000"}),
    "options": ("converge", {"model": "rank-one-sensing", "m": "700", "solvers": "gauss-newton,altmin", "tol": "1e-6"}),
    "phase": ("converge", {"model": "phase-retrieval", "field": "real", "m": "300", "noise": "0.1", "seed": "7"}),
    "labels": ("converge", {"model": "multilabel", "solvers": "leml-squared,plst", "max_iter": "50"}),
    "network": ("converge", {"model": "polynomial-network", "condition": "10", "signs": "mixed"}),
    "spectrum": (
        "spectrum",
        {"model": "one-bit-phase-retrieval", "axis": "ratio", "from": "20", "to": "100", "points": "4"},
    ),
    "line": ("transition", of_sweep_page({"model": "one-bit-sensing", "trials": "3", "x-axis": "noise"})),
    "several": (
        "transition",
        of_sweep_page({"model": "inductive-completion", "x-axis": "observed", "x-values": "0.01,0.02,0.05"}),
    ),
    "plane": ("transition", {"model": "rank-one-sensing", "trials": "5"}),
}
"""Pages with their addresses."""
SWEEPS = {
    "list": 'model = "one-bit-sensing"; solvers = ["pairwise-moment", "marginal-mean"]; trials = 3; seed = 4; '
    "spec = { p = 10 }; axes = { n = [100, 200, 400], noise = [0.1, 1.0] }",
    "span": 'model = "phase-retrieval"; solvers = ["wirtinger-flow"]; trials = 2; '
    'axes = { ratio = { from = 2, to = 8, steps = 5, spacing = "log" } }',
    "refused": 'model = "rank-one-sensing"; solvers = ["gauss-newton", "altmin"]; trials = 2; '
    "spec = { d1 = 12, d2 = 9 }; axes = { rank = [1, 5], per-freedom = [1.0, 1.5, 3.0] }; settings = { max_iter = 40 }",
    "adaptive": 'model = "inductive-completion"; solvers = ["gnimc"]; trials = 10; adaptive = true; tolerance = 2; '
    'axes = { observed = { from = 0.005, to = 0.05, steps = 6, spacing = "log" }, rank = [1, 2, 4] }',
    "success": 'model = "multilabel"; solvers = ["leml-squared", "plst"]; trials = 2; '
    'success = { metric = "auc", above = 0.8 }; axes = { observed = [0.2, 1.0] }',
}
"""Further definitions of sweeps: TOML with ; for line ends."""


PAGES = Path(__file__).parents[2] / "pages"
ITERATES = 20
"""Number of first iterates of a run whose objective and error are recorded."""
LONGEST_SECONDS, PRESET_SECONDS = 1.5, 1.0
"""Longest processor time of a run that is recorded to its end, and of an item of a preset."""
DRAWS = 40
"""Replicates behind predicted means and bands."""
TIMED = ("fast-products", "threaded-products")
"""Quantities that are times."""


class Entry(NamedTuple):
    """A function of this module and its arguments; it also gets the recorded numbers, or None."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def timed(name: str, entry: Entry, recorded: Any) -> tuple[str, Any, float]:
    """Return an entry's name, today's numbers or the error, and the seconds."""
    began = time.perf_counter()
    try:
        today = plain(entry.function(*entry.arguments, recorded=recorded))
    except Exception as error:
        today = {"failed": f"{type(error).__name__}: {error}"}
    return name, today, time.perf_counter() - began


def wanted() -> dict[str, Entry]:
    """Return all entries by name."""
    entries = {
        f"{catalog.family(model).name}/{solver.name}/{model}/{setting}": Entry(run, (spec, solver.name))
        for model in catalog.MODELS
        for setting, values in (("default", {}), ("hard", HARD.get(model, {})))
        for spec in [catalog.spec(model, **values)]
        for solver in solvers(model)
    }
    for model, (values, names) in OTHER.items():
        for name in names:
            where = f"{catalog.family(model).name}/{name}/{model}/other"
            entries[where] = Entry(run, (catalog.spec(model, **values), name))
    for name in shipped.names():
        entries |= dict(of_preset(name))
    for model, settings in THEORY.items():
        for number, values in enumerate(settings, 1):
            spec = catalog.spec(model, **values)
            entries[f"theory/limits/{model}/{number}"] = Entry(limits, (spec,))
            for solver in solvers(model):
                if (solver.sample, solver.predict) != (SolverEntry.sample, SolverEntry.predict):
                    entries[f"theory/{solver.name}/{model}/{number}"] = Entry(predicted, (spec, solver.name))
    for model, settings in BEST.items():
        for number, values in enumerate(settings, 1):
            entries[f"theory/best/{model}/{number}"] = Entry(best, (catalog.spec(model, **values),))
    for model, (values, axis, at) in SPECTRA.items():
        entries[f"theory/eigenvalues/{model}"] = Entry(eigenvalues, (catalog.spec(model, **values), axis, at))
    texts = {name: toml.to_toml(library.load(name).sweep) for name in library.names()}
    texts |= {name: text.replace("; ", "\n") for name, text in SWEEPS.items()}
    entries |= {f"sweeps/{name}": Entry(cells, (text,)) for name, text in texts.items()}
    return entries | {f"pages/{one[0]}/{name}": Entry(opened, one) for name, one in ADDRESSES.items()}


def solvers(model: str) -> list[SolverEntry]:
    """Return the solvers of a model with their old names; an old name for the defaults replaces the new name."""
    known = catalog.solvers_for(model, aliases.SOLVERS)
    own = {one.name: one.options for one in catalog.solvers_for(model)}
    aims = {one: aliases.SOLVERS[one.name][0] for one in known if one.fixed}
    usual = {aim for one, aim in aims.items() if all(own[aim][k].default == v for k, v in one.fixed)}
    return [one for one in known if one.name not in usual]


def of_preset(name: str) -> Iterator[tuple[str, Entry]]:
    """Yield the verdicts of a preset, and its first item per kind, solver and settings."""
    yield f"claims/{name}", Entry(verdicts, (name,))
    plan, seen = ship.plan(shipped.load(name)), set[Any]()
    for item in plan.items:
        kind: Any = (item.job.solver, item.job.options) if isinstance(item, Trial) else (type(item).__name__,)
        if kind in seen or getattr(item, "quantity", "") in TIMED:
            continue
        seen.add(kind)
        if isinstance(item, Trial):
            model = item.job.spec.model
            where = f"{catalog.family(model).name}/{item.job.solver}/{model}/{name}-{len(seen)}"
            yield where, Entry(run_shortly, (item.seeded, PRESET_SECONDS))
        elif not presets.load(name).data:
            yield f"presets/{name}-{len(seen)}", Entry(computed, (plan.function, item))


def run(spec: Spec, solver: str, recorded: Any) -> Any:
    """Return the run of a solver on a spec with default settings, or that the solver refuses the spec."""
    try:
        return run_shortly(make_job(spec, solver), LONGEST_SECONDS, recorded=recorded)
    except InputError:
        return {"refused": True}


def run_shortly(job: Job, seconds: float, recorded: Any) -> Any:
    """Return how a run begins and ends. A longer run gives only its beginning; a longer trial of a preset gives None.

    A recorded run may take twice its recorded iterations, so that a run that no longer converges ends soon.
    """
    known = recorded and "most" in recorded
    most = recorded["most"] if known else job.limits.max_iter
    limits = job.limits._replace(max_seconds=86_400.0 if known else seconds, max_iter=most)
    if known and "iterations" in recorded:
        limits = limits._replace(max_iter=min(most, 2 * recorded["iterations"] + ITERATES))
    trace = run_job(Job(job.spec, job.solver, job.options, limits), clock=time.thread_time)
    if trace.stop is Stop.TIMEOUT:
        again = {"most": max(1, min(ITERATES, trace.iterations))}
        return None if seconds == PRESET_SECONDS else run_shortly(job, seconds, recorded=again)
    first = trace.rows[:ITERATES]
    measure = "error" if first and "error" in first[0] else catalog.family(job.spec.model).goal.metric
    columns = {key: [row[key] for row in first] for key in ("objective", measure)}
    return {"most": most, "stop": trace.stop.name, "iterations": len(trace.rows), **columns}


def verdicts(name: str, recorded: Any) -> list[str]:
    """Return the verdict of each claim of a preset, from its shipped result."""
    return [line.verdict for line in lines(ship.made_anew(shipped.load(name)).table)]


def computed(function: Callable[[Any], Any], item: Any, recorded: Any) -> Any:
    """Return the result of a preset's function for an item; None if it takes long."""
    began = time.thread_time()
    result = function(item)
    return result if recorded or time.thread_time() - began < PRESET_SECONDS else None


def limits(spec: Spec, recorded: Any) -> Any:
    """Return the asymptotic limits of all methods."""
    return catalog.family(spec.model).asymptotics(spec)


def predicted(spec: Spec, solver: str, recorded: Any) -> Any:
    """Return the asymptotics of a solver, and mean and band of its finite-size prediction."""
    try:
        job = make_job(spec, solver)
    except InputError:
        return {"refused": True}
    overlaps = job.entry.sample(spec, dict(job.options), DRAWS)
    return job.entry.predict(spec, dict(job.options)) | ({} if overlaps is None else described(overlaps))


def best(spec: Spec, recorded: Any) -> Any:
    """Return the Bayes-optimal overlap and error, with standard errors."""
    return catalog.family(spec.model).best(spec)


def eigenvalues(spec: Spec, axis: str, at: Sequence[float], recorded: Any) -> Any:
    """Return the predicted eigenvalues of a moment along an axis."""
    predict = pairwise.predictions if isinstance(spec, SingleIndexSpec) else moments.predictions
    return predict(spec, axis, at).to_dict("list")


def opened(page: str, address: dict[str, str], recorded: Any) -> Any:
    """Return the jobs that a page would run for an address, and the code that it shows for them."""
    at, given = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=120), []
    at.query_params.update(address)
    module = {"converge": "converge.run_controls", "spectrum": "shared.live"}.get(page, "sweep.sweep_run")
    with mock.patch(f"lrlab.ui.{module}.buttons", lambda *asked, about=None, **more: given.append(about or asked[-1])):
        at.run()
    [asked] = given
    if page == "converge":
        jobs = [[job.solver, dict(job.options), job.limits._asdict()] for job in asked]
        return {"spec": asked[0].spec.public_values(), "jobs": jobs, "code": [code.python(asked), code.shell(asked)]}
    if page == "spectrum":
        return {"spec": asked.spec.public_values(), "along": asked.along.values, "code": python_script(asked)}
    written = [sweep_offers.python(asked), sweep_offers.shell(asked)]
    return {"spec": asked.spec.public_values(), "jobs": len(asked.jobs), "code": written}


def cells(text: str, recorded: Any) -> Any:
    """Return the grid points of a sweep with the parameters that its axes decide; None for refused ones."""
    sweep = toml.parse(text)
    decided = [cell.job and [cell.job.spec.values()[name] for name in sweep.decided] for cell in sweep.cells]
    rows = [[dict(cell.axes), cell.solver] for cell in sweep.cells]
    return {"cells": rows, "decided": decided, "total": sweep.total, "written": toml.to_toml(sweep)}


def plain(value: Any) -> Any:
    """Return numbers as JSON holds them, to 14 digits, without seconds; None for nan and the infinities."""
    value = value._asdict() if hasattr(value, "_asdict") else value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items() if key != "seconds"}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.14g}") if np.isfinite(value) else None
    return value
