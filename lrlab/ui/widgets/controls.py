"""Widgets made from the declarations of parameters, choices between options, and axes with their ranges."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st

from lrlab import catalog
from lrlab.model_entry import Range
from lrlab.models.axes import axes, derived, first_range, is_whole
from lrlab.parameters import InputError, Parameter, Value, declared
from lrlab.sweeps.definition import Given, Span, spacing
from lrlab.ui.widgets.permalink import Permalink

TRIALS = Parameter(
    meaning="simulated datasets at each point; a mean and its spread need several",
    name="trials",
    symbol="trials",
    kind=int,
    default=10,
    low=2,
    high=1000,
)

UNKNOWN = object()
"""The value of a widget that has none yet: that may be None, of a number that was cleared."""
FEWEST, MOST = 2, 60
"""Values of a range."""
NONE = "none"
"""The choice of no axis."""
LISTED = Parameter(
    meaning="values one by one, instead of the range", name="values", symbol="values", kind=str, default=""
)
LISTED_ONE = Parameter(meaning="a value of an axis", name="values", default=1.0)


def label(parameter: Parameter) -> str:
    """Return the label of a widget: the name, and the symbol of the papers if it differs."""
    words = parameter.name.replace("_", " ")
    return words if parameter.symbol in ("", parameter.name) else f"{words}  {parameter.symbol}"


def explanation(parameter: Parameter) -> str:
    """Return the help of a widget: meaning, unit and bounds."""
    unit = f", in {parameter.unit}" if parameter.unit else ""
    values = "" if parameter.choices else f" {parameter.expected[0].upper()}{parameter.expected[1:]}."
    return f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}{unit}.{values}"


def step(parameter: Parameter, value: float) -> float:
    """Return the step of the + and - buttons: about a sixth of the value on a logarithmic scale."""
    if parameter.scale == "log" and value > 0:
        size = 10.0 ** math.floor(math.log10(value)) / 2.0
    else:
        width = parameter.high - parameter.low if math.isfinite(parameter.high - parameter.low) else 100.0
        size = 10.0 ** math.floor(math.log10(width / 20.0))
    return max(1, int(size)) if parameter.kind is int else size


def fold(title: str, key: str, *, opened: bool = False) -> Any:
    """Return a place that is folded away; draw its contents only if its `open` is true."""
    return st.expander(title, key=key, expanded=opened, on_change="rerun")


def current(link: Permalink, key: str, first: Any = None) -> Any:
    """Return the value of a widget, drawn or not; `first` if it has none yet."""
    return st.session_state.get(key, link.kept.get(key, first))


def hold(link: Permalink, key: str, value: Any, *, shown: bool) -> Any:
    """Store the value of a widget, and return it: Streamlit forgets values of widgets that it does not draw."""
    if not shown:
        link.kept[key] = value
        if key in st.session_state:
            del st.session_state[key]
        return value
    link.kept.pop(key, None)
    return st.session_state.setdefault(key, value)


def widget(
    link: Permalink,
    parameter: Parameter,
    *,
    name: str = "",
    scope: str = "",
    shown: bool = True,
    few: bool = False,
    **look: Any,
) -> Value | None:
    """Show a parameter's widget and return its value, which may be out of bounds: the spec checks it.

    name: the key in the address, if it differs from the parameter's name. scope: separates keys that models do not
    share. shown: whether it is drawn; the value counts without that, too. few: whether all choices are in sight.
    """
    name = name or parameter.name
    key = link.key(name, scope)
    now = current(link, key, UNKNOWN)
    value: Value | None = hold(link, key, link.value(name, parameter) if now is UNKNOWN else now, shown=shown)
    if shown:
        look = {"label": label(parameter), "help": explanation(parameter), **look}
        value = _input(parameter, key, value, look, few=few)
    link.put(name, value, parameter)
    return value


def _input(parameter: Parameter, key: str, now: Any, look: dict[str, Any], *, few: bool) -> Value | None:
    # The value is sent twice: through the session and as the default. A page that runs twice in a row withdraws
    # the first before a busy browser has received it; the widget would then start at 0.
    if parameter.kind is bool:
        return st.toggle(key=key, value=bool(now), **look)
    if few:
        return st.segmented_control(options=parameter.choices, key=key, default=now, required=True, **look)
    if parameter.choices:
        index = parameter.choices.index(now) if now in parameter.choices else 0
        return st.selectbox(options=parameter.choices, key=key, index=index, **look)
    if parameter.kind is str:
        return st.text_input(key=key, value=now, **look)
    # No bounds here: a number outside gets the same error message as in the shell and the library.
    size = step(parameter, now if now is not None else float(parameter.default))
    value = None if now is None else parameter.kind(now)
    form = "%d" if parameter.kind is int else "%.4g"
    return st.number_input(key=key, value=value, step=size, format=form, **look)


def with_defaults(parameters: Iterable[Parameter], first: Mapping[str, Value]) -> list[Parameter]:
    """Return parameters with some defaults replaced: a page shows these first, and its address omits them."""
    return [replace(p, default=first.get(p.name, p.default)) for p in parameters]


def widgets(
    link: Permalink,
    parameters: Sequence[Parameter],
    *,
    scope: str = "",
    prefix: str = "",
    shown: bool = True,
    **look: Any,
) -> dict[str, Any]:
    """Show the widgets of several parameters, two per row, switches below them; return their values by name."""
    if not shown:
        return {one.name: widget(link, one, name=prefix + one.name, scope=scope, shown=False) for one in parameters}
    # A switch has its words to the right: half a row would cut them off.
    switches = [parameter for parameter in parameters if parameter.kind is bool]
    others = [parameter for parameter in parameters if parameter.kind is not bool]
    halves = st.columns(2, gap="small") if others else []
    places = [*(halves[k % 2] for k in range(len(others))), *(st.container() for _ in switches)]
    values = {}
    for parameter, place in zip([*others, *switches], places, strict=True):
        with place:
            values[parameter.name] = widget(link, parameter, name=prefix + parameter.name, scope=scope, **look)
    return values


def choose(
    link: Permalink,
    name: str,
    options: Mapping[str, str],
    meaning: str,
    title: str,
    *,
    default: str = "",
    scope: str = "",
    few: bool = False,
    **look: Any,
) -> str:
    """Show a choice between options, initially the default or the first, and return the chosen one.

    few: whether all options are in sight.
    """
    first = default if default in options else next(iter(options))
    parameter = Parameter(meaning=meaning, choices=tuple(options), name=name, kind=str, default=first)
    if current(link, key := link.key(name, scope)) not in options:
        # Another model may have other options.
        st.session_state.pop(key, None)
    return str(widget(link, parameter, scope=scope, few=few, label=title, format_func=options.__getitem__, **look))


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


def choose_axis(
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
    known, now = declared(catalog.MODELS[model]), current(link, link.key(f"{prefix}axis", model))
    look: dict[str, Any] = {"help": explanation(known[now])} if now in known else {}
    name = choose(link, f"{prefix}axis", titles, "what is varied", label, default=default, scope=model, **look)
    if name == NONE:
        link.accept(prefix + part.name for part in (*_parts(0.0, 1.0, "linear", points), LISTED))
        return None
    low, high, scale = ranges.get(name) or first_range(catalog.model_entry(model), name)
    scope = f"{model}.{prefix}{name}"
    # The range has no effect if values are listed.
    key = link.key(f"{prefix}values", scope)
    listed = lists and current(link, key, link.value(f"{prefix}values", LISTED))
    parts, off = _parts(low, high, scale, points), bool(str(listed or "").strip())
    given = widgets(link, parts, scope=scope, prefix=prefix, disabled=off)
    derived_axis = derived(catalog.MODELS[model], name)
    decides = derived_axis.decides if derived_axis else name
    look = {"label": "values instead", "placeholder": "200, 400, 800"}
    text = str(widget(link, LISTED, name=f"{prefix}values", scope=scope, **look)) if lists else ""
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
