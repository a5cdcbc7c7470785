"""What not knowing the link costs: link-free refinement over maximum likelihood with the link.

python benchmarks/known_link.py [--trials 40] [--first-seed 0] [--links "sin z,bump"] [--set n=3000 ...]

For each link: median of the ratios of errors, ratio of the median errors, and the median errors. Without noise a link
that jumps has no maximum of its likelihood but a set of them: such a link is widened, as if the index had noise, until
the width is half the error that the Fisher information then allows.

The likelihood of jumps to a level between 0 and 1 has many maxima. Newton steps from the truth end in the nearest one,
which is closer to the truth than the highest, and closer than the posterior mean (`gamp`), which no estimate without
the truth beats on average. Maximum likelihood is therefore the highest of two: from the truth, and from the link-free
estimate with widths narrowed step by step. The ratio over the maximum next to the truth is printed beside it, with that
of the posterior mean.
"""

import argparse
import math
from typing import NamedTuple

import numpy as np

from lrlab import catalog, metrics
from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.single_index import SingleIndexProblem
from lrlab.runs.run import solve
from lrlab.theory.channels import answer
from lrlab.theory.formula_link import READY
from lrlab.theory.links import Link, normal_density

SOLVER = "link-free-refinement"
GRID = np.linspace(-9.0, 9.0, 18_001)
WIDEST, NARROWEST = 0.5, 1e-4
STEPS, HALVINGS, SETTLED = 60, 20, 1e-6
SLACK, DAMPING, LONGEST_STEP = 1e-12, 1e-6, 0.5


class Likelihood(NamedTuple):
    """On the grid: log P(y | z) and its slope in z, for y = +1 and -1, and the Fisher information of an answer."""

    log_chance: tuple[Array, Array]
    slope: tuple[Array, Array]
    information: Array

    @classmethod
    def of(cls, link: Link, width: float) -> "Likelihood":
        """Tabulate the likelihood of a link whose index is known up to noise of this standard deviation."""
        yes, no = (answer(link, GRID, width**2, y) for y in (1.0, -1.0))
        information = np.exp(yes.log_chance) * yes.score**2 + np.exp(no.log_chance) * no.score**2
        return cls((yes.log_chance, no.log_chance), (yes.score, no.score), information)

    def loss(self, z: Array, y: Array) -> float:
        """Return the summed loss of answers at indices z (n,)."""
        return -float(self._own(self.log_chance, z, y).sum())

    def descent(self, z: Array, y: Array) -> Array:
        """Return minus the derivative of each answer's loss (n,)."""
        return self._own(self.slope, z, y)

    @staticmethod
    def _own(tables: tuple[Array, Array], z: Array, y: Array) -> Array:
        yes, no = (np.interp(z, GRID, table) for table in tables)
        return np.where(y > 0, yes, no)


def known_links(problem: SingleIndexProblem) -> list[Likelihood]:
    """Return the likelihood at ever smaller widths, the last half the error that the information there allows."""
    (n, p), width, found = problem.shape, WIDEST, list[Likelihood]()
    while True:
        found.append(Likelihood.of(problem.link, width))
        average = float((found[-1].information * normal_density(GRID)).sum() * (GRID[1] - GRID[0]))
        if width <= max(NARROWEST, math.sqrt(p / (n * average)) / 2.0):
            return found
        width = max(width / 2.0, NARROWEST)


def maxima(problem: SingleIndexProblem, estimate: Array) -> tuple[Array, Array]:
    """Return the maximum of the likelihood next to the truth, and the highest found, also from an estimate (p,)."""
    likelihoods = known_links(problem)
    X, y, last = problem.X, problem.y, likelihoods[-1]
    nearest, other = climbed(problem, last, problem.truth), estimate
    for likelihood in likelihoods:
        other = climbed(problem, likelihood, other)
    return nearest, min(nearest, other, key=lambda b: last.loss(X @ b, y))


def climbed(problem: SingleIndexProblem, likelihood: Likelihood, b: Array) -> Array:
    """Return the maximum (p,) that Newton steps with the Fisher information reach from b."""
    X, y = problem.X, problem.y
    for _ in range(STEPS):
        z = X @ b
        weights, descent = np.interp(z, GRID, likelihood.information), X.T @ likelihood.descent(z, y)
        # On the sphere the Hessian of a loss is P H P - <b, gradient> I.
        P, damping = np.eye(len(b)) - np.outer(b, b), max(float(b @ descent), 0.0) + DAMPING * weights.sum()
        D = np.linalg.solve(P @ ((X.T * weights) @ X) @ P + damping * np.eye(len(b)), P @ descent)
        D *= min(1.0, LONGEST_STEP / max(float(np.linalg.norm(D)), LONGEST_STEP))
        allowed = likelihood.loss(z, y) * (1.0 + SLACK)
        trials = (unit(b + D / 2.0**k) for k in range(HALVINGS))
        lower = next((trial for trial in trials if likelihood.loss(X @ trial, y) <= allowed), b)
        moved, b = float(np.linalg.norm(lower - b)), lower
        if moved < SETTLED:
            break
    return b


def main() -> None:
    """Measure the links."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--links", default=",".join(READY))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    for link in given.links.split(","):
        spec = catalog.spec("custom-link", link=link, **dict(text.split("=", 1) for text in given.set))
        errors = []
        for seed in range(given.first_seed, given.first_seed + given.trials):
            problem = spec.replace(seed=seed).build()
            free = solve(problem.spec, SOLVER)
            estimates = (*maxima(problem, free.estimate), solve(problem.spec, "gamp").estimate)
            errors.append([free.metrics["error"], *(metrics.direction_error(b, problem.truth) for b in estimates)])
        free, nearest, highest, posterior = np.array(errors).T
        print(
            f"{link:<13} n={spec.n} p={spec.p}: over the highest likelihood: median of ratios"
            f" {np.median(free / highest):.3f}, ratio of medians {np.median(free) / np.median(highest):.3f}; over the"
            f" maximum next to the truth {np.median(free / nearest):.3f}, {np.median(free) / np.median(nearest):.3f};"
            f" median errors: link-free {np.median(free):.4f}, highest {np.median(highest):.4f}, next to the truth"
            f" {np.median(nearest):.4f}, posterior mean {np.median(posterior):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
