"""python -m lrlab new solver|model NAME: a file with a solver or a model that runs, and its test, for you to change."""

import argparse
import builtins
import importlib.util
import keyword
from pathlib import Path
from string import Template
from typing import Any

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.shell.common import DONE, say

SOLVER = Template('''"""$title: a solver for lrlab."""

from typing import Annotated

import numpy as np

from lrlab import Iterate, number, solver


# memory: bytes that it needs per byte of data, in addition to that byte: here X x and the estimates.
@solver(models="one-bit-sensing", memory=0.1)
def $name(problem, *, step: Annotated[float, number(0, 2, "length of a step")] = 1.0, rng):
    r"""$title.

    Gradient steps on the squared residuals of the answers.

    .. math:: x \\leftarrow x + \\tfrac{\\eta}{L} \\tfrac1n X^\\top (y - X x)

    minimize    f(x) = |y - X x|^2 / 2n
    step        in units of 1 / L, with L the largest eigenvalue of X^T X / n
    cost        two passes over X

    X (n, p) and y (n,) are the measurements; rng is the source of randomness. Each iterate is one step.

    Reference: write here the paper, with its year.
    """
    X, y = problem.X, problem.y
    n, p = X.shape
    largest = np.linalg.norm(X, 2) ** 2 / n
    x = np.zeros(p)
    first = np.linalg.norm(X.T @ y / n)
    while True:
        residuals = y - X @ x
        gradient = X.T @ residuals / n
        # All three belong to the same x; the residual is 0 if the gradient is 0.
        yield Iterate(x, objective=residuals @ residuals / (2 * n), residual=np.linalg.norm(gradient) / first)
        # A new array: an iterate must not change later.
        x = x + step / largest * gradient
''')
TEST = Template('''"""$title does what its docstring says."""

from pathlib import Path

import numpy as np
import pytest

import lrlab

lrlab.register(Path(__file__).with_name("$name.py"))


@pytest.fixture
def trace():
    """Return a run to its end."""
    spec = lrlab.spec("one-bit-sensing", n=400, p=10, noise=0.1, seed=1)
    return lrlab.solve(spec, "$solver", max_iter=1000)


def test_the_objective_never_rises(trace):
    assert (np.diff(trace.table["objective"]) <= 1e-12).all()


def test_it_ends_at_the_least_squares_solution(trace):
    assert trace.stop is lrlab.Stop.CONVERGED
    X, y = trace.problem.X, trace.problem.y
    assert trace.estimate == pytest.approx(np.linalg.lstsq(X, y, rcond=None)[0], abs=1e-6)


def test_the_same_seed_gives_the_same_trace(trace):
    again = lrlab.solve(trace.job.spec, "$solver", max_iter=1000)
    assert again.table["objective"].equals(trace.table["objective"])
''')
MODEL = Template('''"""$title: a model for lrlab, and a solver of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from lrlab import Iterate, Spec, number, solver
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, Measured, ModelEntry, recovery
from lrlab.parameters import gaussian_noise
from lrlab.protocol import Problem, proceed


@dataclass(frozen=True, kw_only=True)
class $class_name(Spec):
    """y = A x + sigma e, A (n, p) with N(0, 1/n) entries, x standard normal."""

    model = "$solver"
    title = "$title"
    summary = "A signal from noisy linear measurements: y = Ax + σe."
    equation = r"y = A x + \\sigma e"

    n: Annotated[int, number(2, 100_000, "number of measurements", scale="log")] = 300
    p: Annotated[int, number(2, 10_000, "length of the signal", scale="log")] = 100
    noise: Annotated[float, gaussian_noise("each measurement")] = 0.0

    @property
    def data_bytes(self):
        """Memory of all data."""
        return 8 * self.n * (self.p + 1)

    def build(self, checkpoint=proceed):
        """Return the problem; its data are simulated when they are read."""
        return ${class_name}Problem(self)


class ${class_name}Problem(Problem):
    """Data A (n, p) and y (n,) of one spec; the truth (p,), which only the score may look at."""

    def __init__(self, spec):
        self.spec = spec
        self.truth = np.random.default_rng(spec.streams().truth).standard_normal(spec.p)

    @cached_property
    def A(self):
        rng = np.random.default_rng(self.spec.streams().data)
        return rng.standard_normal((self.spec.n, self.spec.p)) / np.sqrt(self.spec.n)

    @cached_property
    def y(self):
        rng = np.random.default_rng(self.spec.streams().noise)
        return self.A @ self.truth + self.spec.noise * rng.standard_normal(self.spec.n)

    def score(self, estimate):
        """Return the error measures of an estimate (p,), by name."""
        return {"error": float(np.linalg.norm(estimate - self.truth) / np.linalg.norm(self.truth))}


def measured(spec):
    return Measured(f"{spec.n:,} measurements of {spec.p:,} unknowns.")


def verdict(spec, outcomes):
    return recovery(outcomes, "signal", "error", FAMILY.goal.level(spec.noise), f"n = {spec.n:,} for p = {spec.p:,}")


FAMILY = Family(
    name="$solver",
    measures={"error": Measure("relative error", "relative distance from the truth"), **COMMON_MEASURES},
    goal=Goal("error", 1e-3, noises=3.0),
    solvers=("$solver-descent",),
    measured=measured,
    verdict=verdict,
    grows=("n",),
)
ENTRY = ModelEntry(spec=$class_name, family=FAMILY, main=("n", "p", "noise"), plane=("p", "n"))


@solver(family="$solver", memory=0.2, max_iter=1000)
def ${name}_descent(problem, *, step: Annotated[float, number(0, 2, "length of a step")] = 1.0, rng):
    r"""Gradient descent.

    Gradient steps on the squared residuals.

    .. math:: x \\leftarrow x + \\tfrac{\\eta}{L} A^\\top (y - A x)

    minimize    f(x) = |y - A x|^2 / 2
    cost        two passes over A

    Reference: write here the paper, with its year.
    """
    A, y = problem.A, problem.y
    L, x, first = np.linalg.norm(A, 2) ** 2, np.zeros(A.shape[1]), np.linalg.norm(A.T @ y)
    while True:
        residuals = y - A @ x
        gradient = A.T @ residuals
        yield Iterate(x, objective=residuals @ residuals / 2, residual=np.linalg.norm(gradient) / first)
        x = x + step / L * gradient
''')
MODEL_TEST = Template('''"""$title has the data that its docstring says, and its solver recovers the signal."""

from pathlib import Path

import numpy as np
import pytest

import lrlab

lrlab.register(Path(__file__).with_name("$name.py"))


def test_exact_data_give_the_signal_back():
    trace = lrlab.solve(lrlab.spec("$solver", n=200, p=20, seed=1), "$solver-descent")
    assert trace.stop is lrlab.Stop.CONVERGED and trace.table["error"].iloc[-1] < 1e-6
    assert (np.diff(trace.table["objective"]) <= 1e-12).all()


def test_the_error_is_that_of_least_squares():
    spec = lrlab.spec("$solver", n=2000, p=50, noise=0.1, seed=1)
    trace = lrlab.solve(spec, "$solver-descent")
    # n noise^2 tr (A^T A)^-1 is about noise^2 p, and |x|^2 about p.
    assert trace.table["error"].iloc[-1] == pytest.approx(0.1, rel=0.3)
''')
TEMPLATES = {"solver": (SOLVER, TEST), "model": (MODEL, MODEL_TEST)}


