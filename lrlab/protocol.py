"""The protocol: Spec -> Problem -> Iterates -> `runs.run` -> Stop. The ground floor of the lab."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.random import SeedSequence

from lrlab.arrays import Array, Intervals
from lrlab.parameters import Parameter, Value, declared, require_known, settle

Estimate = Any
"""The result of a recovery: an array (real or complex), or a NamedTuple of arrays such as `lowrank.LowRank`."""
Checkpoint = Callable[[float], None]


def parts(estimate: Estimate) -> tuple[Array, ...]:
    """Return the arrays that an estimate consists of."""
    return tuple(estimate) if isinstance(estimate, tuple) else (estimate,)


@dataclass(eq=False)
class Interrupted(Exception):
    """Raised at a checkpoint in the middle of an iteration when the run has to end; carries the Stop."""

    stop: "Stop"


class Streams(NamedTuple):
    """Independent seed streams of one spec, so that two solvers see the same data."""

    truth: SeedSequence
    data: SeedSequence
    noise: SeedSequence
    solver: SeedSequence


def child(stream: SeedSequence, index: int) -> np.random.Generator:
    """Return the generator of block `index` of a stream: you can simulate any block without the blocks before it."""
    return np.random.default_rng(SeedSequence(stream.entropy, spawn_key=(*stream.spawn_key, index)))


class Problem(Protocol):
    """The data of a spec, with the ground truth and its scores. Solvers read the data and never the truth.

    spec: its parameters. truth: the signal; None for your data. contrasts (q, p): rows whose products with a recovered
    unit vector are of interest; None if its entries are. Models derive from this class, which gives the default answers
    to the two questions about the end of a run.
    """

    spec: Any = None
    truth: Any = None
    contrasts: Any = None

    def load(self, everything: bool) -> None:
        """Draw the data that is kept in memory (all of it if `everything`), before the clock starts."""
        return None

    @abstractmethod
    def score(self, estimate: Estimate) -> dict[str, float]:
        """Return the error measures of an estimate, by name; the same code for every solver."""

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return whether an iterate with this row, called CONVERGED, fits clearly worse than the truth: no minimum."""
        return False

    def another_fits(self, row: Mapping[str, float]) -> bool:
        """Return whether the last iterate, with this row, fits all data without error, and is not the truth."""
        return False


def proceed(fraction: float) -> None:
    """Let a computation go on: the checkpoint of a run that nobody watches."""


class View(NamedTuple):
    """A picture of a ground truth, an estimate or data: values (rows, columns), nan if missing, and names of both.

    scale: "gray" levels in 0..1, "bytes" of gray, "signed" numbers, "bits" -1 and 1, "labels" 0 and 1, "sizes" from 0,
    or "kinds", whole numbers from 0 that stand for colors.
    """

    values: Array
    scale: Literal["gray", "bytes", "signed", "bits", "labels", "sizes", "kinds"] = "signed"
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """A small, frozen, hashable description of a problem; it travels to the process that builds the data.

    A model is a subclass whose fields are annotated with `Parameter`; InputError for a wrong value; equation: LaTeX.
    watched: whether pages show estimates during a run; if not, lrlab keeps and sends only the last one. The
    properties above `seed`, and the methods after `streams`, answer questions that runs and pages ask; most models keep
    these answers.
    """

    model: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    equation: ClassVar[str]
    watched: ClassVar[bool] = True

    synthetic: ClassVar[bool] = True
    """Whether data are simulated from a known truth, as theory requires."""

    data_metrics: ClassVar[Mapping[str, Any]] = {}
    """Metrics of your data, by name, which replace the metrics of the family; empty for simulated data."""

    undetermined: ClassVar[Literal["nothing", "phase", "scale", "columns"]] = "nothing"
    """The part of an estimate that measurements cannot determine: nothing, the phase (or sign) of a vector, its scale
    and phase, or the lengths of the columns of a matrix."""

    view_words: ClassVar[str] = "The ground truth and the estimates as images."
    """The caption of the pictures of `view`."""

    remark = property(lambda spec: "")
    """A warning about this problem before a run, or nothing."""

    absent_metrics = property(lambda spec: ())
    """Metrics of the family that this problem does not have."""

    withheld = property(lambda spec: ())
    """Words of `SolverEntry.oracle` that solvers do not receive here."""

    measurements = property(lambda spec: 0)
    """Number of measurements to compare with `degrees_of_freedom`, or 0."""

    degrees_of_freedom = property(lambda spec: 0)
    """Number of unknowns that the measurements must determine; 0 if counting does not apply."""

    true_rank = property(lambda spec: 1)
    """Rank of the ground truth."""

    side = property(lambda spec: 0)
    """Side of a recovered image in pixels, else 0."""

    seed: Annotated[
        int, Parameter(meaning="seed of all randomness; the same seed gives the same data", low=0, high=2**32 - 1)
    ] = 0

    def __init_subclass__(cls, **given: Any) -> None:
        """Keep the short representation, which dataclasses would replace."""
        super().__init_subclass__(**given)
        cls.__repr__ = Spec.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return the call that makes this spec, without defaults; of your data, what describes them."""
        known = declared(type(self))
        given = {name: value for name, value in self.public_values().items() if value != known[name].default}
        words = ", ".join([repr(self.model), *(f"{k}={v!r}" for k, v in given.items())])
        return f"lrlab.spec({words})" if self.synthetic else f"<your data: {words}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{value}</td><td>{escape(declared(type(self))[name].meaning)}</td></tr>"
            for name, value in self.public_values().items()
        )
        return f"<p><b>{escape(self.title)}</b>: {escape(self.summary)}</p><table>{rows}</table>"

    def __post_init__(self) -> None:
        """Check every field against its declaration, then the fields against each other."""
        for name, value in settle(declared(type(self)), self.values()).items():
            object.__setattr__(self, name, value)
        self.check()

    def check(self) -> None:  # noqa: B027  (most models have nothing to add)
        """Raise InputError if parameters contradict each other."""

    @abstractmethod
    def build(self, checkpoint: Checkpoint = proceed) -> Any:
        """Simulate the data and return the problem; each pass over the data calls `checkpoint(fraction)`."""

    @property
    @abstractmethod
    def data_bytes(self) -> int:
        """Memory, in bytes, of all the data at once."""

    def values(self) -> dict[str, Value]:
        """Return all parameters by name, in the order of their declaration."""
        return {name: getattr(self, name) for name in declared(type(self))}

    def public_values(self) -> dict[str, Value]:
        """Return the parameters by name, without hidden ones that are not set."""
        known = declared(type(self))
        return {name: value for name, value in self.values().items() if value or not known[name].hidden}

    def replace(self, **changes: object) -> Self:
        """Return the spec with some values changed and checked again."""
        for name in changes:
            require_known(name, declared(type(self)), what="parameter")
        return type(self)(**{**self.values(), **changes})  # type: ignore[arg-type]

    def streams(self) -> Streams:
        """Return the seed streams for truth, data, noise and solver."""
        return Streams(*SeedSequence(self.seed).spawn(4))

    def ending(self, stop: Any) -> str:
        """Return a sentence about the end of a run that replaces the general one, or nothing."""
        return ""

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return a sentence that interprets the last metrics of a run, or nothing."""
        return ""

    def view(self, estimate: Any) -> View | None:
        """Return an estimate as a picture (None: the truth); None if it is plotted as numbers."""
        return None


