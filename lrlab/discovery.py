"""Tables of what lrlab has: `lrlab.models()`, and `lrlab.solvers(model)`."""

from typing import TYPE_CHECKING

from lrlab import catalog

if TYPE_CHECKING:
    import pandas as pd


def models() -> "pd.DataFrame":
    """Return the models with title, summary and family, by name; `lrlab.spec(name)` makes a problem of one."""
    import pandas as pd

    rows = [
        {"model": name, "title": entry.spec.title, "summary": entry.spec.summary, "family": entry.family.name}
        for name, entry in catalog.MODEL_ENTRIES.items()
    ]
    return pd.DataFrame(rows).set_index("model")


def solvers(model: str = "") -> "pd.DataFrame":
    """Return the solvers of a model, or of all, by name: title, summary, needs, cost, reference.

    needs: the oracle information of a solver. cost: of an iteration. InputError for an unknown model.
    """
    import pandas as pd

    entries = catalog.solvers_for(model) if model else catalog.ENTRIES
    rows = [
        {
            "solver": one.name,
            "title": one.title,
            "summary": one.summary,
            "needs": ", ".join(one.oracle),
            "cost": one.cost,
            "reference": one.reference,
        }
        for one in entries
    ]
    return pd.DataFrame(rows).set_index("solver")
