"""Definitions of sweeps and presets with random mistakes: read correctly, or refused in one sentence."""

from importlib.resources import files

import pytest
from hypothesis import strategies as st

from lrlab import presets
from lrlab.parameters import InputError, declared
from lrlab.presets import sweeps as library
from lrlab.presets.reading import read
from lrlab.sweeps.toml import parse, to_toml
from tests.fuzz.drawing import NUMBERS, TOKENS, changed, drawn
from tests.fuzz.test_readers import read_or_refused

FOLDER = files("lrlab.presets")
PRESETS = {name: (FOLDER / f"{name}.toml").read_text(encoding="utf-8") for name in presets.names()}
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


@pytest.mark.attempt("drawn definitions of sweeps", "read, or one sentence")
@drawn("definitions:.6", 40, text=st.one_of(changed(SWEEPS), with_other_value(SWEEPS)))
def test_a_sweep_is_read_or_refused(text):
    sweep = read_or_refused(parse, text)
    if sweep is not None:
        assert parse(to_toml(sweep)) == sweep
        assert 1 <= sweep.trials and all(len(values) <= 10**6 for _, values in sweep.axes if isinstance(values, tuple))
        for name, value in sweep.spec.values().items():
            if (parameter := declared(type(sweep.spec)).get(name)) is not None:
                assert parameter.check(value) == value


@drawn("definitions:.4", 15, data=st.data(), name=st.sampled_from(sorted(PRESETS)))
def test_a_preset_is_read_or_refused(data, name):
    text = data.draw(st.one_of(changed([PRESETS[name]]), with_other_value([PRESETS[name]])))
    preset = read_or_refused(read, name, text)
    if preset is not None:
        try:
            plan = presets.plan(preset, 2)
        except InputError as error:
            assert "\n" not in str(error) and "must be" in str(error)
        else:
            assert callable(plan.function)
