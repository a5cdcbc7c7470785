"""Specs of problems from your measurements instead of simulated data.

Such a spec derives from the model's spec, `DataSpec` and the kind of its family, so that solvers, limits and records
work as on simulated problems. Held-out measurements replace the ground truth in metrics.
"""

import hashlib
import pickle
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import pandas as pd

from lrlab.arrays import Mask, Vector
from lrlab.lowrank import LowRank
from lrlab.model_entry import Measure
from lrlab.parameters import InputError, Parameter, Value, declared, number
from lrlab.protocol import Checkpoint, Spec, Stop, proceed

HELD_OUT = 0.2
"""Default fraction of held-out measurements."""
MOST_RANKS = 100
"""Number of ranks that a sentence on too few data considers."""
Arrays = Mapping[str, Any]


class Comparison(NamedTuple):
    """A metric on held-out data, half the width of its 95% interval, and the metric of a baseline."""

    name: str
    score: float
    within: float
    baseline: float
    rising: bool = False

    @classmethod
    def of(cls, name: str, losses: Vector, baseline: Vector, root: bool = False) -> "Comparison":
        """Return a mean loss, or the root of one, with its sampling error."""
        mean = float(np.mean(losses))
        error = 1.96 * float(np.std(losses)) / np.sqrt(len(losses)) if len(losses) > 1 else np.nan
        if not root:
            return cls(name, mean, error, float(np.mean(baseline)))
        return cls(name, np.sqrt(mean), error / (2 * np.sqrt(mean) or 1.0), float(np.sqrt(np.mean(baseline))))

    def __str__(self) -> str:
        """Return it in words."""
        better = self.score > self.baseline if self.rising else self.score < self.baseline
        hint = "" if better else ". The fit predicts no better: give more samples, or try another solver or model"
        spread = f"± {self.within:.2g}" if np.isfinite(self.within) else "(one value)"
        return f"{self.name} on held-out data {self.score:.4g} {spread}, baseline {self.baseline:.4g}{hint}"


class Packed(str):
    """Arrays by name that travel with a spec, and their size; as text, their digest, which compares specs."""

    arrays: dict[str, Any]
    nbytes: int

    @classmethod
    def of(cls, arrays: Arrays) -> Self:
        """Return arrays with their digest."""
        content = pickle.dumps(dict(arrays))
        packed = cls(hashlib.sha256(content).hexdigest())
        packed.arrays, packed.nbytes = dict(arrays), len(content)
        return packed


class DataProblem:
    """Estimates on your data as pictures, tables and files; each kind of data overrides what differs."""

    spec: Any

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return False, for lack of a ground truth."""
        return False

    def another_fits(self, row: Mapping[str, float]) -> bool:
        """Return whether the data do not determine an estimate of this rank; problems of labels have no spec."""
        return self.spec is not None and bool(self.spec.lacking(vars(self).get("rank", 1)))

    def parts(self, trace: Any) -> Mapping[str, Vector]:
        """Return pictures of the estimate by title: units of a form, an image, or the entries of a signal."""
        what = trace.estimate
        if isinstance(what, LowRank):
            two = np.shape(what.U) != np.shape(what.V) or not np.allclose(what.U, what.V)
            left = {"left units" if two else "hidden units": (what.U * np.abs(what.s)).T}
            return {**left, **({"right units": what.V.T} if two else {})}
        if np.ndim(what) == 2:
            return {"image, up to a phase": np.abs(what)}
        return {"real, imaginary": np.vstack([np.real(what), np.imag(what)])}

    def table(self, trace: Any, names: Sequence[str], rows: Sequence[str]) -> pd.DataFrame:
        """Return the matrix of a form, the magnitudes of an image, or a signal. names, rows: of a table's sides."""
        what = trace.estimate
        if isinstance(what, LowRank) or np.ndim(what) == 2:
            return pd.DataFrame(what.dense() if isinstance(what, LowRank) else np.abs(what))
        return pd.DataFrame({"real": np.real(what), "imaginary": np.imag(what)})

    def saved(self, trace: Any) -> dict[str, Vector]:
        """Return the arrays of the estimate for a file."""
        what = trace.estimate
        return what.arrays() if hasattr(what, "arrays") else {"estimate": what}


def held(arrays: Arrays, fraction: float, seed: int) -> Mask:
    """Return a mask of held-out measurements: `out`, or else a random fraction of them, but never all."""
    count = len(arrays["y"])
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(count)[: min(round(fraction * count), count - 1)]] = True
    return arrays.get("out", chosen)


