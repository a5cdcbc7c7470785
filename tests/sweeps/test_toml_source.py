"""Mistakes in TOML texts: one sentence each, with the path of the key."""

import pytest

from lrlab import InputError
from lrlab.sweeps.toml import parse
from lrlab.sweeps.toml_source import Keys, Source


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = 1\n\nc = 2", "c: key of a thing must be one of a, b, d, e, got c: "),
        ("a = 1\nb = 2", "b must be text in quotes or a list of numbers, got 2: write it as"),
        ("a = 1\nb = [1,\n true]", "b[1]: b must be a number, got True"),
        ("b = 'x'", 'a must be given, got nothing: add a line or a table "a" to the thing'),
        ("a = 1\nd.e = 1\n", "d.e: key of d must be one of x, got e"),
        ("a = 1\n[[e]]\nx = 1\n[[e]]\n", 'e[1]: x must be given, got nothing: add a line or a table "x" to the e'),
        ("a = 1\ne = [\n{ x = 1 },\n{ x = 'y' }]", 'e[1].x must be a whole number, got "y"'),
    ],
)
def test_a_mistake_in_a_table_is_one_sentence_with_its_path(text, sentence):
    part = Keys({"x": int}, required=("x",))
    keys = Keys({"a": object, "b": (str, [float]), "d": part, "e": [part]}, required=("a",))
    with pytest.raises(InputError) as caught:
        Source(text).check(keys, "a thing")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [
        ("below", "under", "success.under: key of success must"), ("p = 60", "p = -60", "spec.p must"),
        ("p = 60", "q = 60", "spec.q: "), ("3]", "x]", "sweep file must be TOML"), ("ep-rom", "ep-ram", "solvers[1]: "),
        ("m = [", "mm = [", "axes.mm: axis must"), ("3]", "0]", "axes.m must"), ("log", "lag", "axes.r.spacing: "),
        ("max_iter", "max_itr", "settings.max_itr: "), ("error", "eror", "success.metric must"),
        ("s = 5", "s = 5.5", "axes.r.steps: "), ("[settings]", "[setting]", "setting: key of a sweep must"),
        ("polynomial-", "polynomal-", "model must"), ("max_iter = 9", "tol = 'a'", "settings.tol must"),
    ],
)  # fmt: skip
def test_a_sweep_is_refused_with_the_path(old, new, start):
    text = """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
success = { metric = "error", below = 0.05 }
[spec]
p = 60
[axes]
m = [200, 3]
r = { from = 1, to = 9, spacing = "log", steps = 5 }
[settings]
max_iter = 9
"""
    parse(text)
    with pytest.raises(InputError) as caught:
        parse(text.replace(old, new))
    assert str(caught.value).startswith(start)
