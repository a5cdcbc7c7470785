"""What runs and pages ask of every model; most have nothing to add."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from lrlab.arrays import Array


class View(NamedTuple):
    """A picture of a truth or an estimate: values (rows, columns), nan where there is none, and names of both.

    scale: "grey" levels in 0..1, "signed" numbers, or "kinds", whole numbers from 0 that stand for colours.
    """

    values: Array
    scale: Literal["grey", "signed", "kinds"]
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


class ModelHooks:
    """Properties and methods of a `Spec` with their defaults."""

    data_metrics: ClassVar[Mapping[str, Any]] = {}
    """Scores of a person's own data, by name, in the place of those of the family; none where data are drawn."""

    undetermined: ClassVar[Literal["nothing", "phase", "scale"]] = "nothing"
    """What the measurements leave open of a vector: nothing, its phase (sign, if real), or its scale and phase."""

    view_words: ClassVar[str] = "The truth and the estimates as pictures."
    """What the pictures of `view` show, as a sentence."""

    @property
    def drawn(self) -> bool:
        """Whether data are drawn from a truth: theory speaks of these alone."""
        return True

    def ending(self, stop: Any) -> str:
        """Return what is said of the end of a run in the place of the sentence of the stop, or nothing."""
        return ""

    @property
    def remark(self) -> str:
        """What to know of this problem beforehand, as a sentence, or nothing."""
        return ""

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return what the last scores of a run mean, as a sentence, or nothing."""
        return ""

    @property
    def withheld(self) -> tuple[str, ...]:
        """Words of `SolverEntry.oracle` that solvers are not told here."""
        return ()

    @property
    def measurements(self) -> int:
        """Number of measurements, where it is compared with `degrees_of_freedom`."""
        return 0

    @property
    def degrees_of_freedom(self) -> int:
        """Number of unknowns that the measurements have to decide; 0 where more of them is no question of counting."""
        return 0

    @property
    def true_rank(self) -> int:
        """Rank of what is recovered."""
        return 1

    @property
    def first_solvers(self) -> tuple[str, ...]:
        """Solvers to try first on this very problem, before those of its family."""
        return ()

    @property
    def best_known(self) -> bool:
        """Whether the scores of the best possible prediction are among those of a run."""
        return False

    @property
    def law(self) -> Hashable:
        """What limits for large sizes depend on beside n/p, sparsity and p, as a link function; None where nothing."""
        return None

    @property
    def side(self) -> int:
        """Side in pixels where a picture is recovered, else 0."""
        return 0

    def view(self, estimate: Any) -> View | None:
        """Return an estimate as a picture, the truth of None; None where it is drawn as numbers."""
        return None

    def comparable(self, estimate: Any) -> Any:
        """Return an estimate with what no data decide, as its scale, set as in the truth."""
        return estimate
