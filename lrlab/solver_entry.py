"""What the lab knows about a solver, beside its code."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lrlab.arrays import Array
from lrlab.code_hash import docstring
from lrlab.parameters import Parameter, Value, declared, require_known, settle
from lrlab.protocol import Limits, Solver, limits

Options = Mapping[str, Value]


def all_of(*checks: Callable[[Any, Options], None]) -> Callable[[Any, Options], None]:
    """Return a check that makes several, one after the other."""

    def refuse(spec: Any, options: Options) -> None:
        for check in checks:
            check(spec, options)

    return refuse


def nothing_known(*of: object) -> dict[str, Any]:
    """Return nothing: theory knows no number of these."""
    return {}


def not_drawn(*of: object) -> None:
    """Return None: the law of what a solver does at a finite size is not drawn."""


def never(*of: object) -> float:
    """Return the time of what cannot be had."""
    return math.inf


class Settings(NamedTuple):
    """The checked settings of a run: the solver's options in the order of their declaration, and the run's limits."""

    options: tuple[tuple[str, Value], ...]
    limits: Limits


def given_words(knows: Sequence[str]) -> str:
    """Return what a solver is given beyond the data as a sentence; nothing where it has the data alone."""
    return f"Given beyond the data: {', '.join(knows)}." if knows else ""


@dataclass(frozen=True, kw_only=True)
class SolverEntry:
    """A solver on the catalogue.

    name: as in the shell and in URLs, by default that of `run`. title: as on pages.
    update: what a step does, or the solution, as LaTeX.
    summary: one sentence for someone who has to choose. reference: by default that of the docstring of `run`.
    run: the generator function; its annotated keywords are the options.
    models: names of the models it is made for; families: names of families for all of whose models it is made.
    knows: what it is given beyond the data, such as "link", "rank" or "sparsity", unless an option says otherwise.
    knows_with(options): what it is given beyond that where its options say so.
    streams: whether it reads the data in blocks; if not, all data is held at once.
    workspace: bytes that it needs per byte of the data that it holds, beside that byte, as measured.
    matrix(spec, options): numbers in the matrices that it forms, where they can outgrow the data, such as p^2.
    max_iter: iterations after which a run ends where no number is given.
    refuse(spec, options): raises InputError where it cannot work, before anything is run.
    predict(spec, options): exact theory in the limit of large problems, as `limit_...` numbers; empty where there is
    none.
    draw(spec, options, count): overlaps (count,) of the estimates on draws of problems of this size, from their exact
    law; None where they cannot be had. draw_seconds(spec, options): about what one of them takes.
    attains: whether it is predicted to do what the best known fast methods do, so that their lines are its own.
    predict_iterations(spec, options, iterations): exact theory for the overlap of each of the first iterates.
    """

    title: str
    summary: str
    update: str
    run: Solver
    name: str = ""
    reference: str = ""
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    workspace: float = 1.0
    matrix: Callable[[Any, Options], int] = lambda spec, options: 0
    knows: tuple[str, ...] = ()
    knows_with: Callable[[Options], tuple[str, ...]] = lambda options: ()
    streams: bool = False
    max_iter: int = Limits().max_iter
    refuse: Callable[[Any, Options], None] = lambda spec, options: None
    predict: Callable[[Any, Options], dict[str, float]] = nothing_known
    draw: Callable[[Any, Options, int], Array | None] = not_drawn
    draw_seconds: Callable[[Any, Options], float] = never
    attains: bool = False
    predict_iterations: Callable[[Any, Options, int], Sequence[float]] = lambda spec, options, iterations: ()

    def __post_init__(self) -> None:
        """Take name and reference from the generator function where they are not given."""
        written = re.search(r"^References?: (.*?)(\n\n|\Z)", docstring(self.run), re.DOTALL | re.MULTILINE)
        object.__setattr__(self, "name", self.name or getattr(self.run, "__name__", "").replace("_", "-"))
        object.__setattr__(self, "reference", self.reference or " ".join(written[1].split() if written else ()))

    @property
    def given(self) -> str:
        """What it knows, as a sentence; nothing where it has the data alone."""
        return given_words(self.knows)

    @property
    def options(self) -> Mapping[str, Parameter]:
        """The declared options, by name."""
        return declared(self.run)

    @property
    def settings(self) -> Mapping[str, Parameter]:
        """The declared options and the limits of a run, by name."""
        return {**self.options, **declared(Limits)}

    def require_setting(self, name: str) -> None:
        """Raise InputError unless `name` is an option of the solver or a limit of its run."""
        require_known(name, self.settings, what=f"setting of {self.name}")

    def settle(self, settings: Mapping[str, object]) -> Settings:
        """Return all settings, checked: the given values, or texts, and defaults for the others.

        Raises InputError for a name that is neither an option nor a limit, and for a value that is not accepted.
        """
        for name in settings:
            self.require_setting(name)
        options = settle(self.run, {name: value for name, value in settings.items() if name in self.options})
        ending = {name: value for name, value in settings.items() if name not in self.options}
        return Settings(tuple(options.items()), limits({"max_iter": self.max_iter, **ending}))