def add(commands: Any) -> None:
    """Add the command."""
    new = commands.add_parser("new", help="write the file of a custom solver or model, and its test")
    new.add_argument("kind", choices=[*TEMPLATES], help="what to write")
    new.add_argument("name", metavar="NAME", help="its name, as my-solver")
    new.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="folder of the files (default: this one)")


def run(options: argparse.Namespace) -> int:
    """Write both files, and say how they are used."""
    solver, name = options.name.replace("_", "-"), options.name.replace("-", "_")
    if not (name.isidentifier() and name.islower()):
        raise InputError("NAME", "lower-case letters, digits and hyphens", options.name, "write for example my-solver")
    known = (*(entry.name for entry in catalog.ENTRIES), *catalog.MODELS)
    taken = {*keyword.kwlist, *dir(builtins), *(one.replace("-", "_") for one in known), "np"}
    if name in taken or importlib.util.find_spec(name):
        raise InputError(
            "NAME", "a new name: not of a solver, model, module or word of Python", options.name, f"write my-{solver}"
        )
    paths = options.dir / f"{name}.py", options.dir / f"test_{name}.py"
    files = dict(zip(paths, TEMPLATES[options.kind], strict=True))
    for file in files:
        if file.exists() or not file.parent.is_dir():
            raise InputError("NAME", "one of a file that is not there, in a folder that is", file, "take another name")
    for file, template in files.items():
        words = {"name": name, "solver": solver, "title": solver.replace("-", " ").capitalize()}
        words["class_name"] = solver.replace("-", " ").title().replace(" ", "")
        file.write_text(template.substitute(words), "utf-8")
    say(f"{' and '.join(map(str, files))} are written. Try the test: pip install pytest, then pytest {[*files][1]}")
    say(f"On all pages, in sweeps and on workers: LRLAB_PLUGINS={[*files][0]}")
    spec, run = ("spec", solver) if options.kind == "solver" else (f'lrlab.spec("{solver}")', f"{solver}-descent")
    say(f'In Python: lrlab.register("{[*files][0]}"), then lrlab.solve({spec}, "{run}")')
    return DONE
