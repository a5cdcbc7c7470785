"""Verdicts on the claims of a paper: what it says, what was measured, what theory predicts."""

from typing import Any, NamedTuple

REPRODUCED, REMARK, UNDECIDED = "reproduced", "reproduced with a remark", "not decided"
FAILED = "not reproduced"


class Judged(NamedTuple):
    """Whether a rule holds, None where the measurements do not decide it, and what was measured, as text."""

    holds: bool | None
    measured: str


class Verdict(NamedTuple):
    """One claim of a paper in its words, the measured and the predicted values as text, and the remark.

    predicted and remark are "" where there is none. holds: whether the measurements agree with the claim, the remark
    aside; None where they do not decide it.
    """

    paper: str
    measured: str
    predicted: str
    holds: bool | None
    remark: str = ""

    @property
    def word(self) -> str:
        """The verdict in one of four words."""
        if self.holds is None:
            return UNDECIDED
        return (REMARK if self.remark else REPRODUCED) if self.holds else FAILED

    @property
    def sentence(self) -> str:
        """The verdict as a person reads it."""
        return f"Verdict: {self.word}. The paper: “{self.paper}”. {values(self.measured, self.predicted, self.remark)}"

    @property
    def columns(self) -> dict[str, Any]:
        """The verdict as columns of a table."""
        values = {"paper": self.paper, "measured": self.measured, "predicted": self.predicted, "remark": self.remark}
        return {"verdict": self.word, **values}


def values(measured: str, predicted: str, remark: str) -> str:
    """Return a sentence on what was measured and predicted, and the remark."""
    theory = f"; predicted: {predicted}" if predicted else ""
    return f"Measured: {measured}{theory}. {remark}".rstrip()
