"""python -m lrlab fit: a multi-label solver on people's own files."""

import argparse
import json
from pathlib import Path
from typing import Any

from lrlab.shell.common import DONE, add_json, plain
from lrlab.shell.solve import settings_from

SHOWN = ("precision@1", "precision@3", "precision@5", "hamming", "auc", "auc_rows")


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("fit", help="fit a multi-label solver to a file, and test it on another")
    command.add_argument("train", type=Path, metavar="TRAIN", help="ARFF, svmlight, extreme-classification, CSV or npz")
    command.add_argument("--test", type=Path, required=True, metavar="FILE", help="rows to test on, in the same format")
    command.add_argument(
        "--labels", metavar="FILE", help="XML or text file of label names, or their number: 6, last:6, first:6"
    )
    command.add_argument("--solver", default="leml-squared", metavar="NAME", help="as listed by `models`")
    command.add_argument("--rank", default=0, type=int, metavar="K", help="rank of the model (default: half of all)")
    command.add_argument("--regularization", metavar="L", help="the solver's penalty")
    command.add_argument("--iterations", default=5, type=int, metavar="N", help="most iterations (default: 5)")
    command.add_argument(
        "--observed", default=1.0, type=float, metavar="SHARE", help="share of the training labels that is kept"
    )
    command.add_argument("--seed", default=0, type=int, metavar="S", help="of the labels kept and of the solver")
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="another option of the solver; may be repeated",
    )  # fmt: skip
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Fit, and print the scores."""
    from lrlab.experiments.fitting import fit

    settings = settings_from(options.settings)
    if options.regularization is not None:
        settings["regularization"] = options.regularization
    found = fit(
        options.train, options.test, options.labels, solver=options.solver, rank=options.rank,
        iterations=options.iterations, observed=options.observed, seed=options.seed, **settings,
    ).summary()  # fmt: skip
    print(json.dumps(plain(found), allow_nan=False)) if options.json else show(found)
    return DONE


def show(found: dict[str, Any]) -> None:
    """Print a fit for people."""
    for row in found["trace"]:
        print("  ".join(f"{name} {row[name]:.4g}" for name in row))
    print(f"{found['solver']}: {found['iterations']} iterations in {found['seconds']:.3g} s. {found['message']}")
    print("\n".join(f"  {name:<14} {found[name]:.6g}" for name in SHOWN))
