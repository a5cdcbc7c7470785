"""Packages that return a table of their contents: `lrlab.models()`, `lrlab.solvers("phase-retrieval")`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Listing(ModuleType):
    """A package of models or solvers, whose call returns the table of them."""

    def __call__(self, *given: Any, **named: Any) -> "pd.DataFrame":
        """Return the table of `models` or of `solvers`."""
        return (models if self.__name__ == "lrlab.models" else solvers)(*given, **named)


def models() -> "pd.DataFrame":
    """Return the models with title, summary and family, by name; `lrlab.spec(name)` makes a problem of one."""
    import pandas as pd

    entries = import_module("lrlab.catalog").MODEL_ENTRIES
    rows = [(name, one.spec.title, one.spec.summary, one.family.name) for name, one in entries.items()]
    return pd.DataFrame(rows, columns=["model", "title", "summary", "family"]).set_index("model")


def solvers(model: str = "") -> "pd.DataFrame":
    """Return the solvers of a model, or of all, by name: title, summary, needs, cost, reference.

    needs: the oracle information of a solver. cost: of an iteration. A table of all has the models of each, too, as a
    name may stand for one solver per family. InputError for an unknown model.
    """
    import pandas as pd

    catalog = import_module("lrlab.catalog")
    rows = [
        (one.name, one.title, one.summary, ", ".join(one.oracle), one.words.rows.get("cost", ""), one.reference)
        for one in (catalog.solvers_for(model) if model else catalog.ENTRIES)
    ]
    columns = ["solver", "title", "summary", "needs", "cost", "reference"]
    table = pd.DataFrame(rows, columns=columns).set_index("solver")
    return table if model else table.assign(models=[", ".join(one.models) for one in catalog.ENTRIES])
