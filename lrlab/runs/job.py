"""A job: one solver on one spec with all its settings, checked before anything runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lrlab import catalog
from lrlab.parameters import Value
from lrlab.plugins import AnySolver, named
from lrlab.protocol import Limits, Spec
from lrlab.runs.memory import memory_limit, require_memory
from lrlab.solver_entry import SolverEntry, given_words


@dataclass(frozen=True)
class Job:
    """A solver on a spec with all its settings: checked, hashable, and small enough to send to a worker."""

    spec: Spec
    solver: str
    options: tuple[tuple[str, Value], ...]
    limits: Limits

    @property
    def entry(self) -> SolverEntry:
        """The solver's entry on the catalogue."""
        return catalog.solver(self.solver, self.spec.model)

    @property
    def given(self) -> str:
        """The oracle information of the solver with these options, as a sentence."""
        known = (*self.entry.oracle, *self.entry.oracle_with(dict(self.options)))
        return given_words([word for word in known if word not in self.spec.withheld])

    def on(self, spec: Spec) -> "Job":
        """Return the same job on another spec of the same shape (another seed), which needs no new checks."""
        return replace(self, spec=spec)


def make_job(spec: Spec, solver: AnySolver, **settings: object) -> Job:
    """Return the job, or raise InputError with the reason why it cannot be run.

    Instead of a solver's name, an entry or a function is registered (`plugins.named`). `settings` are the solver's
    options and `tol`, `max_iter`, `max_seconds`, as values or as text.
    """
    return job_maker(spec, solver, **settings)(spec)


def job_maker(spec: Spec, solver: AnySolver, **settings: object) -> Callable[[Spec], Job]:
    """Return `make_job` for one solver with its settings, which are checked once for many specs of one model."""
    entry = catalog.compatible(spec, solver if isinstance(solver, str) else named(solver, spec.model))
    options, limits = entry.settle(settings)
    given, limit = dict(options), memory_limit()

    def make(spec: Spec) -> Job:
        entry.refuse(spec, given)
        require_memory(spec, entry, given, limit)
        return Job(spec, entry.name, options, limits)

    return make
