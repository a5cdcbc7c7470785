"""python -m lrlab fit: a multi-label solver, or with --users or --items one of completion, on people's own files."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, add_json, plain, require_place
from lrlab.shell.solve import settings_from

SHOWN = (
    "precision@1", "precision@3", "precision@5", "ndcg@3", "ndcg@5", "hamming", "auc", "auc_rows", "micro_auc",
    "macro_auc", "auc_labels", "rmse", "rmse_mean", "rmse_cold_users", "cold_user_ratings", "rmse_cold_items",
    "cold_item_ratings", "test_ratings",
)  # fmt: skip


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("fit", help="fit a solver to labelled rows, or to ratings, and test it on others")
    forms = "ARFF, svmlight, extreme-classification, CSV or npz; ratings are CSV: user, item, rating"
    command.add_argument("train", type=Path, metavar="TRAIN", help=forms)
    command.add_argument("--test", type=Path, required=True, metavar="FILE", help="rows to test on, in the same format")
    command.add_argument(
        "--labels", metavar="FILE", help="XML or text file of label names, or their number: 6, last:6, first:6"
    )
    for side in ("users", "items"):
        words = f"features of {side}, CSV: name, number, number, ...; TRAIN and --test are then ratings"
        command.add_argument(f"--{side}", type=Path, metavar="FILE", help=words)
    command.add_argument("--solver", metavar="NAME", help="as listed by `models` (default: leml-squared; altmin)")
    command.add_argument("--rank", default=0, type=int, metavar="K", help="rank of the model (default: half of all; 5)")
    command.add_argument("--regularization", metavar="L", help="the solver's penalty")
    command.add_argument("--iterations", type=int, metavar="N", help="most iterations (default: 5, 10 to tune, 20)")
    command.add_argument(
        "--observed", default=1.0, type=float, metavar="SHARE", help="share of the training labels that is kept"
    )
    command.add_argument("--seed", default=0, type=int, metavar="S", help="of the labels kept and of the solver")
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="another option of the solver; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--tune", nargs="?", const="ndcg@5", default="", metavar="METRIC",
        help="choose rank, regularization and iterations, as far as they are not given, by this score of a fifth of "
        "the training rows (default: ndcg@5; also precision@1, precision@3, auc, micro_auc, macro_auc, hamming, ...)",
    )  # fmt: skip
    command.add_argument("--save", type=Path, metavar="MODEL", help="write the fitted model, for `predict`, as .npz")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Fit, and print the scores."""
    settings = settings_from(options.settings)
    if options.regularization is not None:
        settings["regularization"] = options.regularization
    found = (of_ratings if options.users or options.items else of_rows)(options, settings).summary()
    print(json.dumps(plain(found), allow_nan=False)) if options.json else show(found)
    return DONE


def of_rows(options: argparse.Namespace, settings: dict[str, str]) -> Any:
    """Fit a multi-label solver to rows, and save it if asked to."""
    from lrlab.fits.fitted_model import save_model
    from lrlab.fits.fitting import fit, solver_options

    if options.save:
        # Before hours of fitting, not after.
        require_place("--save", options.save, ".npz")
    solver = options.solver or "leml-squared"
    # Here, too: what is no option of the solver might be an argument of `fit`.
    solver_options(solver, settings)
    found = fit(
        options.train, options.test, options.labels, solver=solver, rank=options.rank,
        iterations=options.iterations, observed=options.observed, seed=options.seed, tune_by=options.tune,
        progress=tell, **settings,
    )  # fmt: skip
    if options.save:
        save_model(options.save, found.model)
    return found


def of_ratings(options: argparse.Namespace, settings: dict[str, str]) -> Any:
    """Fit a solver of inductive completion to ratings."""
    from lrlab.fits.fitting_ratings import fit_ratings, solver_options

    usual = {"labels": None, "tune": "", "save": None, "observed": 1.0}
    for name, value in usual.items():
        if (given := getattr(options, name)) != value:
            raise InputError(f"--{name}", "left out where ratings are fitted", given, f"leave out --{name}")
    solver = options.solver or "altmin"
    solver_options(solver, settings)
    return fit_ratings(
        options.train, options.test, options.users, options.items, solver=solver, rank=options.rank,
        iterations=options.iterations, seed=options.seed, **settings,
    )  # fmt: skip


def tell(tried: int, best: float) -> None:
    """Show on standard error, where a person is watching it, how far tuning is."""
    if sys.stderr.isatty():
        print(f"\r{tried} settings tried, the best score {best:.4g} ", end="\r", file=sys.stderr, flush=True)


def show(found: dict[str, Any]) -> None:
    """Print a fit for people."""
    if tuned := found.get("tuned"):
        for row in tuned["table"]:
            print("  ".join(f"{name} {value:.4g}" for name, value in row.items() if value is not None))
        chosen = ", ".join(f"{k} {tuned[k]:.4g}" for k in ("rank", "regularization", "iterations") if tuned[k])
        print(f"Chosen by {tuned['metric']} {tuned['score']:.4g}: {chosen}")
    for row in found["trace"]:
        print("  ".join(f"{name} {row[name]:.4g}" for name in row))
    print(f"{found['solver']}: {found['iterations']} iterations in {found['seconds']:.3g} s. {found['message']}")
    print("\n".join(f"  {name:<18} {found[name]:.6g}" for name in SHOWN if name in found))
