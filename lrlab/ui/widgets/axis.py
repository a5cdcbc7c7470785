"""Controls of an axis: its quantity, range, spacing and number of values."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.model_entry import Range
from lrlab.models.axes import axes, derived, first_range, is_whole
from lrlab.parameters import InputError, Parameter, declared
from lrlab.sweeps.definition import Given, Span, spacing
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

FEWEST, MOST = 2, 60
"""Values of a range."""
NONE = "none"
"""The choice of no axis."""
LISTED = Parameter(
    meaning="values one by one, instead of the range", name="values", symbol="values", kind=str, default=""
)
LISTED_ONE = Parameter(meaning="a value of an axis", name="values", default=1.0)


class Axis(NamedTuple):
    """The chosen axis: its name, title, values, spacing, the parameter it decides, and whether values are whole.

    given: the values or their range, as in the definition of a sweep.
    """

    name: str
    title: str
    values: tuple[float, ...]
    spacing: str
    decides: str
    whole: bool
    given: Given = ()


def choose(
    link: Permalink,
    model: str,
    default: str,
    *,
    prefix: str = "",
    label: str = "Along",
    points: int = 12,
    ranges: Mapping[str, Range] = MappingProxyType({}),
    lists: bool = False,
    optional: bool = False,
) -> Axis | InputError | None:
    """Show the widgets of an axis; return it, or the error in it; None if an `optional` one is not chosen.

    prefix: distinguishes the axes of one page. ranges: first ranges that differ from the models' own. lists: whether
    the values may also be listed one by one.
    """
    titles = ({NONE: "no second axis"} if optional else {}) | axes(catalog.MODELS[model])
    parameter = Parameter(
        meaning="what is varied",
        choices=tuple(titles),
        name=f"{prefix}axis",
        kind=str,
        default=default if default in titles else next(iter(titles)),
    )
    known, now = declared(catalog.MODELS[model]), controls.current(link, link.key(parameter.name, model))
    meaning = controls.explanation(known[now] if now in known else parameter)
    look: dict[str, Any] = {"label": label, "format_func": titles.__getitem__, "help": meaning}
    name = str(controls.widget(link, parameter, scope=model, **look))
    if name == NONE:
        link.accept(prefix + part.name for part in (*_parts(0.0, 1.0, "linear", points), LISTED))
        return None
    low, high, scale = ranges.get(name) or first_range(catalog.model_entry(model), name)
    scope = f"{model}.{prefix}{name}"
    # The range has no effect if values are listed.
    key = link.key(f"{prefix}values", scope)
    listed = lists and controls.current(link, key, link.value(f"{prefix}values", LISTED))
    parts, off = _parts(low, high, scale, points), bool(str(listed or "").strip())
    given = controls.widgets(link, parts, scope=scope, prefix=prefix, disabled=off)
    derived_axis = derived(catalog.MODELS[model], name)
    decides = derived_axis.decides if derived_axis else name
    look = {"label": "values instead", "placeholder": "200, 400, 800"}
    text = str(controls.widget(link, LISTED, name=f"{prefix}values", scope=scope, **look)) if lists else ""
    try:
        whole = is_whole(catalog.MODELS[model], name)
        if text.strip():
            values = tuple(sorted(float(LISTED_ONE.check(word)) for word in text.replace(",", " ").split()))
            return Axis(name, titles[name], values, spacing(values), decides, whole, values)
        first, last, count, evenly = (part.check(given[part.name]) for part in parts)
        span = Span(float(first), float(last), int(count), str(evenly))
        return Axis(name, titles[name], spaced(span, name, whole=whole), span.spacing, decides, whole, span)
    except InputError as error:
        return error


def _parts(low: float, high: float, scale: str, points: int) -> tuple[Parameter, ...]:
    return (
        Parameter(meaning="first value of the axis", name="from", symbol="from", kind=float, default=low),
        Parameter(meaning="last value of the axis", name="to", symbol="to", kind=float, default=high),
        Parameter(
            meaning="number of values", name="points", symbol="points", low=FEWEST, high=MOST, kind=int, default=points
        ),
        Parameter(
            meaning="whether values are evenly spaced, or evenly in their logarithm",
            name="spacing",
            symbol="spacing",
            choices=("linear", "log"),
            kind=str,
            default=scale,
        ),
    )


def spaced(span: Span, axis: str, *, whole: bool) -> tuple[float, ...]:
    """Return the values of a range, to four digits, whole if they have to be; InputError if there are none."""
    rounded = (round(value) if whole else float(f"{value:.4g}") for value in span.values(axis))
    return tuple(sorted({float(value) for value in rounded}))


def fine(along: Axis) -> list[float]:
    """Return a fine grid of the axis for the curves; its values if they are whole numbers, or a single one."""
    if along.whole or len(along.values) == 1:
        return list(along.values)
    return Span(along.values[0], along.values[-1], 121, along.spacing).values(along.name)
