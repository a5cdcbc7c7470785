"""Packages that return a table of their contents: `lrlab.models()`, `lrlab.solvers("phase-retrieval")`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Listing(ModuleType):
    """A package of models or solvers, whose call returns the table of them."""

    def __call__(self, *given: Any) -> "pd.DataFrame":
        """Return the table of `models` or of `solvers`."""
        return (models if self.__name__ == "lrlab.models" else solvers)(*given)


def models() -> "pd.DataFrame":
    """Return the models with title, summary and family, by name; `lrlab.spec(name)` makes a problem of one."""
    entries = import_module("lrlab.catalog").MODEL_ENTRIES
    rows = [(name, one.spec.title, one.spec.summary, one.family.name) for name, one in entries.items()]
    return table(rows, "model", "title", "summary", "family")


def solvers(model: str = "") -> "pd.DataFrame":
    """Return the solvers of a model, or of all, by name: title, summary, needs, cost, reference.

    needs: the oracle information of a solver. cost: of an iteration. InputError for an unknown model.
    """
    catalog = import_module("lrlab.catalog")
    entries = catalog.solvers_for(model) if model else catalog.ENTRIES
    rows = [(one.name, one.title, one.summary, ", ".join(one.oracle), one.cost, one.reference) for one in entries]
    return table(rows, "solver", "title", "summary", "needs", "cost", "reference")


def table(rows: list[tuple[Any, ...]], *columns: str) -> "pd.DataFrame":
    """Return rows as a table by its first column."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns).set_index(columns[0])