@dataclass(frozen=True, kw_only=True)
class DataSpec(Spec):
    """Your measurements. Sizes count what solvers get; `measured` also counts held-out measurements.

    models: bases of the models' specs. free: the model's parameters that apply to data; the others describe
    simulations. sizes: the parameters that give sizes. kind: the subclass that a class of specs derives from. problem:
    the class of its problems. usual: the default solver.
    """

    models: ClassVar[tuple[type[Any], ...]] = ()
    free: ClassVar[tuple[str, ...]] = ()
    sizes: ClassVar[tuple[str, ...]] = ()
    data_metrics: ClassVar[Mapping[str, Measure]] = {}
    kind: ClassVar[type["DataSpec"]]
    problem: ClassVar[Any]
    usual: ClassVar[str] = "gauss-newton"

    file: Annotated[str, Parameter(meaning="the measurements, by their digest", hidden=True)] = ""
    measured: Annotated[int, number(0, 1e9, "number of all measurements", hidden=True)] = 0
    held_out: Annotated[float, number(0, 0.9, "fraction of held-out measurements, which evaluate estimates")] = HELD_OUT

    synthetic, remark = False, ""

    def check(self) -> None:
        """Raise InputError for a spec without data, or with parameters that contradict each other."""
        if not isinstance(self.file, Packed):
            raise InputError("file", "data that lrlab has read", self.file or "nothing", "call lrlab.recover on arrays")
        super().check()

    def judgement(self, scores: Mapping[str, float]) -> str:  # noqa: D102
        return ""

    def build(self, checkpoint: Checkpoint = proceed) -> Any:  # noqa: D102
        return self.problem(self, checkpoint)

    @property
    def packed(self) -> Packed:
        """The given arrays and their size."""
        return cast("Packed", self.file)

    @property
    def arrays(self) -> dict[str, Any]:
        """The given arrays by name."""
        return self.packed.arrays

    @property
    def data_bytes(self) -> int:
        """Memory of the data as the model holds it, and of the given arrays."""
        return int(super().data_bytes) + self.packed.nbytes  # type: ignore[safe-super]

    @property
    def held(self) -> Mask:
        """Mask of held-out measurements (measured,)."""
        return held(self.arrays, self.held_out, self.seed)

    @classmethod
    def choices(cls) -> dict[str, Parameter]:
        """Return the parameters that you can set."""
        named = {*cls.free, *(name for name, p in declared(cls.kind).items() if not p.hidden)}.difference(cls.sizes)
        return {name: p for name, p in declared(cls).items() if name in named}

    def public_values(self) -> dict[str, Value]:
        """Return the values that describe the data."""
        named = {*self.sizes, *self.choices()}
        return {name: value for name, value in self.values().items() if name in named}

    @classmethod
    @abstractmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return checked arrays of the arguments of `recover`, one entry of `y` per measurement."""

    @classmethod
    def default_solver(cls, X: Any = None, Z: Any = None, **options: object) -> str:
        """Return the default solver for arrays X and Z, and options of `recover`."""
        return cls.usual

    @classmethod
    def completed(cls, arrays: Arrays, solver: object, options: Mapping[str, object]) -> dict[str, object]:
        """Return options with the best defaults for a solver on these arrays."""
        return dict(options)

    @classmethod
    @abstractmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return the sizes of a spec on the `given` part of arrays; InputError for unusable arrays."""

    def ending(self, stop: Stop | None) -> str:
        """Return the sentence for NOT_UNIQUE without a ground truth; nothing for other stops."""
        if stop is not Stop.NOT_UNIQUE:
            return ""
        # If held-out measurements choose the rank, `true_rank` is the smallest choice.
        reasons = filter(None, map(self.lacking, range(self.true_rank, self.true_rank + MOST_RANKS)))
        reason = next(reasons, "the measurements do not determine the estimate")
        return f"Not unique: {reason}. Add data, features of a matrix, or take a smaller rank."

    def lacking(self, rank: int) -> str:
        """Return why the data do not determine an estimate of a rank, as part of a sentence; nothing if they do."""
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model's class and the values; the reader makes the class of the spec again."""
        model = next(base for base in type(self).__mro__[2:] if "model" in vars(base))
        return _restored, (type(self).kind, model, self.values())


def _restored(kind: type[DataSpec], model: type[Spec], values: Mapping[str, Value]) -> DataSpec:
    make: Any = spec_class(kind, model)
    spec: DataSpec = make(**values)
    return spec


@lru_cache(maxsize=64)
def spec_class(kind: type[DataSpec], model: type[Spec]) -> type[DataSpec]:
    """Return the class of specs of a model with data of a kind."""
    made = type(f"Data{model.__name__}", (kind, model), {"__module__": kind.__module__, "kind": kind})
    return dataclass(frozen=True, kw_only=True)(made)
