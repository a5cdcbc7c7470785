"""What figures of all pages share: a problem in one line, and the style of a solver."""

from collections.abc import Sequence

from lrlab import catalog
from lrlab.figures import theme
from lrlab.figures.recovery import Recovery
from lrlab.protocol import Spec


def describe_spec(spec: Spec, *, without: Sequence[str] = ()) -> str:
    """Return the title and the parameters of a spec in one line."""
    values = {k: v for k, v in spec.public_values().items() if k not in ("picture", "seed", *without)}
    values["seed"] = spec.seed
    words = ", ".join(f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items())
    remark = getattr(spec, "remark", "").removesuffix(".")
    return f"{spec.title}: {words}" + (f". {remark}" if remark else "")


def style_of(model: str, solver: str) -> Recovery:
    """Return a solver's title and style on a model, which do not depend on the other solvers that run."""
    names, title = [entry.name for entry in catalog.solvers_for(model)], catalog.solver(solver, model).title
    return Recovery(title, theme.colours(names)[solver], theme.dashes(names)[solver], theme.symbols(names)[solver])