@dataclass(frozen=True, slots=True)
class Iterate:
    """One state of a solver; every field is evaluated at the same estimate.

    estimate: the recovered signal, an array or factors, as the model says.
    objective: the solver's own objective, as in its docstring.
    residual: distance from a fixed point or from optimality, relative, 0 when solved; a run stops at `tol`.
    note: a decision of the solver for the reader, for example which moment it chose.
    optimal: whether a residual of 0 means a stationary point of the objective, not only a fixed point of the update.
    intervals: computes confidence intervals of the entries, scaled to unit length.
    """

    estimate: Estimate
    objective: float | None = None
    residual: float | None = None
    note: str = ""
    optimal: bool = True
    intervals: Callable[[], Intervals] | None = None


class Stop(Enum):
    """Why a run ended; the value is the sentence for the person who looks, with the remedy.

    CONVERGED claims optimality: the residual fell to `tol`, or the solver returned it after such a test.
    LOCAL_MINIMUM, NOT_UNIQUE: the problem's `truth_fits_better(row, tol)` or `another_fits(row)` holds; the former also
    from solvers that know how well the truth must fit, and that no end does.
    SETTLED: the residual fell to `tol`, but it measures a fixed point of the update (`Iterate.optimal` is false).
    NO_MINIMUM: the solver has seen that its objective has none, as likelihoods of separable answers.
    FINISHED: the solver ended by itself, as closed forms do. EXHAUSTED: it has used all batches of fresh samples.
    """

    CONVERGED = "Converged: the estimate is stationary to the tolerance, or as far as rounding lets it."
    LOCAL_MINIMUM = (
        "Local minimum: the ground truth fits the data better; take another initialization, seed or solver, "
        "or more data."
    )
    NOT_UNIQUE = (
        "Not unique: this fits all data, yet is not the ground truth; take more data, or for matrices a smaller rank."
    )
    SETTLED = (
        "Settled: the update stands still at a fixed point of the method, which need not minimize the residual norm."
    )
    NO_MINIMUM = "No minimum: the objective falls for ever while the estimate grows; only its direction has a meaning."
    FINISHED = "Finished: the method is complete."
    EXHAUSTED = "Exhausted: every batch of fresh samples is used; raise the number of measurements, or reuse samples."
    STALLED = (
        "Stalled: no step improves the estimate, which is not optimal; take another initialization or seed, "
        "or more data."
    )
    MAX_ITER = "Stopped at the iteration limit before the tolerance was reached: raise max_iter or loosen tol."
    TIMEOUT = "Stopped at the time limit: raise max_seconds, or make the problem smaller."
    DIVERGED = "Diverged: the objective grew a millionfold; take a smaller step or more measurements."
    NONFINITE = "Stopped: the estimate is no longer finite; take a smaller step, or rescale the data."
    CANCELLED = "Cancelled: the results up to here remain."


Iterates = Generator[Iterate, None, Any]
"""The value of a solver: a generator of iterates that may return the `Stop` at its end."""
Solver = Callable[..., Iterator[Iterate]]
"""A generator function. If it ends by itself it may return a Stop: CONVERGED only after a test that the estimate is
optimal, STALLED if no step improves it; returning nothing means FINISHED."""


SOLVER_TIME = Parameter(
    meaning="most solver time (trials: of the processor)", unit="s", low=0, high=86_400, scale="log"
)


class Limits(NamedTuple):
    """When a run ends at the latest."""

    tol: Annotated[float, Parameter(meaning="largest stationarity of a converged run", low=0, high=1, scale="log")] = (
        1e-8
    )
    max_iter: Annotated[
        int, Parameter(meaning="most iterations; some solvers: 1,000 by default", low=1, high=1_000_000, scale="log")
    ] = 200
    max_seconds: Annotated[float, SOLVER_TIME] = 60.0
