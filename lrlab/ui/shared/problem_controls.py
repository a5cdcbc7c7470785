"""Controls of a problem: its model, its parameters, a picture."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import streamlit as st

from lrlab import catalog
from lrlab.models import pictures
from lrlab.parameters import InputError, Parameter, Value, declared
from lrlab.protocol import Spec
from lrlab.ui.shared import uploads
from lrlab.ui.widgets import sliders
from lrlab.ui.widgets.controls import choose_one, widget, widgets, with_defaults
from lrlab.ui.widgets.permalink import Permalink

PICTURE_LENGTHS = {"phantom": 256, "upload": 256}
DIGIT_LENGTH = 64


def choose_model(link: Permalink, models: Sequence[str] = ()) -> str:
    """Show the choice of models and return the name of the chosen one."""
    titles = {name: catalog.MODELS[name].title for name in models or catalog.MODELS}
    chosen = choose_one(link, "model", titles, "how the data are generated", "Model")
    st.caption(catalog.MODELS[chosen].summary)
    return chosen


def choose_spec(
    link: Permalink,
    name: str,
    *,
    main: Sequence[str] = (),
    without: Sequence[str] = (),
    initial: Mapping[str, Value] = MappingProxyType({}),
) -> Spec | InputError:
    """Show the widgets of a model; return the spec, or the error in its parameters.

    main: parameters that come first, with a slider each; the others are then folded away. without: parameters that have
    no widget. initial: first values that are not the defaults.
    """
    parameters = declared(catalog.MODELS[name])
    visible = with_defaults(
        (p for p in parameters.values() if not p.hidden and p.name not in ("seed", *without)), initial
    )
    _settle_picture(link, name)
    values = {p: sliders.widget(link, name, parameters[p]) for p in main}
    folded = st.expander("Advanced") if main else st.container()
    with folded:
        values |= widgets(link, [p for p in visible if p.name not in main], scope=name)
    st.session_state[link.key("truth-before", name)] = values.get("truth")
    link.accept(parameters)
    try:
        if values.get("truth") == "upload":
            values["picture"] = upload(link, parameters["picture"], int(values["p"] or 0))
        with folded if main else st.expander("Seed"):
            values["seed"] = widget(link, parameters["seed"])
        return catalog.spec(name, **values)
    except InputError as error:
        return error


def _settle_picture(link: Permalink, name: str) -> None:
    """Set p to the number of pixels when a picture has just been chosen as the truth."""
    key, before = link.key("truth", name), link.key("truth-before", name)
    truth, was = st.session_state.get(key), st.session_state.get(before)
    if truth and was and truth not in (was, "random"):
        st.session_state[link.key("p", name)] = PICTURE_LENGTHS.get(truth, DIGIT_LENGTH)
        st.session_state[link.key("sparsity", name)] = 0


def upload(link: Permalink, parameter: Parameter, p: int) -> str:
    """Show the upload of a picture and return it as text; InputError where it is not one."""
    side = math.isqrt(max(p, 0))
    words = f"PNG or JPEG; it becomes {side} x {side} grey levels (p = {side * side})."
    file = st.file_uploader("Picture", key=link.key("file"), help=words)
    text = str(link.value("picture", parameter))
    if file is not None and 4 <= side <= pictures.LARGEST_SIDE:
        encode = partial(pictures.encode, side=side)
        text = uploads.once("picture", (file.file_id, side), lambda: uploads.on_worker(encode, file.getvalue()))
    link.put("picture", text, parameter)
    return text
