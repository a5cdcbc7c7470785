"""Questions that runs and pages ask every model; most models keep the default answers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from lrlab.arrays import Array


class View(NamedTuple):
    """A picture of a ground truth or an estimate: values (rows, columns), nan if missing, and names of both.

    scale: "gray" levels in 0..1, "signed" numbers, or "kinds", whole numbers from 0 that stand for colors.
    """

    values: Array
    scale: Literal["gray", "signed", "kinds"]
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


class ModelHooks:
    """Default properties and methods of a `Spec`."""

    data_metrics: ClassVar[Mapping[str, Any]] = {}
    """Metrics of your data, by name, which replace the metrics of the family; empty for simulated data."""

    undetermined: ClassVar[Literal["nothing", "phase", "scale"]] = "nothing"
    """The part of a vector that measurements cannot determine: nothing, its phase (or sign), or its scale and phase."""

    view_words: ClassVar[str] = "The ground truth and the estimates as images."
    """The caption of the pictures of `view`."""

    @property
    def drawn(self) -> bool:
        """Whether data are simulated from a known truth, as theory requires."""
        return True

    def ending(self, stop: Any) -> str:
        """Return a sentence about the end of a run that replaces the general one, or nothing."""
        return ""

    @property
    def remark(self) -> str:
        """A warning about this problem before a run, or nothing."""
        return ""

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return a sentence that interprets the last metrics of a run, or nothing."""
        return ""

    @property
    def withheld(self) -> tuple[str, ...]:
        """Words of `SolverEntry.oracle` that solvers do not receive here."""
        return ()

    @property
    def measurements(self) -> int:
        """Number of measurements to compare with `degrees_of_freedom`, or 0."""
        return 0

    @property
    def degrees_of_freedom(self) -> int:
        """Number of unknowns that the measurements must determine; 0 if counting does not apply."""
        return 0

    @property
    def true_rank(self) -> int:
        """Rank of the ground truth."""
        return 1

    @property
    def first_solvers(self) -> tuple[str, ...]:
        """Solvers to try first on this problem, ahead of the family's choice."""
        return ()

    @property
    def side(self) -> int:
        """Side of a recovered image in pixels, else 0."""
        return 0

    def view(self, estimate: Any) -> View | None:
        """Return an estimate as a picture (None: the truth); None if it is plotted as numbers."""
        return None

    def comparable(self, estimate: Any) -> Any:
        """Return an estimate with its undetermined part, such as its scale, set as in the truth."""
        return estimate
