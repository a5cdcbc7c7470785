"""Random addresses of all pages: each parameter appears on the page, or one sentence refuses it."""

import pytest
from hypothesis import strategies as st

from lrlab import catalog, lessons, presets
from lrlab.parameters import InputError, declared
from lrlab.protocol import Limits
from tests.fuzz.drawing import NUMBERS, TOKENS, drawn
from tests.ui.driving import opened

OWN = {
    "converge": ("solvers", "show", "axes", "against"),
    "spectrum": ("axis", "from", "to", "points", "spacing", "trials", "moment", "bins"),
    "transition": ("solvers", "trials", "x-axis", "x-from", "x-to", "x-points", "x-values", "y-axis", "y-values",
                   "y-spacing", "rule.metric", "rule.side", "rule.level", "adaptive", "budget", "tolerance", "show",
                   "apart", "lines"),
    "papers": ("paper", "trials"),
    "own_data": ("data", "measurements", "labels", "kind", "model", "y", "z", "missing", "duplicates",
                 "own.rank", "solvers"),
    "learn": ("lesson", "step", "answer", "teacher"),
    "home": (),
}  # fmt: skip
"""Keys of each page besides the parameters of models, solvers and limits."""
WITH_MODEL = ("converge", "spectrum", "transition")
LARGEST = 3000.0
"""Of sizes that may be accepted: a page draws the truth."""


def named(value):
    """Return what an address can hold: no half of a character."""
    return value.encode("utf-8", "ignore").decode()


@st.composite
def addresses(draw):
    """Return a page and its address: for a model, names of its parameters, of solvers' options and of the page."""
    page = draw(st.sampled_from(sorted(OWN)))
    address = {}
    model = draw(st.sampled_from(sorted(catalog.MODELS))) if page in WITH_MODEL else ""
    if model:
        address["model"] = [draw(TOKENS)] if draw(st.integers(0, 9)) == 0 else [model]
    names = [*OWN[page], "run", "qq", "pa per"]
    if model:
        options = [f"{entry.name}.{name}" for entry in catalog.solvers_for(model) for name in entry.options]
        names += [*declared(catalog.MODELS[model]), *options, *declared(Limits)]
    known = [*presets.names(), *lessons.lessons(), *catalog.MODELS, "sir", "gamp", "ratings", "upload", "2", "full"]
    values = st.one_of(st.sampled_from(NUMBERS), TOKENS, st.sampled_from(known))
    for _ in range(draw(st.integers(0, 5))):
        name = draw(st.one_of(st.sampled_from(names), TOKENS))
        # A run is another matter.
        value = draw(st.sampled_from(["0", "yes", "2", ""])) if name == "run" else draw(values)
        address[named(name)] = [named(value)] if draw(st.integers(0, 9)) else [named(draw(values)), named(value)]
    return page, {name: [value for value in several if not large(name, value)] for name, several in address.items()}


def large(name, value):
    """Return whether a value is a size that the page would accept and draw at length."""
    try:
        return (
            name in {"n", "m", "p", "d", "d1", "d2", "n1", "n2", "labels", "x-points"} and LARGEST < float(value) < 1e7
        )
    except ValueError:
        return False


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.attempt("random addresses", "shown, or one sentence")
@pytest.mark.slow
@drawn("addresses", 4, drawn_address=addresses())
def test_an_address_is_shown_or_refused(drawn_address):
    page, address = drawn_address
    at = opened(page, **address)
    sentences = [error.value for error in at.error]
    assert all("\n" not in sentence and len(sentence) < 1000 for sentence in sentences), sentences
    if page in WITH_MODEL and address["model"][-1:] and address["model"][-1] in catalog.MODELS:
        for name, values in address.items():
            check(at, page, catalog.MODELS[address["model"][-1]], name, values, sentences)


def check(at, page, model, name, values, sentences):
    """Check that the address keeps accepted values of a model's parameter, and that a sentence refuses all others."""
    parameter = declared(model).get(name)
    if parameter is None or parameter.hidden or not values or page != "converge":
        return
    try:
        value = parameter.check(values[-1])
    except InputError:
        assert any(sentence.startswith(f"{name} must be") for sentence in sentences), (name, values, sentences)
        return
    shown = at.query_params.get(name)
    settled = name in ("p", "sparsity", "truth", "picture")
    assert settled or shown is None and value == parameter.default or parameter.check(shown[-1]) == value, (
        name,
        values,
        shown,
    )
