"""How a solver is declared: the decorator `solver`, its docstring, and the entry in the catalog made of both.

Files of solvers import from here all that a declaration and its iterates need.
"""

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.parameters import InputError, Parameter, Value, choice, declared, display_name, number, settle
from lrlab.protocol import Iterate, Iterates, Limits, Solver, Stop

__all__ = ["Generator", "InputError", "Iterate", "Iterates", "Parameter", "Stop", "choice", "number"]
Options = Mapping[str, Value]
Run = TypeVar("Run", bound=Callable[..., Any])


def nothing_known(*of: object) -> dict[str, Any]:
    """Return nothing: theory gives no numbers."""
    return {}


class Settings(NamedTuple):
    """The checked settings of a run: the solver's options in the order of their declaration, and the run's limits."""

    options: tuple[tuple[str, Value], ...]
    limits: Limits


class Words(NamedTuple):
    """The parts of a solver's docstring.

    title: the first line. summary: the second paragraph. update: LaTeX after `.. math::`. rows: words by the key that
    begins a line and two spaces, such as minimize, cost. reference: after `Reference:`. rest: all other text.
    """

    title: str
    summary: str
    update: str
    rows: Mapping[str, str]
    reference: str
    rest: str


@cache
def words(text: str) -> Words:
    """Return the parts of a docstring; those that it lacks are empty."""
    title, _, body = text.partition("\n\n")
    math = re.search(r"^\.\. math::\s*(.*?)(?=\n\n|\n\S|\Z)", body, re.DOTALL | re.MULTILINE)
    reference = re.search(r"^References?: (.*?)(?=\n\n|\Z)", body, re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^([a-z]+) {2,}(.*?)(?=\n\n|\n\S|\Z)", body, re.DOTALL | re.MULTILINE)
    summary, _, rest = body.partition("\n\n") if re.match(r"\S+ (?! )(?!math::)", body) else ("", "", body)
    for part in (math, reference):
        rest = rest.replace(part[0], "") if part else rest
    return Words(
        title=" ".join(title.split()).removesuffix("."),
        summary=" ".join(summary.split()),
        update=" ".join(math[1].split()) if math else "",
        rows={key: " ".join(row.split()) for key, row in rows},
        reference=" ".join(reference[1].split()) if reference else "",
        rest=re.sub(r"\n{3,}", "\n\n", rest).strip("\n"),
    )


@dataclass(frozen=True, kw_only=True)
class SolverEntry:
    """A solver on the catalog: the generator function, and what `solver` and the docstring declare of it.

    run: the generator function; its annotated keywords are the options.
    name, title, summary, update, reference: by default of the function and its docstring (see `Words`).
    models: names of the models that it solves; families: names of families whose models it solves.
    oracle: its information beyond the data, such as "link", "rank" or "sparsity".
    oracle_with(options): further information with these options.
    streams: whether it reads the data in blocks; if not, all data is held at once.
    memory: bytes that it needs per byte of the data that it holds, in addition to that byte, as measured.
    matrix(spec, options): numbers in the matrices that it forms, if these can outgrow the data, such as p^2.
    max_iter: default limit of iterations.
    refuse(spec, options): raises InputError before a run if it cannot work.
    predict(spec, options): exact asymptotic theory, as `limit_...` numbers; empty if there is none.
    sample(spec, options, count): overlaps (count,) of the estimates on synthetic problems of this size, by their exact
    law, or None. sample_seconds(spec, options): about the time of one of them.
    attains: whether theory predicts that it reaches the limit of polynomial-time methods, and so shares their lines.
    predict_iterations(spec, options, iterations): exact theory for the overlap of each of the first iterates.
    fixed: options of an alias that nobody can change. changed: by option, what its parameter has otherwise here.
    """

    run: Solver
    name: str = ""
    title: str = ""
    summary: str = ""
    update: str = ""
    reference: str = ""
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    memory: float = 1.0
    matrix: Callable[[Any, Options], int] = lambda spec, options: 0
    oracle: tuple[str, ...] = ()
    oracle_with: Callable[[Options], tuple[str, ...]] = lambda options: ()
    streams: bool = False
    max_iter: int = Limits().max_iter
    refuse: Callable[[Any, Options], None] = lambda spec, options: None
    predict: Callable[[Any, Options], dict[str, float]] = nothing_known
    sample: Callable[[Any, Options, int], Array | None] = lambda spec, options, number: None
    sample_seconds: Callable[[Any, Options], float] = lambda spec, options: math.inf
    attains: bool = False
    predict_iterations: Callable[[Any, Options, int], Sequence[float]] = lambda spec, options, iterations: ()
    fixed: tuple[tuple[str, Value], ...] = ()
    changed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Take missing parts from the function and its docstring."""
        said, name = self.words, getattr(self.run, "__name__", "")
        defaults = {
            "name": name.replace("_", "-"),
            "title": said.title if said.summary else display_name(name).capitalize(),
            "summary": said.summary or f"{said.title or 'A function without a docstring'}.",
            "update": said.update or r"\text{as its code says}",
            "reference": said.reference or "Not published.",
        }
        for part, value in defaults.items():
            object.__setattr__(self, part, getattr(self, part) or value)

    @property
    def words(self) -> Words:
        """The parts of the docstring."""
        return words(inspect.getdoc(self.run) or "")

    def given(self, options: Options | None = None, without: Collection[str] = ()) -> str:
        """Return its oracle information, also that of some options, as a sentence; nothing if it has only the data."""
        oracle = *self.oracle, *(self.oracle_with(options) if options else ())
        known = ", ".join(word for word in oracle if word not in without)
        return f"Oracle information: {known}." if known else ""

    @property
    def options(self) -> Mapping[str, Parameter]:
        """The declared options, by name; fixed options of an alias have one value, and are hidden."""
        options = {name: replace(one, **self.changed.get(name, {})) for name, one in declared(self.run).items()}
        for name, value in self.fixed:
            one = {"choices": (value,)} if isinstance(value, str) else {"low": float(value), "high": float(value)}
            options[name] = replace(options[name], default=value, hidden=True, **one)
        return options

    def alias(self, name: str, fixed: Mapping[str, Value]) -> "SolverEntry":
        """Return the entry under an old name, with options fixed as far as this solver has them."""
        fixed = {option: value for option, value in fixed.items() if option in declared(self.run)}
        words = [str(value) if isinstance(value, str) else display_name(option) for option, value in fixed.items()]
        return replace(self, name=name, title=f"{self.title}: {', '.join(words)}", fixed=tuple(fixed.items()))

    @property
    def settings(self) -> Mapping[str, Parameter]:
        """The declared options and the limits of a run, by name."""
        return {**self.options, **declared(Limits)}

    def settle(self, settings: Mapping[str, object]) -> Settings:
        """Return all settings, checked: the given values, or texts, and defaults for the others.

        Raises InputError for a name that is neither an option nor a limit, and for a value that is not accepted.
        """
        values: Any = settle(self.settings, {"max_iter": self.max_iter, **settings}, f"setting of {self.name}")
        limits = Limits(*(values.pop(name) for name in Limits._fields))
        return Settings(tuple(values.items()), limits)


def solver(
    *,
    models: str | Sequence[str] = (),
    family: str | Sequence[str] = (),
    oracle: str | Sequence[str] = (),
    **facts: Any,
) -> Callable[[Run], Run]:
    """Declare a generator function (problem, *, options, rng) a solver, by a decorator above it.

    models: names of models it solves; family: names of families whose models it solves. oracle: its information beyond
    the data. facts: other fields of `SolverEntry`, such as memory, matrix, refuse, max_iter. Title, summary, update and
    reference come from the docstring. Two decorators above one function declare it for two families.
    """

    def names(given: str | Sequence[str]) -> tuple[str, ...]:
        return (given,) if isinstance(given, str) else tuple(given)

    def declare(run: Run) -> Run:
        parts = {"models": names(models), "families": names(family), "oracle": names(oracle), **facts}
        vars(run)["declared_solvers"] = (SolverEntry(run=run, **parts), *entries(run))
        return run

    return declare


def entries(run: object) -> tuple[SolverEntry, ...]:
    """Return the entries that decorators declare for a function; none for other objects."""
    return getattr(run, "declared_solvers", ())
