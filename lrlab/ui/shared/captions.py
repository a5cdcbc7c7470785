"""What figures of all pages share: a problem in one line, and the style of a solver."""

from collections.abc import Sequence

from lrlab import catalog
from lrlab.parameters import declared
from lrlab.protocol import Spec


def describe_spec(spec: Spec, *, without: Sequence[str] = ()) -> str:
    """Return the title of a spec, its main parameters, and those that are not at their defaults, in one line."""
    main, defaults = catalog.model_entry(spec.model).main, declared(type(spec))
    values = {
        k: v
        for k, v in spec.public_values().items()
        if k not in ("picture", "seed", *without) and (k in main or v != defaults[k].default)
    }
    values["seed"] = spec.seed
    words = ", ".join(f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items())
    remark = spec.remark.removesuffix(".")
    return f"{spec.title}: {words}" + (f". {remark}" if remark else "")
