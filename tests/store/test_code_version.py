"""Versions of code: they follow what computes numbers, and nothing else."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

import numpy as np
import pytest

import lrlab
from lrlab import catalog, code_hash
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.parameters import Parameter
from lrlab.runs.job import make_job
from lrlab.runs.trial import trial_spec
from lrlab.store import code_version

SOLVER = '''"""A solver."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Annotated

import numpy as np

import lrlab.made_steps
from lrlab import made_steps
from lrlab.made_tools import RULE, Pair, shrink as smaller
from lrlab.parameters import Parameter

STEPS = 3
UNUSED = 1
TOLERANCE = 1e-3
TABLE = {"first": lambda x: x + 1.0, "second": np.eye(2)}
SIZES = {3, 5, 7}


@cache
def helper(x: float, tol=TOLERANCE) -> float:
    """Return x, changed."""
    from lrlab.made_far import late
    from math import floor

    def inner(y):
        return late(y) + floor(y)

    return made_steps.step(smaller(x), STEPS) + TABLE["first"](x) * inner(x) + lrlab.made_steps.count(x)


def outer(depth):
    def close(x):
        return helper(x) * depth

    return close


close = outer(3)
bound = partial(helper, tol=2.0)


def solve_made(problem, *, rate: Annotated[float, Parameter(meaning="the rate", low=0)] = 0.5, rng) -> Iterator:
    """Solve it."""
    # A comment.
    total: float = close(rate) + RULE.apply(rate) + Pair(1, 2.0).sum + bound(rate) + len(SIZES)
    yield total
'''
TOOLS = '''"""Tools."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lrlab.made_far import LEVEL


def shrink(x):
    return x - LEVEL


def other(x):
    return x


def double(x):
    return 2 * x


@dataclass(frozen=True)
class Rule:
    """A rule."""

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
'''
MADE = {
    "lrlab.made_far": "LEVEL = 0.25\nFAR = 1\ndef late(y):\n    return y + FAR\ndef early(y):\n    return y * FAR\n",
    "lrlab.made_steps": "def step(x, times):\n    return x * times\n\n\ndef count(x):\n    return 1\n",
    "lrlab.made_tools": TOOLS,
    "lrlab.made_solver": SOLVER,
}


def run(name, text):
    module = sys.modules[name] = ModuleType(name)
    module.__package__ = "lrlab"
    exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
    if name.startswith("lrlab."):
        setattr(lrlab, name.partition(".")[2], module)
    return module


@pytest.fixture
def version():
    """Return what gives the version of the made solver after changes of sources, each (module, old text, new text)."""

    def changed(*edits, **modules):
        made = {f"lrlab.{name}": text for name, text in modules.items()} | MADE
        for module, old, new in edits:
            assert old in made[f"lrlab.made_{module}"]
            made[f"lrlab.made_{module}"] = made[f"lrlab.made_{module}"].replace(old, new)
        return code_hash.version([run(name, text) for name, text in made.items()][-1].solve_made)

    yield changed
    for name in [name for name in sys.modules if name.startswith("lrlab.made_")]:
        del sys.modules[name]
        vars(lrlab).pop(name.partition(".")[2])


@pytest.mark.parametrize(
    "edits",
    [
        [("solver", '"""Return x, changed."""', '"""Another text."""')],
        [("solver", '    """Return x, changed."""\n', "")],
        [("solver", "# A comment.", "# Another.")],
        [("solver", "x: float, tol=TOLERANCE) -> float", "x: np.ndarray | None, tol=TOLERANCE)")],
        [("solver", "total: float =", "total =")],
        [("solver", 'meaning="the rate", low=0', 'meaning="speed", low=-1, high=3')],
        [("solver", "UNUSED = 1", "UNUSED = 2")],
        [("solver", "STEPS", "COUNT")],
        [("solver", "STEPS = 3", "STEPS = 1 + 2")],
        [("solver", "SIZES = {3, 5, 7}", "SIZES = {7, 3, 5}")],
        [("solver", "shrink as smaller", "shrink"), ("solver", "smaller(x)", "shrink(x)")],
        [("solver", "lrlab.made_steps.count(x)", "made_steps.count(x)")],
        [("tools", "def other(x):\n    return x", "def other(x):\n    return -x")],
        [("tools", '"""A rule."""', '"""Another."""'), ("tools", '"""Apply it."""', "# Words.")],
        [("tools", "title = \"A rule\"", "title = \"Another\"")],
        [("tools", "power: float\n", "power: object\n")],
    ],
)  # fmt: skip
def test_words_names_and_what_is_not_used_change_nothing(version, edits):
    assert version() == version(*edits)


def test_moved_code_is_the_same_code(version):
    elsewhere = ("solver", "from lrlab.made_tools import", "from lrlab.made_elsewhere import")
    assert version() == version(elsewhere, made_far=MADE["lrlab.made_far"], made_elsewhere=TOOLS)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("solver", "STEPS = 3", "STEPS = 4"),
        ("solver", "TOLERANCE = 1e-3", "TOLERANCE = 1e-4"),
        ("solver", "x + 1.0", "x + 2.0"),
        ("solver", "np.eye(2)", "np.ones((2, 2))"),
        ("solver", "SIZES = {3, 5, 7}", "SIZES = {3, 5, 9}"),
        ("solver", "outer(3)", "outer(4)"),
        ("solver", "tol=2.0", "tol=3.0"),
        ("solver", "rate: Annotated", "rates: Annotated"),
        ("solver", "yield total", "yield -total"),
        ("solver", "import floor", "import ceil as floor"),
        ("solver", "bound(rate)", "bound(x=rate)"),
        ("solver", "from lrlab.made_far import late", "from lrlab.made_far import early as late"),
        ("tools", "x - LEVEL", "x + LEVEL"),
        ("tools", "Rule(2.0", "Rule(3.0"),
        ("tools", "_scale = 1.5", "_scale = 2.5"),
        ("tools", "return 2 * x", "return 3 * x"),
        ("tools", "2 * self.offset", "3 * self.offset"),
        ("tools", "offset: float = 0.5", "offset: float = 0.25"),
        ("tools", "    a: int\n    b: float", "    b: float\n    a: int"),
        ("tools", "self.a + self.b", "self.a - self.b"),
        ("far", "0.25", "0.5"),
        ("far", "FAR = 1", "FAR = 2"),
        ("far", "y + FAR", "y - FAR"),
        ("steps", "x * times", "x ** times"),
        ("steps", "return 1", "return 2"),
    ],
)
def test_whatever_computes_numbers_counts(version, module, old, new):
    assert version() != version((module, old, new))


def test_an_instance_that_has_computed_something_is_the_same(version):
    before = version()
    after = sys.modules["lrlab.made_solver"]
    assert after.RULE.twice == 1.0
    code_hash.renew(after.solve_made)
    assert code_hash.version(after.solve_made) == before


NOTEBOOK = """
SCALE = 2.0
class Scaled:
    def __init__(self, by):
        self.by = by
    def __call__(self, x):
        '''Words.'''
        return SCALE * x * self.by
