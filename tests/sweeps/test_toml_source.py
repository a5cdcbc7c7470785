"""Lines of TOML texts: those of keys, tables and list elements, in texts made to mislead."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrlab import InputError
from lrlab.sweeps.toml import parse
from lrlab.sweeps.toml_source import Keys, Source, line_numbers

HOSTILE = '''# [no] = 1
a.b = 1 # x = 2
"q \\u0041.=" = """
[x]
y = 1 \\""" """"
'lit.#' = \'\'\'
[[z]] " # \'\'\'\'\'
1.5 = "# ]"\r
[ t . "u" ]   # spaces
m = [ 1, # ]
  [2, "]"],

  { a = 1, b.c = "}\\"" },
  """
[s]""", 4,
]
when = 1979-05-27 07:32:00
[[p]]
x = -1.5e3
[[p.q]]
x = { y = [
 3], z = [] }
[[p.q]]
[p.q.r]
k="""""" # empty

[[p]]
  x = ["a\\\\", 'b\\', """"c"""""]
  "" = inf'''


def test_lines_of_a_text_that_misleads():
    t, p = ("t", "u"), ("p", 0)
    expected = {
        ("a",): 2, ("a", "b"): 2, ("q A.=",): 3, ("lit.#",): 6, ("1",): 8, ("1", "5"): 8, ("t",): 9, t: 9,
        (*t, "m"): 10, (*t, "m", 0): 10, (*t, "m", 1): 11, (*t, "m", 1, 0): 11, (*t, "m", 1, 1): 11,
        (*t, "m", 2): 13, (*t, "m", 2, "a"): 13, (*t, "m", 2, "b"): 13, (*t, "m", 2, "b", "c"): 13, (*t, "m", 3): 14,
        (*t, "m", 4): 15, (*t, "when"): 17, ("p",): 18, p: 18, (*p, "x"): 19, (*p, "q"): 20, (*p, "q", 0): 20,
        (*p, "q", 0, "x"): 21, (*p, "q", 0, "x", "y"): 21, (*p, "q", 0, "x", "y", 0): 22, (*p, "q", 0, "x", "z"): 22,
        (*p, "q", 1): 23, (*p, "q", 1, "r"): 24, (*p, "q", 1, "r", "k"): 25, ("p", 1): 27, ("p", 1, "x"): 28,
        ("p", 1, "x", 0): 28, ("p", 1, "x", 1): 28, ("p", 1, "x", 2): 28, ("p", 1, ""): 29,
    }  # fmt: skip
    assert line_numbers(HOSTILE) == expected
    source = Source(HOSTILE)
    assert all(source.value(path) is not None for path in expected)


scalars = st.sampled_from(
    ["1", "-0.5", "inf", "true", '"a # ] } = \\" b"', "'[x]\\'", '"""\n[y] = 1\n\\""""', "07:32:00"]
)


def nested(children):
    gap = st.sampled_from(["", " ", "\n", " # , ] [\n\n"])
    lists = st.lists(st.tuples(gap, children), max_size=4)
    return lists | st.lists(children, min_size=1, max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.recursive(scalars, nested, max_leaves=12)), max_size=8))
def test_every_key_is_on_the_line_where_it_is_written(pairs):
    names = (f"key{number}" for number in range(10**6))

    def written(value):
        if isinstance(value, str):
            return value
        if isinstance(value, tuple):
            return "{ " + ", ".join(f"{next(names)} = {written(inner)}" for inner in value) + " }"
        return "[" + ",".join(gap + written(inner) for gap, inner in value) + "]"

    text = ""
    for kind, value in pairs:
        text += ["", f"[{next(names)}]\n", f"[[ {next(names)} ]]\n", "# key0 = 1\n\n"][kind]
        text += f"{next(names)} = {written(value)}\n"
    tomllib.loads(text)
    lines = text.split("\n")
    for path, line in line_numbers(text).items():
        if isinstance(path[-1], str):
            assert f"{path[-1]} " in lines[line - 1].replace("]", " ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = 1\n\nc = 2", "line 3: key of a thing must be one of a, b, d, e, got c: "),
        ("a = 1\nb = 2", "line 2: b must be text in quotes or a list of numbers, got 2: write it as"),
        ("a = 1\nb = [1,\n true]", "line 3: b must be a number, got True"),
        ("b = 'x'", 'line 1: a must be given, got nothing: add a line or a table "a" to the thing'),
        ("a = 1\nd.e = 1\n", "line 2: key of d must be one of x, got e"),
        ("a = 1\n[[e]]\nx = 1\n[[e]]\n", 'line 4: x must be given, got nothing: add a line or a table "x" to the e'),
        ("a = 1\ne = [\n{ x = 1 },\n{ x = 'y' }]", 'line 4: x must be a whole number, got "y"'),
    ],
)
def test_a_mistake_in_a_table_is_one_sentence_with_its_line(text, sentence):
    part = Keys({"x": int}, required=("x",))
    keys = Keys({"a": object, "b": (str, [float]), "d": part, "e": [part]}, required=("a",))
    with pytest.raises(InputError) as caught:
        Source(text).check(keys, "a thing")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ({"below": "under"}, 4), ({"p = 60": "p = -60"}, 7), ({"p = 60": "# [axes]\nq = 60"}, 8), ({"3]": "x]"}, None),
        ({"ep-rom": "ep-ram"}, 2), ({"m = [": "mm = ["}, 9), ({"3]": "0]"}, 9), ({"log": "lag"}, 10),
        ({"max_iter": "max_itr"}, 12), ({"error": "eror"}, 4), ({"trials": "model"}, None), ({"s = 5": "s = 5.5"}, 10),
        ({"[settings]": "[setting]"}, 11), ({"polynomial-": "polynomal-"}, 1), ({"max_iter = 9": "tol = 'a'"}, 12),
    ],
)  # fmt: skip
def test_a_sweep_is_refused_with_the_line(broken, line):
    text = """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials = 20
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
    [(old, new)] = broken.items()
    with pytest.raises(InputError) as caught:
        parse(text.replace(old, new))
    assert str(caught.value).startswith(f"line {line}: " if line else "sweep file must be TOML")
