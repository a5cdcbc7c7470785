"""What pages show of each model at first: solvers, planes, what counts as success, where theory draws lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lrlab.models.low_rank import LowRankSpec
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, Value, display_name
from lrlab.protocol import Spec
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory.statistical_dimension import nuclear_norm


@dataclass(frozen=True)
class Goal:
    """What a map shows: the mean of a measure, or, with a level, the share of trials that bring it below.

    A mean has its contour where half of the trials have a measure `above` a level.
    """

    measure: str
    below: float | None = None
    above: float | None = None

    @property
    def words(self) -> str:
        """The goal as a title."""
        name = display_name(self.measure)
        return f"mean {name}" if self.below is None else f"share of trials with {name} < {self.below:g}"


@dataclass(frozen=True, kw_only=True)
class Family:
    """Models that are scored and drawn alike.

    name: as in `figures.measures`. solvers: chosen at first on *converge*; the first of them on *transition*. plane:
    axes of a model's first map, and along: the axis of its first spectrum; goal: what a map shows. ranges: where
    axes of its maps lead at first (from, to, linear or log), where that is no matter of the axis alone, and own_ranges:
    those of single models. held: values of a model's first map that are not its defaults; limits: those of its runs
    there, ample for a trial that succeeds. grows, falls: axes along which trials succeed ever more, or ever less,
    often, while all other parameters stay.
    """

    name: str
    solvers: tuple[str, ...]
    goal: Goal
    plane: Mapping[str, tuple[str, str]]
    along: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float, str]] = field(default_factory=dict)
    own_ranges: Mapping[str, Mapping[str, tuple[float, float, str]]] = field(default_factory=dict)
    held: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    limits: Mapping[str, Value] = field(default_factory=dict)
    grows: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()

    def ranges_of(self, model: str) -> Mapping[str, tuple[float, float, str]]:
        """Return where axes of a model's maps lead at first; what is not here is in `catalog.ranges`."""
        return {**self.ranges, **self.own_ranges.get(model, {})}


SINGLE_INDEX = Family(
    name="single-index",
    solvers=("pairwise-moment", "link-free-refinement"),
    goal=Goal("overlap", above=0.5),
    plane={
        "one-bit-sensing": ("variance", "ratio"),
        "flipped-logistic": ("flip", "ratio"),
        "one-bit-phase-retrieval": ("threshold", "ratio"),
    },
    along={"one-bit-sensing": "variance", "flipped-logistic": "flip", "one-bit-phase-retrieval": "threshold"},
    own_ranges={"flipped-logistic": {"flip": (0.0, 0.2, "linear"), "ratio": (50.0, 5000.0, "log")}},
    grows=("n", "ratio"),
    falls=("p", "sparsity", "noise", "variance", "flip", "dense-rate", "sparse-rate"),
)
LOW_RANK = Family(
    name="low-rank",
    solvers=("gauss-newton", "tangent-descent", "altmin", "ep-rom"),
    goal=Goal("spectral_error", 0.05),
    plane={
        "rank-one-sensing": ("rank", "m"),
        "inductive-completion": ("rank", "per-freedom"),
        "multilabel-regression": ("rank", "per-freedom"),
        "polynomial-network": ("r", "m"),
    },
    along={
        "rank-one-sensing": "m",
        "inductive-completion": "observed",
        "multilabel-regression": "observed",
        "polynomial-network": "m",
    },
    ranges={
        "per-freedom": (0.8, 4.0, "linear"),
        "rank": (1.0, 8.0, "linear"),
        "r": (1.0, 8.0, "linear"),
        "m": (60.0, 1000.0, "log"),
    },
    own_ranges={"multilabel-regression": {"per-freedom": (0.8, 6.0, "linear")}},
    held={
        "rank-one-sensing": {"d1": 30, "d2": 30},
        "inductive-completion": {"n1": 300, "n2": 300},
        "multilabel-regression": {"n": 100, "d": 10, "labels": 30},
        "polynomial-network": {"p": 40},
    },
    limits={"max_iter": 25},
    grows=("m", "observed", "per-freedom"),
    falls=("rank", "r", "p", "d", "d1", "d2", "noise", "condition", "missing"),
)

PHASE = Family(
    name="phase-retrieval",
    solvers=("gauss-newton", "reweighted-amplitude-flow", "wirtinger-flow"),
    goal=Goal("error", 0.001),
    plane={"phase-retrieval": ("p", "ratio")},
    along={"phase-retrieval": "ratio"},
    ranges={"ratio": (1.5, 6.0, "linear"), "p": (16.0, 96.0, "log"), "m": (100.0, 1000.0, "log")},
    limits={"max_iter": 60},
    grows=("m", "ratio"),
    falls=("p", "noise"),
)

MULTILABEL = Family(
    name="multilabel",
    solvers=("leml-squared", "binary-relevance"),
    goal=Goal("precision_3", above=0.3),
    plane={"multilabel": ("noise", "observed")},
    ranges={"observed": (0.01, 1.0, "log")},
    held={"multilabel": {"n": 500, "d": 40, "labels": 30}},
    limits={"max_iter": 60},
    grows=("n", "observed"),
    falls=("noise", "missing"),
)

ONE_BIT_MULTILABEL = Family(
    name="one-bit-multilabel",
    solvers=("one-bit-power", "one-bit-likelihood", "leml-squared"),
    goal=Goal("hamming", 0.1),
    plane={"one-bit-multilabel": ("flip", "m")},
    ranges={"m": (100.0, 10_000.0, "log")},
    held={"one-bit-multilabel": {"d1": 30, "d2": 20}},
    limits={"max_iter": 30},
    grows=("m",),
    falls=("rank", "d1", "d2", "noise", "flip"),
)

FAMILIES = (SINGLE_INDEX, LOW_RANK, PHASE, MULTILABEL, ONE_BIT_MULTILABEL)


def family(model: str) -> Family:
    """Return the family of a model."""
    return next(family for family in FAMILIES if model in family.plane)


def possible(spec: Spec, entry: SolverEntry, options: Options) -> dict[str, bool]:
    """Return, for each line that theory draws through a plane, whether a spec lies on its good side.

    "predicted threshold": the overlap that a solver will reach is above zero. "degrees of freedom": there are at least
    as many measurements as unknowns. "statistical dimension": nuclear-norm minimisation is to succeed with dense
    Gaussian measurements.
    """
    if isinstance(spec, SingleIndexSpec):
        predicted = _predicted(spec, entry, options)
        return {} if predicted is None else {"predicted threshold": predicted > 0}
    lines: dict[str, bool] = {}
    if isinstance(spec, PhaseRetrieval):
        # A complex entry is two real unknowns; one global phase is never known.
        lines["degrees of freedom"] = spec.m >= (2 * spec.p - 1 if spec.field == "complex" else spec.p)
    if isinstance(spec, LowRankSpec):
        lines["degrees of freedom"] = spec.measurements >= spec.degrees_of_freedom
        if entry.name == "nuclear-norm" and spec.values().get("operator") == "dense":
            lines["statistical dimension"] = spec.measurements >= nuclear_norm(*spec.size, spec.true_rank)
    return lines


def _predicted(spec: Any, entry: SolverEntry, options: Options) -> float | None:
    try:
        return entry.predict(spec, options).get("predicted_overlap")
    except InputError:
        return None