scaled = Scaled(3.0)
def mine(problem, *, rng):
    yield scaled(problem.y @ problem.X)
"""


def of_notebook(text):
    """Return the version of a solver that a cell of a notebook defines."""
    module = {"__name__": "__main__", "np": np}
    exec(compile(text, "<cell>", "exec"), module)
    return code_hash.version(module["mine"])


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Words.", "Others.", True),
        ("        return S", "        # A.\n        return S", True),
        ("SCALE = 2.0", "SCALE = 3.0", False),
        ("Scaled(3.0)", "Scaled(4.0)", False),
        ("SCALE * x", "SCALE + x", False),
        ("3.0)", "3.0); scaled.own = scaled", False),
    ],
)
def test_the_version_of_a_function_of_a_notebook_is_that_of_all_that_it_uses(old, new, same):
    changed = NOTEBOOK.replace(old, new)
    assert changed != NOTEBOOK and (of_notebook(changed) == of_notebook(NOTEBOOK)) is same


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("np.random.default_rng(0)", False),
        ("__import__('threading').Lock()", False),
        ("norm", True),
        ("csr_array(np.eye(2))", True),
    ],
)
def test_what_cannot_be_read_is_never_the_same(value, same):
    text = f"from scipy.stats import norm\nfrom scipy.sparse import csr_array\n{NOTEBOOK.replace('2.0', value)}"
    assert (of_notebook(text) == of_notebook(text)) is same


@pytest.mark.parametrize(
    ("module", "old", "new", "stale"),
    [
        ("solvers.network.debiased", "64 * eps", "65 * eps", {"ep-rom"}),
        ("models.network", "2.0 + trace", "3.0 + trace", {"ep-rom", "tangent-descent"}),
        ("protocol", "return self", "return None", set()),
    ],
)
def test_versions_of_the_catalogue(edit, module, old, new, stale):
    used = {"sir": "one-bit-sensing", "ep-rom": "polynomial-network", "tangent-descent": "polynomial-network"}
    before = {solver: code_version.version(model, solver) for solver, model in used.items()}
    edit(f"lrlab.{module}", old, new)
    assert {solver for solver, model in used.items() if code_version.version(model, solver) != before[solver]} == stale
    assert not code_version.current("one-bit-sensing", "ep-rom", "") and not code_version.current("none", "ep-rom", "")


ALL = """
from lrlab import catalog, code_hash
code_hash.version(catalog.ENTRIES[-1].run)
print(*(code_hash.version(thing) for thing in [*(entry.run for entry in catalog.ENTRIES), *catalog.MODELS.values()]))
"""


def test_all_solvers_and_models_have_the_same_version_in_each_process():
    run = {"cwd": Path(__file__).parents[2], "capture_output": True, "text": True, "check": True}
    first, second = (
        subprocess.run([sys.executable, "-c", ALL], env={**os.environ, "PYTHONHASHSEED": seed}, **run).stdout.split()
        for seed in "12"
    )
    runs = {entry.run for entry in catalog.ENTRIES}
    assert first == second and len(set(first)) == len(runs) + len(catalog.MODELS)


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
    keys = [code_version.key(make_job(OneBitSensing(n=100, p=5, noise=noise), "sir")) for noise in (0.0, -0.0, 0.5)]
    assert keys[0] == keys[1] != keys[2]
