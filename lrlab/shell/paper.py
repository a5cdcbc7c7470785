"""python -m lrlab paper: a figure of a paper."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.shell.common import DONE, report


def add(commands: Any) -> None:
    """Add the command."""
    paper = commands.add_parser("paper", help="compute a figure of a paper and write it as HTML and CSV")
    paper.add_argument("name", metavar="NAME", help="a preset's name; `paper list` prints them all")
    paper.add_argument("--out", default=".", type=Path, metavar="DIR", help="where to write (default: here)")
    paper.add_argument(
        "--trials", type=whole_number, metavar="N", help="number of trials, 2 or more (default: as in the preset)"
    )
    paper.add_argument("--data", type=Path, metavar="DIR", help="the folder with the data sets that some figures need")


def whole_number(text: str) -> int | str:
    """Return the number that a text is; other text as it is, for the preset to refuse in its own sentence."""
    return int(text) if text.isdecimal() else text


def run(options: argparse.Namespace) -> int:
    """Compute a preset and write its files."""
    from lrlab import presets

    if options.name == "list":
        print("\n".join(presets.names()))
        return DONE
    paths = presets.run(options.name, options.out, progress=report, trials=options.trials, data=options.data)
    print("\n".join(map(str, paths)))
    for sentence in presets.verdicts(paths[1]):
        print(sentence)
    return DONE
