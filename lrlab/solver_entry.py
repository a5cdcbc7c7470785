"""What the lab knows about a solver, beside its code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lrlab.parameters import Parameter, Value, declared
from lrlab.protocol import Solver

Options = Mapping[str, Value]


def accept(spec: Any, options: Options) -> None:
    """Refuse nothing."""


def no_prediction(spec: Any, options: Options) -> dict[str, float]:
    """Predict nothing."""
    return {}


def no_workspace(spec: Any, options: Options) -> int:
    """Need no memory beyond the data."""
    return 0


@dataclass(frozen=True, kw_only=True)
class SolverEntry:
    """A solver on the catalogue.

    name: as in the shell and in URLs. title: as on pages. summary: one sentence for someone who has to choose.
    run: the generator function; its annotated keywords are the options. models: names of the models it is made for.
    knows_link: whether it uses the link function, which Algorithm 1 does not need.
    streams: whether it reads the data in blocks; if not, all data is held at once.
    workspace(spec, options): bytes that it needs beyond the data.
    refuse(spec, options): raises InputError where it cannot work, before anything is run.
    predict(spec, options): exact theory for this spec as `predicted_...` numbers; empty where there is none.
    """

    name: str
    title: str
    summary: str
    reference: str
    run: Solver
    models: tuple[str, ...]
    knows_link: bool = False
    streams: bool = False
    workspace: Callable[[Any, Options], int] = no_workspace
    refuse: Callable[[Any, Options], None] = accept
    predict: Callable[[Any, Options], dict[str, float]] = no_prediction

    @property
    def options(self) -> Mapping[str, Parameter]:
        """The declared options, by name."""
        return declared(self.run)
