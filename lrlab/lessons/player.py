"""Computes the frames that the home page plays: a picture recovered from more and more one-bit answers.

    python -m lrlab.lessons.player lrlab/ui/assets/player.json

writes those of a phantom anew; they are shipped with the package, so that the page waits for nothing.
"""

import base64
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.figures.picture import grey
from lrlab.protocol import Spec
from lrlab.runs.run import solve

SIDE, NOISE, SOLVER = 32, 0.1, "gamp"
ANSWERS = tuple(round(2 ** (k / 2)) for k in range(14, 32))
"""Numbers of answers of the frames: 128 to about 46,000, a step is a factor of sqrt(2)."""


def shown(answers: int) -> Spec:
    """Return the spec of a frame."""
    return catalog.spec("one-bit-sensing", p=SIDE * SIDE, n=answers, noise=NOISE, truth="phantom")


def frame(answers: int) -> dict[str, Any]:
    """Return a number of answers, the error of the estimate from them, and its grey levels."""
    spec = shown(answers)
    trace = solve(spec, SOLVER)
    problem: Any = spec.build()
    return {
        "n": answers,
        "error": round(trace.rows[-1]["error"], 4),
        "picture": packed(grey(trace.estimate, problem.truth)),
    }


def packed(levels: Any) -> str:
    """Return grey levels (side, side) as text."""
    return base64.b64encode(levels.tobytes()).decode("ascii")


def player(frames: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return all that is played: the side of the pictures, the truth, the frames."""
    problem: Any = shown(ANSWERS[0]).build()
    return {"side": SIDE, "truth": packed(grey(problem.truth, problem.truth)), "frames": frames}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(player([frame(answers) for answers in ANSWERS])), encoding="utf-8")
