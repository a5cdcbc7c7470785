"""lrlab.recover: any solver on your measurements, matrix or labels."""

from dataclasses import replace
from typing import Any

from lrlab import catalog
from lrlab.data.arrays import model_of
from lrlab.data.dataset import Dataset
from lrlab.data.forms import FormSpec
from lrlab.data.label_task import LabelsSpec
from lrlab.data.magnitudes import MagnitudesSpec
from lrlab.data.matrix import MatrixSpec
from lrlab.data.responses import ResponsesSpec
from lrlab.data.spec import DataSpec, Packed, held, spec_class
from lrlab.data.tuning import FIRST, METRIC, Candidate, tuned
from lrlab.engine import solve
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError, Parameter, declared, nearest, require_known, settle
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.trace import Trace

KINDS: tuple[type[DataSpec], ...] = (ResponsesSpec, FormSpec, MatrixSpec, MagnitudesSpec, LabelsSpec)
"""Kinds of your data."""


def recover(
    y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object
) -> Trace:
    """Run a solver on your data, and return its trace.

    model: the model of the data, which decides the available solvers:

    - one-bit-sensing, flipped-logistic, one-bit-phase-retrieval, custom-link: y (n,) with two values, X (n, p)
    - rank-one-sensing: y (m,) = x^T W z, X (m, d1), Z (m, d2); polynomial-network: y (m,) = x^T L x, X (m, p)
    - inductive-completion: y a matrix (n1, n2) with nan, masked or, if it is sparse, absent entries, or three vectors
      (rows, columns, values); optional features X (n1, d1) of rows and Z (n2, d2) of columns
    - phase-retrieval: y (m,) = |A x| and X = A (m, p), or patterns y (count, h, w) = |fft2(mask x image)| and masks X
      with the same shape; norm and centered set another convention, and the fit ignores nan pixels
    - multilabel: labels y (n, L) of 0 and 1, nan if unknown, and features X (n, d); without a solver, leml and
      binary-relevance compete on held-out rows; tune_by: a metric that chooses settings there

    You need no model if y is a matrix with missing entries, has two values or holds patterns, or if you give Z.
    Without `rank` (`r` of polynomial-network), held-out measurements choose it. options: options of the solver and its
    limits; held_out (0.2), the fraction of the measurements that lrlab holds out to score the estimates; seed. For
    responses also scaling, and the model's options for the link; for matrices biases (means of rows and columns).

    The trace is as in `lrlab.solve`, without metrics that need a ground truth. `trace.estimate` is in your units;
    `trace.link` is the link of responses. Raises InputError in one sentence for unusable data.
    """
    return in_units(solve.run(job_of(y, X, Z, model=model, solver=solver, **options)))


def in_units(trace: Trace) -> Trace:
    """Return a trace of your data with its estimate and intervals in your units."""
    if trace.estimate is None:
        return trace
    known = trace.intervals
    intervals = None if known is None else trace.problem.intervals_of(known)
    note = trace.note if known is None else trace.note.removesuffix(known.note).strip()
    note = " ".join(filter(None, [note, intervals.note if intervals else ""]))
    return replace(trace, estimate=trace.problem.recovered(trace.estimate), intervals=intervals, note=note)


def job_of(y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object) -> Job:
    """Return the checked job of `recover`."""
    if not model and isinstance(y[0] if isinstance(y, tuple) and y else y, Dataset):
        model = Multilabel.model
    model = model or model_of(y, X, Z)
    made = kind_of(model)
    labels = issubclass(made, LabelsSpec)
    tune_by = str(options.pop("tune_by", "")) if labels else ""
    chosen, known = solver or made.default_solver(X, Z), choices(made)
    if isinstance(chosen, str):
        for name in options:
            require_known(name, {**known, **catalog.solver(chosen, model).settings}, what="option")
    spec = data_spec(y, X, Z, model=model, solver=chosen, **options)
    settings = {name: value for name, value in options.items() if name not in known}
    if labels and isinstance(chosen, str):
        return label_job(spec, str(solver), dict(settings), tune_by, "rank" in options)
    return make_job(spec, chosen, **settings)


def label_job(spec: Any, solver: str, settings: dict[str, Any], tune_by: str, ranked: bool) -> Job:
    """Return the job on labels; held-out rows choose the solver or settings that you do not give."""
    if solver and not tune_by:
        # Metrics on new rows are often best after 2 to 5 iterations.
        return make_job(spec, solver, **{"max_iter": 5, **settings})
    limits = {name: settings.pop(name) for name in ("tol", "max_iter", "max_seconds") if name in settings}
    for name in (solver,) if solver else FIRST:
        # This raises errors in the settings before any run.
        make_job(spec, name, **settings)
    most, rank = int(limits.get("max_iter", 0)), spec.rank if ranked else 0
    given = Candidate(solver, tuple(settings.items()), rank, spec.scaling, most)
    found = tuned(spec.tables()[0], given, intercept=spec.intercept, metric=tune_by, seed=spec.seed)
    own = "".join(f", {name} {value:.3g}" for name, value in found.options if isinstance(value, float))
    score = f"{tune_by or METRIC} {found.score:.4g} on held-out rows"
    words = f"{score} chose {found.solver}, {found.iterations} iterations{own}."
    spec = spec.replace(scaling=found.scaling, chosen=words, **({"rank": found.rank} if found.rank else {}))
    return make_job(spec, found.solver, **{**dict(found.options), **limits, "max_iter": found.iterations})


def data_spec(
    y: Any, X: Any = None, Z: Any = None, *, model: str, solver: AnySolver = "", **options: object
) -> DataSpec:
    """Return the spec of data, for a solver if you name one; ignores options that the spec does not have."""
    made = kind_of(model)
    arrays = made.arrays_of(y, X, Z)
    options = made.completed(arrays, solver or made.default_solver(X, Z), options)
    options = {name: value for name, value in options.items() if name in choices(made)}
    settings, count = settle(made, options), len(arrays["y"])
    given = ~held(count, float(settings["held_out"]), int(settings["seed"]))
    sizes = made.shape_of(arrays, given, settings)
    ranks = {"r", "rank"} & set(choices(made)) - set(sizes)
    if ranks and not ranks & set(options):
        sizes |= {**dict.fromkeys(ranks, 1), "rank_guess": "held-out"}
    values: dict[str, Any] = {**sizes, **options, "file": Packed.of(arrays), "measured": count}
    return made(**values)


def kind_of(model: str) -> type[DataSpec]:
    """Return the class of specs of a model with your data."""
    base = catalog.MODELS.get(model, Spec)
    for kind in KINDS:
        if issubclass(base, kind.models):
            return spec_class(kind, base)
    names = data_models()
    raise InputError("model", f"one of {', '.join(names)}", model, nearest(model, names) or "take one of these")


def data_models() -> tuple[str, ...]:
    """Return the names of models that your data can have."""
    bases = tuple(base for kind in KINDS for base in kind.models)
    return tuple(name for name, spec in catalog.MODELS.items() if issubclass(spec, bases))


def choices(made: type[DataSpec]) -> dict[str, Parameter]:
    """Return the parameters of a spec that you can set."""
    of_kind = {name for name, p in declared(made.kind).items() if not p.hidden}
    return {
        name: p
        for name, p in declared(made).items()
        if (name in of_kind or name in made.free) and name not in made.sizes
    }
