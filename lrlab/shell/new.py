"""python -m lrlab new solver NAME: a file with a solver that runs, and its test, to be changed into one's own."""

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


# memory: bytes that it needs per byte of data, beside that byte: here X x and the estimates.
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
        # All three are of the same x; the residual is 0 where the gradient is.
        yield Iterate(x, objective=residuals @ residuals / (2 * n), residual=np.linalg.norm(gradient) / first)
        # A new array: an iterate is not written over.
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


def add(commands: Any) -> None:
    """Add the command."""
    new = commands.add_parser("new", help="write the file of a solver of your own, and its test")
    new.add_argument("kind", choices=["solver"], help="what to write")
    new.add_argument("name", metavar="NAME", help="its name, as my-solver")
    new.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="folder of the files (default: this one)")


def run(options: argparse.Namespace) -> int:
    """Write both files, and say how they are used."""
    solver, name = options.name.replace("_", "-"), options.name.replace("-", "_")
    if not (name.isidentifier() and name.islower()):
        raise InputError("NAME", "lower-case letters, digits and hyphens", options.name, "write for example my-solver")
    taken = {*keyword.kwlist, *dir(builtins), *(entry.name.replace("-", "_") for entry in catalog.ENTRIES), "np"}
    if name in taken or importlib.util.find_spec(name):
        raise InputError("NAME", "that of no solver, module or word of Python", options.name, f"write my-{solver}")
    files = {options.dir / f"{name}.py": SOLVER, options.dir / f"test_{name}.py": TEST}
    for file in files:
        if file.exists() or not file.parent.is_dir():
            raise InputError("NAME", "one of a file that is not there, in a folder that is", file, "take another name")
    for file, template in files.items():
        words = {"name": name, "solver": solver, "title": solver.replace("-", " ").capitalize()}
        file.write_text(template.substitute(words), "utf-8")
    say(f"{' and '.join(map(str, files))} are written. Try the test: pip install pytest, then pytest {[*files][1]}")
    say(f"On all pages, in sweeps and on workers: LRLAB_PLUGINS={[*files][0]}")
    say(f'In Python: lrlab.register("{[*files][0]}"), then lrlab.solve(spec, "{solver}")')
    return DONE
