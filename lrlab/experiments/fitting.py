"""A solver fitted to people's own multi-label data: read, hidden in part, fitted, tested after every iteration."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lrlab import catalog, datasets
from lrlab.lowrank import LowRank
from lrlab.models.multilabel import Multilabel, scattered
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.parameters import InputError, require_known, settle
from lrlab.protocol import Iterate, Stop, drive, limits

Row = dict[str, float]
MODEL = Multilabel.model


@dataclass
class Fit:
    """What a fit left behind: a row an iteration (seconds and scores), the last estimate, and why it ended."""

    solver: str
    options: Mapping[str, Any]
    auc_rows: int
    rows: list[Row] = field(default_factory=list)
    estimate: LowRank | None = None
    stop: Stop | None = None

    def summary(self) -> dict[str, Any]:
        """Return it as plain values, as `fit --json` prints it: the scores of the last iteration, and all of them."""
        last = self.rows[-1] if self.rows else {}
        scores = {name: value for name, value in last.items() if name != "iteration"}
        return {
            "solver": self.solver,
            "options": dict(self.options),
            **scores,
            "auc_rows": self.auc_rows,
            "iterations": len(self.rows),
            "stop": self.stop.name if self.stop else None,
            "message": self.stop.value if self.stop else "",
            "trace": self.rows,
        }


def fit(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str],
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int = 5,
    observed: float = 1.0,
    seed: int = 0,
    max_seconds: float = 3600.0,
    **settings: object,
) -> Fit:
    """Fit a multi-label solver to the rows of one file, and test it on those of another after every iteration.

    labels: as for `datasets.read`. rank: 0 takes half of what is possible. observed: share of the label table that is
    kept, drawn with the seed; the rest is unknown to the solver. settings: the solver's options. Scores: precision@1,
    @3, @5 in percent, hamming, auc (a mean over `auc_rows` rows that have labels of both kinds).
    InputError where a file, a setting or a size is wrong.
    """
    require_known(solver, tuple(entry.name for entry in catalog.solvers_for(MODEL)), what="solver")
    entry = catalog.solver(solver, MODEL)
    for name in settings:
        require_known(name, entry.options, what=f"option of {solver}")
    options = settle(entry.run, settings)
    ending = limits({"max_iter": iterations, "max_seconds": max_seconds})
    problem = problem_of(train, test, labels, rank=rank, observed=observed, seed=seed)
    found = Fit(solver, options, rows_of_both_kinds(problem.Y_test))

    def watch(iteration: int, seconds: float, iterate: Iterate) -> None:
        scores = problem.score(iterate.estimate)
        # As papers print them: precision in percent, the others as shares.
        named = {f"precision@{k}": 100.0 * scores.pop(f"precision_{k}") for k in (1, 3, 5)}
        found.rows.append({"iteration": iteration, "seconds": seconds, **named, **scores})
        found.estimate = iterate.estimate

    iterates = entry.run(problem, **options, rng=np.random.default_rng(seed))
    found.stop = drive(iterates, watch, **ending._asdict())
    return found


def rows_of_both_kinds(Y: csr_array) -> int:
    """Return the number of rows that have labels that are on and others that are off: those with an AUC."""
    on = np.diff(Y.indptr)
    return int(((on > 0) & (on < Y.shape[1])).sum())


def problem_of(
    train: str | os.PathLike[str], test: str | os.PathLike[str], labels: Any, *, rank: int, observed: float, seed: int
) -> MultilabelProblem:
    """Return the problem of two files, with a share of the training labels kept."""
    if not 0 < observed <= 1:
        raise InputError("observed", "a share above 0, at most 1", observed, "give observed such a value, such as 0.2")
    given = datasets.read(train, labels)
    fresh = datasets.read(test, labels, like=given)
    if fresh.observed is not None:
        raise InputError("test", "a file all of whose labels are known", test, "leave out rows with unknown labels")
    most = min(given.X.shape[1], given.Y.shape[1])
    if not 0 <= rank <= most:
        expected = f"in 0..{most}, the smaller number of features and labels"
        raise InputError("rank", expected, rank, "lower the rank, or leave it 0")
    seen = given.observed if observed == 1 else hidden(given.Y.shape, observed, seed, given.observed)
    return MultilabelProblem.of(given.X, given.Y, seen, fresh.X, fresh.Y, rank or max(1, most // 2))


def hidden(shape: tuple[int, int], observed: float, seed: int, known: csr_array | None) -> csr_array:
    """Return the pattern of the entries that stay known: a share drawn without replacement, of those known at all."""
    pattern = scattered(np.random.default_rng(seed), shape, observed)
    return pattern if known is None else csr_array(pattern.multiply(known))
