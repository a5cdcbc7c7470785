"""lrlab.recover: any solver on a person's own measurements."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lrlab import catalog
from lrlab.arrays import Vector
from lrlab.engine import solve
from lrlab.models.completion import InductiveCompletion
from lrlab.models.network import PolynomialNetwork
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.models.single_index import SingleIndexSpec
from lrlab.own import arrays as own_arrays
from lrlab.own import gaps
from lrlab.own.answers import REFINEMENT, OwnAnswers
from lrlab.own.magnitudes import OwnMagnitudes
from lrlab.own.matrices import OwnRankOne
from lrlab.own.source import Own, held, own_class, packed
from lrlab.own.tables import OwnTable
from lrlab.parameters import InputError, Parameter, declared, nearest, require_known, settle
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.trace import Trace

KINDS: Mapping[Any, tuple[type[Own], Any]] = {
    SingleIndexSpec: (OwnAnswers, own_arrays.answers),
    RankOneSensing: (OwnRankOne, own_arrays.bilinear),
    PolynomialNetwork: (OwnRankOne, own_arrays.quadratic),
    InductiveCompletion: (OwnTable, gaps.table),
    PhaseRetrieval: (OwnMagnitudes, own_arrays.magnitudes),
}
"""By the base of a model's specs: the kind of its own data, and what makes arrays of them."""
FIRST = {OwnAnswers: REFINEMENT, OwnRankOne: "gauss-newton", OwnTable: "als", OwnMagnitudes: "gauss-newton"}
"""The solver of each kind where none is named, of tables without features."""


def recover(
    y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object
) -> Trace:
    """Run a solver on measurements of one's own, and return its trace.

    model says what they are, and decides which solvers there are:

    - one-bit-sensing, flipped-logistic, one-bit-phase-retrieval, custom-link: y (n,) of two values, X (n, p)
    - rank-one-sensing: y (m,) = x^T W z, X (m, d1), Z (m, d2); polynomial-network: y (m,) = x^T L x, X (m, p)
    - inductive-completion: y a table (n1, n2) with nan, masked or, of a sparse matrix, absent entries, or three vectors
      (rows, columns, values); features X (n1, d1) of rows and Z (n2, d2) of columns, if there are any
    - phase-retrieval: y (m,) = |A x| and X = A (m, p), or patterns y (count, h, w) and masks X of the same shape

    It may be left out where y is a table with gaps, of two values, or of patterns, or where there is a Z. Where `rank`
    (`r` of polynomial-network) is left out, it is chosen on numbers held out. options: those of the solver and of its
    limits; held_out (0.2), the share of the measurements that is held out and scores the estimates; seed; of answers:
    scaling, and what the model says of the link; of tables: biases; of the matrices constant, see `lrlab.own`.

    The trace is as of `lrlab.solve`, without what needs a truth; `trace.estimate` is what was recovered in the units of
    the given numbers, `trace.link` the link of responses. InputError in one sentence for what cannot be used.
    """
    return in_units(solve.run(job_of(y, X, Z, model=model, solver=solver, **options)))


def in_units(trace: Trace) -> Trace:
    """Return a trace of a person's data with its estimate, and the intervals, in the units of the given numbers."""
    if trace.estimate is None:
        return trace
    known = trace.intervals
    intervals = None if known is None else trace.problem.intervals_of(known)
    note = trace.note if known is None else trace.note.removesuffix(known.note).strip()
    note = " ".join(filter(None, [note, intervals.note if intervals else ""]))
    return replace(trace, estimate=trace.problem.recovered(trace.estimate), intervals=intervals, note=note)


def job_of(y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object) -> Job:
    """Return the checked job of `recover`."""
    model = model or own_arrays.model_of(y, X, Z)
    kind, _, base = kind_of(model)
    chosen = solver or first_solver(kind, X, Z)
    known = choices(own_class(kind, base))
    if isinstance(chosen, str):
        for name in options:
            require_known(name, {**known, **catalog.solver(chosen, model).settings}, what="option")
    spec = own_spec(y, X, Z, model=model, solver=chosen, **options)
    return make_job(spec, chosen, **{name: value for name, value in options.items() if name not in known})


def own_spec(y: Any, X: Any = None, Z: Any = None, *, model: str, solver: AnySolver = "", **options: object) -> Own:
    """Return the spec of measurements for a solver (of all where none is named); of options those of the spec count."""
    kind, arrays_of, base = kind_of(model)
    own, arrays = own_class(kind, base), arrays_of(y, X, Z)
    options = kind.completed(arrays, solver or first_solver(kind, X, Z), options)
    return spec_of(own, arrays, {name: value for name, value in options.items() if name in choices(own)})


def first_solver(kind: type[Own], X: Any = None, Z: Any = None) -> str:
    """Return the solver of a kind of own data with arrays X and Z where none is named."""
    featured = kind is OwnTable and not (X is None and Z is None)
    return "altmin" if featured else FIRST[kind]


def kind_of(model: str) -> tuple[type[Own], Any, type[Spec]]:
    """Return the kind of own data of a model, what makes arrays of them, and the class of the model's specs."""
    base = catalog.MODELS.get(model, Spec)
    for of, (kind, arrays_of) in KINDS.items():
        if issubclass(base, of):
            return kind, arrays_of, base
    names = tuple(name for name in catalog.MODELS if issubclass(catalog.MODELS[name], tuple(KINDS)))
    remedy = nearest(model, names) or "for labels and ratings take lrlab.fit and lrlab.fit_ratings"
    raise InputError("model", f"one of {', '.join(names)}", model, remedy)


def choices(own: type[Own]) -> dict[str, Parameter]:
    """Return the parameters of a spec that a person may set."""
    of_kind = {name for name, p in declared(own.kind).items() if not p.hidden}
    return {name: p for name, p in declared(own).items() if name in of_kind or name in own.free}


def spec_of(own: type[Own], arrays: Mapping[str, Vector], options: Mapping[str, object]) -> Own:
    """Return the spec of measurements with what a person says of them."""
    settings = settle(own, options)
    count = len(arrays["y"])
    given = ~held(count, float(settings["held_out"]), int(settings["seed"]))
    sizes = own.shape_of(arrays, given, settings)
    ranks = {"r", "rank"} & set(choices(own))
    if ranks and not ranks & set(options):
        sizes |= {**dict.fromkeys(ranks, 1), "rank_guess": "held-out"}
    values: dict[str, Any] = {**sizes, **options, "file": packed(arrays), "measured": count}
    return own(**values)
