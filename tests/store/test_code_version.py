"""Versions of code: they follow what computes numbers, and nothing else."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

import lrlab
from lrlab import catalog, code_hash
from lrlab.models.single_index import OneBitSensing
from lrlab.parameters import Parameter
from lrlab.runs.job import make_job
from lrlab.runs.run import trial_spec
from lrlab.store import store

SOLVER = '''
from collections.abc import Iterator
from functools import cache, partial
from typing import Annotated

import numpy as np

import lrlab.made_tools
from lrlab import made_tools
from lrlab.made_tools import RULE, Pair, Scaled, shrink as smaller
from lrlab.parameters import Parameter

STEPS = 3
UNUSED = 1
TOLERANCE = 1e-3
TABLE = {"first": lambda x: x + 1.0, "second": np.eye(2)}
SIZES = {3, 5, 7}


@cache
def helper(x: float, tol=TOLERANCE) -> float:
    """Return x, changed."""
    from lrlab.made_tools import late
    from math import floor

    def inner(y):
        return late(y) + floor(y)

    return made_tools.step(smaller(x), STEPS) + TABLE["first"](x) * inner(x) + lrlab.made_tools.count(x)


def outer(depth):
    def close(x):
        return helper(x) * depth

    return close


close = outer(3)
bound = partial(helper, tol=2.0)
scaled = Scaled(6.0)


def solve_made(problem, *, rate: Annotated[float, Parameter(meaning="the rate", low=0)] = 0.5, rng) -> Iterator:
    # A comment.
    total: float = close(rate) + RULE.apply(rate) + Pair(1, 2.0).sum + bound(rate) + len(SIZES) + scaled(rate)
    yield total
'''
TOOLS = '''
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

LEVEL = 0.25
FAR = 1


def late(y):
    return y + FAR


def early(y):
    return y * FAR


@dataclass
class Made:
    values: list = field(default_factory=lambda: [1.0])


def step(x, times):
    return x * times + len(Made().values)


def count(x):
    return 1


def shrink(x):
    return x - LEVEL


def other(x):
    return x


def double(x):
    return 2 * x


@dataclass(frozen=True)
class Rule:
    power: float
    change: object
    offset: float = 0.5

    title = "A rule"
    _scale = 1.5

    def apply(self, x):
        """Apply it."""
        return self._scale * self.change(x) ** self.power + self.twice

    @cached_property
    def twice(self):
        return 2 * self.offset


RULE = Rule(2.0, double)


class Pair(NamedTuple):
    a: int
    b: float

    @property
    def sum(self):
        return self.a + self.b


class Scaled:
    def __new__(cls, by):
        return object.__new__(cls)

    def __init_subclass__(cls, power=1):
        cls.power = power

    def __init__(self, by):
        self.by = by

    def __class_getitem__(cls, by):
        return cls(by + 5.0)

    @cache
    def __call__(self, x):
        return x * self.by
'''


@pytest.fixture
def version():
    """Return what gives the version of the made solver after changes of the sources, each (old text, new text)."""

    def changed(*edits, tools="made_tools"):
        made = {"made_tools": TOOLS, "made_solver": SOLVER}
        for old, new in edits:
            [name] = [name for name, text in made.items() if old in text]
            made[name] = made[name].replace(old, new)
        for name, text in {tools: made["made_tools"], "made_solver": made["made_solver"]}.items():
            text = text.replace("made_tools", tools)
            module = sys.modules[f"lrlab.{name}"] = ModuleType(f"lrlab.{name}")
            module.__package__ = "lrlab"
            exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
            setattr(lrlab, name, module)
        return code_hash.version(module.solve_made)

    yield changed
    for name in [name for name in sys.modules if name.startswith("lrlab.made_")]:
        del sys.modules[name]
        vars(lrlab).pop(name.partition(".")[2])


@pytest.mark.parametrize(
    "edits",
    [
        [('"""Return x, changed."""', '"""Another text."""')],
        [('    """Return x, changed."""\n', "")],
        [("# A comment.", "# Another.")],
        [("x: float, tol=TOLERANCE) -> float", "x: np.ndarray | None, tol=TOLERANCE)")],
        [("total: float =", "total =")],
        [('meaning="the rate", low=0', 'meaning="speed", low=-1, high=3')],
        [("UNUSED = 1", "UNUSED = 2")],
        [("STEPS", "COUNT")],
        [("STEPS = 3", "STEPS = 1 + 2")],
        [("{3, 5, 7}", "{7, 3, 5}")],
        [("shrink as smaller", "shrink"), ("smaller(x)", "shrink(x)")],
        [("lrlab.made_tools.count(x)", "made_tools.count(x)")],
        [("def other(x):\n    return x", "def other(x):\n    return -x")],
        [('"""Apply it."""', "# Words.")],
        [("title = \"A rule\"", "title = \"Another\"")],
        [("power: float\n", "power: object\n")],
    ],
)  # fmt: skip
def test_words_names_and_what_is_not_used_change_nothing(version, edits):
    assert version() == version(*edits) == version(*edits, tools="made_elsewhere"), "moved or not"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STEPS = 3", "STEPS = 4"),
        ("TOLERANCE = 1e-3", "TOLERANCE = 1e-4"),
        ("x + 1.0", "x + 2.0"),
        ("np.eye(2)", "np.ones((2, 2))"),
        ("{3, 5, 7}", "{3, 5, 9}"),
        ("outer(3)", "outer(4)"),
        ("tol=2.0", "tol=3.0"),
        ("rate: Annotated", "rates: Annotated"),
        ("yield total", "yield -total"),
        ("import floor", "import ceil as floor"),
        ("bound(rate)", "bound(x=rate)"),
        ("import late", "import early as late"),
        ("Scaled(6.0)", "Scaled(7.0)"),
        ("Scaled(6.0)", "Scaled(6.0); scaled.own = scaled"),
        ("x - LEVEL", "x + LEVEL"),
        ("Rule(2.0", "Rule(3.0"),
        ("_scale = 1.5", "_scale = 2.5"),
        ("return 2 * x", "return 3 * x"),
        ("2 * self.offset", "3 * self.offset"),
        ("offset: float = 0.5", "offset: float = 0.25"),
        ("    a: int\n    b: float", "    b: float\n    a: int"),
        ("self.a + self.b", "self.a - self.b"),
        ("LEVEL = 0.25", "LEVEL = 0.5"),
        ("y + FAR", "y - FAR"),
        ("x * times", "x ** times"),
        ("lambda: [1.0]", "lambda: [1.0, 2.0]"),
        ("return 1\n", "return 2\n"),
        ("object.__new__(cls)", "object.__new__(Scaled)"),
        ("power=1", "power=2"),
        ("by + 5.0", "by + 6.0"),
        ("return x * self.by", "return x / self.by"),
    ],
)
def test_whatever_computes_numbers_counts(version, old, new):
    assert version() != version((old, new))


def test_an_instance_that_has_computed_something_is_the_same(version):
    before = version()
    after = sys.modules["lrlab.made_solver"]
    assert after.RULE.twice == 1.0
    code_hash.renew(after.solve_made)
    assert code_hash.version(after.solve_made) == before


def of_notebook(value):
    """Return the version of a solver of a cell of a notebook that uses a value."""
    module = {"__name__": "__main__", "np": np, "norm": norm, "csr_array": csr_array, "Lock": threading.Lock}
    exec(compile(f"S = {value}\ndef mine(problem, *, rng):\n    yield S", "<cell>", "exec"), module)
    return code_hash.version(module["mine"])


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("2.0", True),
        ("np.random.default_rng(0)", True),
        ("np.random.default_rng()", False),
        ("Lock()", False),
        ("norm", True),
        ("csr_array(np.eye(2))", True),
    ],
)
def test_what_cannot_be_read_is_never_the_same(value, same):
    assert (of_notebook(value) == of_notebook(value)) is same and of_notebook(value) != of_notebook("3.0")


@pytest.mark.parametrize(
    ("name", "value", "stale"),
    [
        ("solvers.network.debiased.adaptive_step", lambda: 1.0, {"ep-rom"}),
        ("models.network.NetworkProblem.draw", lambda: 1.0, {"ep-rom", "tangent-descent"}),
        ("models.multilabel.FRESH", 999, {"leml"}),
        ("models.multilabel.Multilabel.absent_metrics", (), {"leml"}),
        ("protocol.Spec.replace", lambda: 1.0, set()),
    ],
)
def test_versions_of_the_catalogue(edit, name, value, stale):
    network = "polynomial-network"
    used = {"sir": "one-bit-sensing", "leml": "multilabel", "ep-rom": network, "tangent-descent": network}
    before = {solver: store.version(model, solver) for solver, model in used.items()}
    edit(f"lrlab.{name}", value)
    assert {solver for solver, model in used.items() if store.version(model, solver) != before[solver]} == stale
    assert not store.is_current("one-bit-sensing", "ep-rom", "") and not store.is_current("none", "ep-rom", "")


ALL = """
from lrlab import catalog, code_hash
from lrlab.presets import items
from lrlab.runs import run
code_hash.version(catalog.ENTRIES[-1].run)
functions = [run.run_trial, run.run_traced, items.cost, items.computed, items.fit_dataset]
things = [*(entry.run for entry in catalog.ENTRIES), *catalog.MODELS.values(), *functions]
versions = [*map(code_hash.version, things)]
print(*versions)
"""


@pytest.mark.slow
def test_all_solvers_models_and_functions_of_presets_have_the_same_version_in_each_process():
    here, runs = {}, {entry.run for entry in catalog.ENTRIES}
    exec(ALL, here)
    run = {"cwd": Path(__file__).parents[2], "capture_output": True, "text": True, "check": True}
    other = subprocess.run([sys.executable, "-c", ALL], env={**os.environ, "PYTHONHASHSEED": "1"}, **run).stdout
    assert other.split() == here["versions"] and len({*here["versions"]}) == len(runs) + len(catalog.MODELS) + 5


@dataclass(frozen=True, kw_only=True)
class Widened(OneBitSensing):
    """The model after it got a parameter."""

    tilt: Annotated[float, Parameter(meaning="a tilt of the plane", low=-1, high=1, added=True)] = 0.0


def test_a_parameter_added_later_keeps_the_seeds_of_trials_at_its_default():
    seeds = [
        trial_spec(spec, 3).seed
        for spec in (OneBitSensing(n=100, p=5), *(Widened(n=100, p=5, tilt=t) for t in (0.0, 0.5)))
    ]
    assert seeds[0] == seeds[1] != seeds[2]


def test_equal_values_have_one_key():
    keys = [store.key_of(make_job(OneBitSensing(n=100, p=5, noise=noise), "sir")) for noise in (0.0, -0.0, 0.5)]
    assert keys[0] == keys[1] != keys[2]
