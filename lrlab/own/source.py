"""Own measurements as the source of a problem: the spec of a model whose data are read instead of drawn.

The spec of such a problem is the model's own with `Own` and the kind of its family before it, so that solvers, limits
and records are those of drawn problems. What needs the truth is left out; what is held out is scored instead.
"""

import base64
import io
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np

from lrlab.arrays import Mask, Vector
from lrlab.model_entry import Measure
from lrlab.parameters import Parameter, Value, declared
from lrlab.protocol import Spec, Stop

HELD_OUT = 0.2
"""Share of the measurements that is held out where none is said."""


def packed(arrays: Mapping[str, Vector]) -> str:
    """Return arrays by name as a text that travels with a job."""
    memory = io.BytesIO()
    np.savez(memory, allow_pickle=False, **arrays)
    return base64.b64encode(memory.getvalue()).decode()


def unpacked(text: str) -> dict[str, Vector]:
    """Return what `packed` was given."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as arrays:
        return dict(arrays)


def held(count: int, share: float, seed: int) -> Mask:
    """Return which of so many measurements are held out: a share of them, drawn with the seed, but never all."""
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(count)[: min(round(share * count), count - 1)]] = True
    return chosen


@dataclass(frozen=True, kw_only=True)
class Own(Spec):
    """Measurements of a person; sizes are of those that solvers see, `measured` counts those held out, too.

    free: the model's parameters that say something of own data; all others are of what is drawn. sizes: those that say
    how large they are. kind: the class among these that a class of specs was made of.
    """

    free: ClassVar[tuple[str, ...]] = ()
    sizes: ClassVar[tuple[str, ...]] = ()
    own_measures: ClassVar[Mapping[str, Measure]] = {}
    kind: ClassVar[type["Own"]]

    file: Annotated[str, Parameter(meaning="the measurements, packed", hidden=True)] = ""
    measured: Annotated[int, Parameter(meaning="number of all measurements", low=0, high=1e9, hidden=True)] = 0
    held_out: Annotated[
        float, Parameter(meaning="share of the measurements that is held out, to score estimates", low=0, high=0.9)
    ] = HELD_OUT

    @property
    def drawn(self) -> bool:  # noqa: D102
        return False

    @property
    def remark(self) -> str:  # noqa: D102
        return ""

    def judgement(self, scores: Mapping[str, float]) -> str:  # noqa: D102
        return ""

    @property
    def data_bytes(self) -> int:
        """Memory of the data as the model holds it, and of the packed file."""
        return int(super().data_bytes) + 3 * len(self.file)  # type: ignore[safe-super]

    @property
    def held(self) -> Mask:
        """Which measurements are held out (measured,)."""
        return held(self.measured, self.held_out, self.seed)

    def public_values(self) -> dict[str, Value]:
        """Return what says something of own data."""
        of_kind = (name for name, p in declared(self.kind).items() if not p.hidden)
        named = {*self.free, *self.sizes, *of_kind}
        return {name: value for name, value in self.values().items() if name in named}

    @classmethod
    def completed(
        cls, arrays: Mapping[str, Vector], solver: object, options: Mapping[str, object]
    ) -> dict[str, object]:
        """Return options with those that are best for a solver on these arrays, where none is said."""
        return dict(options)

    @classmethod
    @abstractmethod
    def shape_of(cls, arrays: Mapping[str, Vector], given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return the sizes of a spec on these arrays, of which some are given to solvers.

        InputError where they cannot be used.
        """

    def ending(self, stop: Stop | None) -> str:
        """Return what is said of NOT_UNIQUE, for no truth is known here; of other stops nothing."""
        if stop is not Stop.NOT_UNIQUE:
            return ""
        return (
            f"Not unique: {self.undecided}; others fit as well. Take more data, or for matrices features or a smaller"
            " rank."
        )

    @property
    def undecided(self) -> str:
        """Why the data do not decide what is recovered, as part of a sentence."""
        return "the measurements do not decide the estimate"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the model's class and the values: the class of the spec is made where it is used."""
        model = next(base for base in type(self).__mro__[2:] if "model" in vars(base))
        return _restored, (type(self).kind, model, self.values())


def _restored(kind: type[Own], model: type[Spec], values: Mapping[str, Value]) -> Own:
    make: Any = own_class(kind, model)
    own: Own = make(**values)
    return own


@lru_cache(maxsize=64)
def own_class(kind: type[Own], model: type[Spec]) -> type[Own]:
    """Return the class of specs of a model whose data are a person's, of a kind."""
    made = type(f"Own{model.__name__}", (kind, model), {"__module__": kind.__module__, "kind": kind})
    return dataclass(frozen=True, kw_only=True)(made)
