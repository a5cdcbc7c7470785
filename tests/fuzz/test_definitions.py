"""Definitions with random mistakes: lrlab reads a sweep in TOML as it stands, or rejects it with the path."""

from importlib.resources import files

import pytest
from hypothesis import strategies as st

from lrlab.parameters import declared
from lrlab.presets import sweeps as library
from lrlab.sweeps.toml import parse, to_toml
from tests.fuzz.drawing import NUMBERS, TOKENS, changed, drawn
from tests.fuzz.test_readers import read_or_refused

FOLDER = files("lrlab.presets")
SWEEPS = [(FOLDER / "sweeps" / f"{name}.toml").read_text(encoding="utf-8") for name in library.names()]
SWEEPS += [
    """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials = 20
success = { metric = "error", below = 0.05 }
adaptive = true
seed = 3
[spec]
p = 60
[axes]
m = [200, 400, 800]
r = { from = 1, to = 5, steps = 5, spacing = "log" }
[settings]
max_iter = 9
"""
]


@st.composite
def with_other_value(draw, texts):
    """Return a definition with another value in one line."""
    lines = draw(st.sampled_from(texts)).splitlines()
    places = [k for k, line in enumerate(lines) if " = " in line]
    k = draw(st.sampled_from(places))
    value = draw(
        st.one_of(st.sampled_from(NUMBERS), TOKENS, st.sampled_from(['"x"', "[]", "{}", "[1, 2]", "true", "-1"]))
    )
    lines[k] = f"{lines[k].partition('=')[0]}= {value}"
    return "\n".join(lines)


@pytest.mark.attempt("random definitions of sweeps", "read, or one sentence")
@drawn("definitions:.6", 40, text=st.one_of(changed(SWEEPS), with_other_value(SWEEPS)))
def test_a_sweep_is_read_or_refused(text):
    sweep = read_or_refused(parse, text)
    if sweep is not None:
        assert parse(to_toml(sweep)) == sweep
        assert 1 <= sweep.trials and all(len(values) <= 10**6 for _, values in sweep.axes if isinstance(values, tuple))
        for name, value in sweep.spec.values().items():
            if (parameter := declared(type(sweep.spec)).get(name)) is not None:
                assert parameter.check(value) == value
