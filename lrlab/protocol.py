"""The protocol: Spec -> Problem -> Iterates -> drive -> Stop. The ground floor of the lab."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.random import SeedSequence

from lrlab.arrays import Array, Intervals, Mask
from lrlab.model_hooks import ModelHooks
from lrlab.parameters import InputError, Parameter, Value, declared, require_known, settle

Estimate = Any
"""What is recovered: an array (real or complex), or a NamedTuple of arrays such as `lowrank.LowRank`."""
Checkpoint = Callable[[float], None]


def parts(estimate: Estimate) -> tuple[Array, ...]:
    """Return the arrays that an estimate consists of."""
    return tuple(estimate) if isinstance(estimate, tuple) else (estimate,)


@dataclass(eq=False)
class Interrupted(Exception):
    """Raised at a checkpoint in the middle of an iteration when the run has to end; carries the Stop."""

    stop: "Stop"


def stream(place: int) -> cached_property[SeedSequence]:
    """Return the attribute that is the child of a seed at a place, made when it is needed."""
    return cached_property(lambda streams: SeedSequence(streams.seed, spawn_key=(place,)))


@dataclass(frozen=True)
class Streams:
    """Independent seed streams of one spec, so that two solvers see the same data."""

    seed: int
    truth, data, noise, solver = map(stream, range(4))


def child(stream: SeedSequence, index: int) -> np.random.Generator:
    """Return the generator of block `index` of a stream: any block can be drawn without those before it."""
    return np.random.default_rng(SeedSequence(stream.entropy, spawn_key=(*stream.spawn_key, index)))


class Problem(Protocol):
    """What a solver sees: data, and never the truth; what the lab asks: a score, and two questions about the end.

    spec: what it was built from. truth: what is to be recovered; None of a person's own data. Models derive from this
    class, so that a problem without answers of its own has the defaults.
    """

    spec: Any = None
    truth: Any = None

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


@dataclass(frozen=True, kw_only=True)
class Spec(ModelHooks, ABC):
    """A small, frozen, hashable description of a problem; it travels to where the data is then built.

    A model is a subclass whose fields are annotated with `Parameter`; InputError for a wrong value; equation: LaTeX.
    watched: whether estimates are looked at while a run goes on; where not, the last one alone is kept and sent.
    """

    model: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    equation: ClassVar[str]
    watched: ClassVar[bool] = True

    seed: Annotated[
        int, Parameter(meaning="seed of all randomness; the same seed gives the same data", low=0, high=2**32 - 1)
    ] = 0

    def __post_init__(self) -> None:
        """Check every field against its declaration, then the fields against each other."""
        for name, value in settle(type(self), self.values()).items():
            object.__setattr__(self, name, value)
        self.check()

    def check(self) -> None:  # noqa: B027  (most models have nothing to add)
        """Raise InputError where parameters contradict each other."""

    @abstractmethod
    def build(self, checkpoint: Checkpoint = proceed) -> Any:
        """Draw the data and return the problem; `checkpoint(fraction)` is called during each pass over the data."""

    @property
    @abstractmethod
    def data_bytes(self) -> int:
        """Memory, in bytes, of all the data when it is held at once."""

    @property
    def memory_advice(self) -> str:
        """What else, beside a smaller size, makes this model need less memory; as part of a sentence, or nothing."""
        return ""

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
        return Streams(self.seed)


@dataclass(frozen=True, slots=True)
class Iterate:
    """One state of a solver; every field is evaluated at the same estimate.

    estimate: what is recovered, an array or factors, as the model says.
    objective: the solver's own objective, as in its docstring.
    residual: distance from a fixed point or from optimality, relative, 0 when solved; a run stops at `tol`.
    note: what the solver decided on the way, for the person who looks (for example which moment was chosen).
    optimal: whether a residual of 0 means a stationary point of the objective, not a fixed point of the update alone.
    intervals: computes those of the entries, scaled to unit length.
    loss: of any estimate, in nats, where CONVERGED would claim that no other has one lower by more than one.
    """

    estimate: Estimate
    objective: float | None = None
    residual: float | None = None
    note: str = ""
    optimal: bool = True
    intervals: Callable[[], Intervals] | None = None
    loss: Callable[[Estimate], float] | None = None


class Stop(Enum):
    """Why a run ended; the value is the sentence for the person who looks, with the remedy.

    CONVERGED claims optimality: the residual fell to `tol`, or the solver returned it after such a test.
    LOCAL_MINIMUM, NOT_UNIQUE: the problem's `truth_fits_better(row, tol)` or `another_fits(row)` holds; the former also
    where the truth has a lower `Iterate.loss`, and from solvers that know how well it must fit, and that no end does.
    SETTLED: the residual fell to `tol`, but is that of a fixed point of the update (`Iterate.optimal` is false).
    FINISHED: the solver ended by itself, as closed forms do. EXHAUSTED: it has used all batches of fresh samples.
    """

    CONVERGED = "Converged: the residual fell below the tolerance, or as far as rounding lets it."
    LOCAL_MINIMUM = "Local minimum: the truth fits the data better; take another start, seed or solver, or more data."
    NOT_UNIQUE = "Not unique: this fits all data, as the truth does, yet is not it; take more data or a smaller rank."
    SETTLED = "Settled: the update stands still at a fixed point of the method, which need not minimise the misfit."
    FINISHED = "Finished: the method is complete."
    EXHAUSTED = "Exhausted: every batch of fresh samples is used; raise the number of measurements, or reuse samples."
    STALLED = "Stalled: no step improves the estimate, which is not optimal; take another start or seed, or more data."
    MAX_ITER = "Stopped at the iteration limit before the tolerance was reached: raise max_iter or loosen tol."
    TIMEOUT = "Stopped at the time limit: raise max_seconds, or make the problem smaller."
    DIVERGED = "Diverged: the objective grew a millionfold; take a smaller step or more measurements."
    NONFINITE = "Stopped: the estimate is no longer finite; take a smaller step, or rescale the data."
    CANCELLED = "Cancelled: what was computed up to here is kept."


Iterates = Generator[Iterate, None, Any]
"""What a solver returns: iterates and, where it ends by itself, the `Stop` that says why."""
Solver = Callable[..., Iterator[Iterate]]
"""A generator function. One that ends by itself may return the Stop that holds: CONVERGED only where it has tested
that the estimate is optimal, STALLED where no step improves it; returning nothing means FINISHED."""


SOLVER_TIME = Parameter(
    meaning="most solver time (trials: of the processor)", unit="s", low=0, high=86_400, scale="log"
)


class Limits(NamedTuple):
    """When a run ends at the latest."""

    tol: Annotated[
        float, Parameter(meaning="stop when the solver's residual is at most this", low=0, high=1, scale="log")
    ] = 1e-8
    max_iter: Annotated[
        int, Parameter(meaning="most iterations; some solvers: 1,000 by default", low=1, high=1_000_000, scale="log")
    ] = 200
    max_seconds: Annotated[float, SOLVER_TIME] = 60.0


def limits(given: Mapping[str, object]) -> Limits:
    """Return checked limits from values or texts by name."""
    return Limits(**settle(Limits, given))  # type: ignore[arg-type]


Watch = Callable[[int, float, Iterate], None]
Clock = Callable[[], float]
"""Seconds since a moment: `time.perf_counter` of the wall, `time.thread_time` of the processor."""


class Progress(NamedTuple):
    """Where a run is, or, as arrays (runs,), where many runs are that go on together.

    seconds: solver time. first: size of the first objective. objective, residual: of the newest iterate, nan where it
    has none. finite: whether it is finite. optimal: see `Iterate`.
    """

    iteration: int
    seconds: float
    first: float | Array
    objective: float | Array
    residual: float | Array
    finite: bool | Mask
    optimal: bool | Mask = True


def reasons(now: Progress, limits: Limits, cancelled: Callable[[], bool]) -> Iterator[tuple[Stop, bool | Mask]]:
    """Yield each reason to end, the first that counts first, and whether it holds, for one run or for each of many."""
    yield Stop.NONFINITE, np.logical_not(now.finite)
    # Objectives may be negative or start at zero; growth is measured against the first one's size plus one.
    yield Stop.DIVERGED, now.objective > 1e6 * (now.first + 1.0)
    solved = now.residual <= limits.tol
    yield Stop.CONVERGED, now.optimal & solved
    yield Stop.SETTLED, solved
    yield Stop.CANCELLED, cancelled()
    yield Stop.TIMEOUT, now.seconds >= limits.max_seconds
    yield Stop.MAX_ITER, now.iteration >= limits.max_iter


def not_an_iterate(iterates: Iterator[Any], got: object) -> InputError:
    """Return the sentence on a solver that yields something else, with its file."""
    code = getattr(iterates, "gi_code", None)
    where = f"{code.co_name} ({Path(code.co_filename).name})" if code else "a solver"
    return InputError(f"what {where} yields", "an Iterate", type(got).__name__, "yield Iterate(estimate)")


def drive(
    iterates: Iterator[Iterate],
    watch: Watch,
    *,
    tol: float = Limits().tol,
    max_iter: int = Limits().max_iter,
    max_seconds: float = Limits().max_seconds,
    cancelled: Callable[[], bool] = lambda: False,
    clock: Clock = time.perf_counter,
) -> Stop:
    """Run a solver to its end and say why it ended: the only owner of loop, clock and stopping.

    `watch(iteration, seconds, iterate)` gets every finite iterate; its own time does not count as the solver's.
    clock: what seconds are counted by. Somebody waits for a live run, whose BLAS may have several threads: wall time.
    Trials count the processor time of their thread (`time.thread_time`), on one thread of BLAS, so that a busy machine
    ends them after the same iterations.
    """
    iteration, seconds, first, limits = 0, 0.0, math.nan, Limits(tol, max_iter, max_seconds)
    while True:
        iteration += 1
        started = clock()
        try:
            iterate = next(iterates)
        except StopIteration as end:
            return end.value or Stop.FINISHED
        except Interrupted as interruption:
            return interruption.stop
        seconds += clock() - started
        if not isinstance(iterate, Iterate):
            raise not_an_iterate(iterates, iterate)
        objective, residual = (math.nan if v is None else v for v in (iterate.objective, iterate.residual))
        first = abs(objective) if math.isnan(first) else first
        known = iterate.objective is None or math.isfinite(objective)
        finite = known and all(np.isfinite(part).all() for part in parts(iterate.estimate))
        if finite:
            watch(iteration, seconds, iterate)
        now = Progress(iteration, seconds, first, objective, residual, finite, iterate.optimal)
        if stop := next((stop for stop, holds in reasons(now, limits, cancelled) if holds), None):
            return stop
