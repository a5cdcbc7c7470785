"""A job: one solver on one spec with all its settings, checked before anything runs; and the memory that it needs."""

import os
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lrlab import catalog
from lrlab.models.single_index import IN_MEMORY
from lrlab.parameters import InputError, Value, declared
from lrlab.plugins import AnySolver
from lrlab.protocol import Limits, Spec
from lrlab.settings import number
from lrlab.solver_entry import Options, SolverEntry

GIB = 2**30
MATRIX_BYTES = 64
"""Bytes per number of the matrices that a solver forms: themselves, their copies and decompositions."""
UNITS = {"GiB": GIB, "MiB": 2**20, "KiB": 2**10}


@dataclass(frozen=True)
class Job:
    """A solver on a spec with all its settings: checked, hashable, and small enough to send to a worker."""

    spec: Spec
    solver: str
    options: tuple[tuple[str, Value], ...]
    limits: Limits

    @property
    def entry(self) -> SolverEntry:
        """The solver's entry on the catalog."""
        return catalog.solver(self.solver, self.spec.model)

    @property
    def given(self) -> str:
        """The oracle information of the solver with these options, as a sentence."""
        return self.entry.given(dict(self.options), without=self.spec.withheld)

    def on(self, spec: Spec) -> "Job":
        """Return the same job on another spec of the same shape (another seed), which needs no new checks."""
        return replace(self, spec=spec)


def require_spec(spec: Spec) -> None:
    """Raise InputError for anything else, such as the name of a model."""
    if not isinstance(spec, Spec):
        raise InputError("spec", "one of a model", spec, 'make it by lrlab.spec("phase-retrieval"), for example')


def make_job(spec: Spec, solver: AnySolver, **settings: object) -> Job:
    """Return the job, or raise InputError with the reason why it cannot be run.

    Instead of a solver's name, an entry or a function is registered (`catalog.named`). `settings` are the solver's
    options and `tol`, `max_iter`, `max_seconds`, as values or as text.
    """
    return job_maker(spec, solver, **settings)(spec)


def job_maker(spec: Spec, solver: AnySolver, **settings: object) -> Callable[[Spec], Job]:
    """Return `make_job` for one solver with its settings, which are checked once for many specs of one model."""
    require_spec(spec)
    entry = catalog.solver(catalog.named(solver, spec.model), spec.model)
    options, limits = entry.settle(settings)
    given, limit = dict(options), memory_limit()

    def make(spec: Spec) -> Job:
        entry.refuse(spec, given)
        require_memory(spec, entry, given, limit)
        return Job(spec, entry.name, options, limits)

    return make


def memory_limit() -> int:
    """Return the bytes that one job may use: LRLAB_MEMORY_GIB, or 80% of the machine's shared by all workers."""
    chosen = os.environ.get("LRLAB_MEMORY_GIB")
    if chosen is None:
        return _share_of_memory(*map(os.environ.get, ("LRLAB_SPARE_WORKERS", "LRLAB_PROFILE")))
    with suppress(ValueError, OverflowError):
        if (limit := int(float(chosen) * GIB)) > 0:
            return limit
    raise InputError("LRLAB_MEMORY_GIB", "a number of GiB above 0", chosen, "set it to a number, or unset it")


@cache
def _share_of_memory(*environment: str | None) -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        # In a container the machine's memory is not ours.
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return int(0.8 * total / (cores() + number("LRLAB_SPARE_WORKERS")))


def memory_words(size: float) -> str:
    """Return bytes in words, in their largest unit."""
    unit, power = next(((unit, power) for unit, power in UNITS.items() if size >= power), ("bytes", 1))
    digits = 1 if unit == "GiB" or 1 < size / power < 10 else 0
    return f"{size / power:.{digits}f} {unit}"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_needed(spec: Spec, entry: SolverEntry, options: Options) -> int:
    """Return the bytes of the data a solver holds at once, of its workspace and of the matrices that it forms."""
    held = min(spec.data_bytes, IN_MEMORY) if entry.streams else spec.data_bytes
    return int((1 + entry.memory) * held) + MATRIX_BYTES * entry.matrix(spec, options)


def require_memory(spec: Spec, entry: SolverEntry, options: Options, limit: int) -> None:
    """Raise InputError when a job needs more than `limit` bytes, naming the largest size that fits."""
    needed = memory_needed(spec, entry, options)
    if needed <= limit:
        return
    for name in ("n", "m", "p", "d1", "n1", "side"):
        parameter = declared(type(spec)).get(name)
        largest = parameter and _largest(spec, entry, options, name, int(parameter.low), limit)
        if largest:
            got = f"{getattr(spec, name)}, which needs {memory_words(needed)}"
            other = _solver_that_fits(spec, entry, limit)
            expected = f"at most {largest} for {entry.name} within {memory_words(limit)} of memory"
            raise InputError(name, expected, got, " or ".join(filter(None, [f"lower {name}", other])))
    raise InputError("memory", f"at most {memory_words(limit)}", memory_words(needed), "make the problem smaller")


def _solver_that_fits(spec: Spec, entry: SolverEntry, limit: int) -> str:
    if entry.streams:
        return ""
    for other in catalog.solvers_for(spec.model):
        options = dict(other.settle({}).options)
        try:
            other.refuse(spec, options)
        except InputError:
            continue
        if other.streams and memory_needed(spec, other, options) <= limit:
            return f"take a solver that reads the data in blocks, such as {other.name}"
    return ""


def _largest(spec: Spec, entry: SolverEntry, options: Options, name: str, low: int, limit: int) -> int:
    def needed(size: int) -> int:
        return memory_needed(spec.replace(**{name: size}), entry, options)

    sizes = range(low, getattr(spec, name))
    try:
        fitting = bisect_right(sizes, limit, key=needed)
    except InputError:
        return 0
    return sizes[fitting - 1] if fitting else 0
