"""Own one-bit answers: X (n, p) and y with two values, for all solvers of single-index models."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from lrlab.arrays import Array, Mask, Vector, frozen
from lrlab.linalg import unit, varying
from lrlab.model_entry import Measure
from lrlab.own.matrices import whitening
from lrlab.own.source import HELD_OUT, Own, unpacked
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, Problem, proceed
from lrlab.runs.index_link import IndexLink, losses

MEASURES = {
    "held_out_log_loss": Measure("log loss of answers held out", "nats an answer under the link that is estimated"),
    "held_out_accuracy": Measure("accuracy on answers held out", "share that is predicted rightly", rising=True),
    "log_loss": Measure("log loss of the answers", "nats an answer, of the answers that the solver was given"),
}
REFINEMENT = "link-free-refinement"
WHITENED = 2
"""Rows a column above which columns are whitened."""


class Frame(NamedTuple):
    """Centres columns and changes their basis: rows x become (x - mean) T, T (columns, p); sizes are deviations."""

    mean: Array
    T: Array
    sizes: Array

    @classmethod
    def of(cls, X: Array, scaling: str) -> "Frame":
        """Return the frame of rows X (n, columns): columns of deviation 1, or whitened ones; of those that vary."""
        use = varying(X)
        mean, sizes, eye = X.mean(axis=0), np.where(use, X.std(axis=0), 1.0), np.eye(X.shape[1])[:, use]
        if scaling == "none":
            return cls(np.zeros(len(mean)), eye, np.ones(len(mean)))
        T = eye / sizes[:, None]
        return cls(mean, T @ whitening((X - mean) @ T) if scaling == "whitened" and use.any() else T, sizes)

    def applied(self, X: Array) -> Array:
        """Return rows (n, columns) in the frame (n, p)."""
        return np.asarray((X - self.mean) @ self.T)


class OwnAnswersProblem(Problem):
    """A person's answers, with the attributes of `SingleIndexProblem` but a truth; X is in the frame of `frame`."""

    def __init__(self, spec: "OwnAnswers", checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.link, self.checkpoint = spec, spec.link_function, checkpoint  # type: ignore[attr-defined]
        arrays, out = unpacked(spec.file), spec.held
        X, y = arrays["X"], arrays["y"]
        self.frame = Frame.of(X[~out], spec.scaling)
        if spec.scaling == "whitened":
            self.contrasts = frozen(self.frame.sizes[:, None] * self.frame.T)
        self.X, self.y = frozen(self.frame.applied(X[~out])), frozen(y[~out])
        self.X_held, self.y_held = self.frame.applied(X[out]), y[out]
        self.shape = self.X.shape
        self.sparsity = spec.values()["sparsity"] or self.shape[1]
        self._link = lru_cache(maxsize=1)(self._fitted)

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield (X, y)."""
        self.checkpoint(0.0)
        yield self.X, self.y

    def first_answers(self, most: int) -> Array:
        """Return the first answers."""
        return self.y[:most]

    def _fitted(self, text: bytes) -> IndexLink:
        return IndexLink.fitted(self.X, self.y, np.frombuffer(text))

    def link_at(self, estimate: Array) -> IndexLink:
        """Return the link that is estimated along a direction."""
        return self._link(np.ascontiguousarray(estimate, dtype=float).tobytes())

    def score(self, estimate: Array) -> dict[str, float]:
        """Return log losses of the answers and of those held out, under the link that the given answers show."""
        link = self.link_at(estimate)
        scores = {"log_loss": float(losses(link.log_odds(self.X), self.y).mean())}
        if len(self.y_held):
            eta = link.log_odds(self.X_held)
            scores["held_out_log_loss"] = float(losses(eta, self.y_held).mean())
            scores["held_out_accuracy"] = float(np.mean((eta > 0) == (self.y_held > 0)))
        return scores

    def standardised(self, estimate: Array) -> Array:
        """Return the direction in columns of deviation 1 (columns,): what an index of deviation 1 takes of each.

        Deviations are those in these rows: intervals do not count that others have other ones. Where columns are not
        whitened, the estimate (p,), of length 1.
        """
        return unit(estimate) if self.contrasts is None else self.contrasts @ unit(estimate)

    def recovered(self, estimate: Array) -> Array:
        """Return the direction (columns,), of length 1, in the units of the given columns."""
        b = self.frame.T @ estimate
        return b / (np.linalg.norm(b) or 1.0)

    def predict(self, estimate: Array, X: Array) -> Array:
        """Return the log-odds of the larger answer at rows X (n, columns)."""
        return self.link_at(estimate).log_odds(self.frame.applied(X))


@dataclass(frozen=True, kw_only=True)
class OwnAnswers(Own):
    """One-bit answers of a person; what is recovered is the direction in columns that are centred and scaled."""

    free: ClassVar[tuple[str, ...]] = ("sparsity", "noise", "flip", "intercept", "threshold", "link")
    sizes: ClassVar[tuple[str, ...]] = ("n", "p")
    own_measures = MEASURES

    scaling: Annotated[
        str,
        Parameter(
            meaning="columns are centred and divided by their deviations, or made uncorrelated, too, or left alone",
            choices=("columns", "whitened", "none"),
        ),
    ] = "columns"

    @classmethod
    def completed(
        cls, arrays: Mapping[str, Vector], solver: object, options: Mapping[str, object]
    ) -> dict[str, object]:
        """Have columns whitened for the refinement of a dense direction, whose intervals then are right.

        Of correlated columns an entry of a direction of length 1 is far from normal. Whitening takes more rows than
        columns, and leaves no entry zero.
        """
        n, p = arrays["X"].shape
        dense = not any(options.get(name) for name in ("sparsity", "kept"))
        whitened = solver == REFINEMENT and dense and (1 - HELD_OUT) * n > WHITENED * p
        return {**({"scaling": "whitened"} if whitened else {}), **options}

    @property
    def theory_holds(self) -> bool:
        """Predictions are for drawn designs."""
        return False

    def build(self, checkpoint: Checkpoint = proceed) -> OwnAnswersProblem:  # noqa: D102
        return OwnAnswersProblem(self, checkpoint)

    @classmethod
    def shape_of(cls, arrays: Mapping[str, Vector], given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        X, y = arrays["X"], arrays["y"]
        if len(np.unique(y[given])) < 2:
            raise InputError("y", "of two values", "one value in all rows that are not held out", "give both answers")
        p = Frame.of(X[given], str(settings["scaling"])).T.shape[1]
        if p < 2:
            raise InputError("X", "at least 2 columns that vary", p, "a single one has no direction: plot y against it")
        return {"n": int(given.sum()), "p": p}
