"""A preset at another value of its slider: the parameter of the spec that its table [slider] names is another one."""

import copy
from dataclasses import replace
from itertools import product

from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets.definition import Preset
from lrlab.protocol import Spec


def values(preset: Preset) -> list[float]:
    """Return the positions of the slider, in order; none where a preset has no slider."""
    return list(preset.content.get("slider", {}).get("values", ()))


def start(preset: Preset) -> float:
    """Return the value of which the stored result is."""
    return float(specs(preset)[0].values()[preset.content["slider"]["name"]])


def specs(preset: Preset) -> list[Spec]:
    """Return the specs of a preset, of all series in all panels, before their axes."""
    pairs = product(range(len(preset.panels)), range(len(preset.series)))
    return [preset.spec(("panels", i), ("series", j)) for i, j in pairs]


def moved(preset: Preset, value: float) -> Preset:
    """Return a preset at a value of its slider; InputError where it has none, or not such a value."""
    known = values(preset)
    if value not in known:
        expected = ", ".join(f"{one:g}" for one in known) or f"nothing, as {preset.name} has no slider"
        raise InputError("at", expected, value, "take one of these" if known else "leave it out")
    content = copy.deepcopy(dict(preset.content))
    name = content["slider"]["name"]
    content["spec"] = {**content.get("spec", {}), name: next(one for one in known if one == value)}
    source = copy.copy(preset.source)
    source.content = content
    return replace(preset, source=source, at=value)


def check(preset: Preset) -> None:
    """Raise InputError, with the path, where the slider moves no parameter, or does not pass the stored result."""
    if not values(preset):
        return
    name = preset.content["slider"]["name"]
    with preset.source.locate(("slider",)):
        require_known(name, tuple(axes(type(specs(preset)[0]))), what="parameter")
        if start(preset) not in values(preset):
            raise InputError("values", f"with {start(preset):g}, of which the result is", values(preset), "add it")
