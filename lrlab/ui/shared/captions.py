"""Describes a problem in one line, for captions above figures."""

from collections.abc import Sequence

from lrlab.protocol import Spec


def describe_spec(spec: Spec, *, without: Sequence[str] = ()) -> str:
    """Return the title and the parameters of a spec in one line."""
    values = {k: v for k, v in spec.public_values().items() if k not in ("picture", "seed", *without)}
    values["seed"] = spec.seed
    return f"{spec.title}: " + ", ".join(
        f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items()
    )
