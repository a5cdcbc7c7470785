"""python -m lrlab fit: a multi-label solver on labelled rows, or biases and a low-rank part on ratings."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError, duration
from lrlab.shell import fit_ratings
from lrlab.shell.common import (
    DONE,
    add_format,
    add_json,
    add_settings,
    print_json,
    require_left_out,
    require_place,
    say,
    show_progress,
)
from lrlab.shell.solve import settings_from

PRINTED_SCORES = (
    "precision@1",
    "precision@3",
    "precision@5",
    "ndcg@3",
    "ndcg@5",
    "hamming",
    "auc",
    "auc_rows",
    "micro_auc",
    "macro_auc",
    "auc_labels",
)

CHOSEN = ("rank", "regularization", "rate", "margin", "scaling", "iterations", "threshold")


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("fit", help="fit a solver to labelled rows, or to ratings, and test it on others")
    option = command.add_argument
    forms = "ARFF, svmlight, extreme-classification, CSV or npz; ratings are CSV: user, item, rating"
    option("train", type=Path, metavar="TRAIN", help=forms)
    add_format(option)
    words = "rows to test on, in the same format (ratings: a fifth of them)"
    option("--test", type=Path, metavar="FILE", help=words)
    words = "XML or text file of label names, or their number: 6, last:6, first:6"
    option("--labels", metavar="FILE", help=words)
    for side in ("users", "items"):
        words = f"features of {side}, CSV: name, number or word, ...; TRAIN and --test are then ratings"
        option(f"--{side}", type=Path, metavar="FILE", help=words)
    words = "TRAIN is ratings (so is a CSV of 3 or 4 columns without --labels), or pairs of user and item"
    option("--ratings", action="store_true", help=words)
    words = "of several ratings of an item by a user: their last or mean (default: refuse them)"
    option("--duplicates", default="", metavar="last|mean", help=words)
    words = "as listed by `models` (default: leml-squared; of ratings: biased-als, biases)"
    option("--solver", metavar="NAME", help=words)
    words = "rank of the model (default: half of all, at most 100; of ratings: by held-out ones)"
    option("--rank", default=0, type=int, metavar="K", help=words)
    option("--regularization", metavar="L", help="the solver's penalty")
    words = "most iterations (default: 5, 10 to tune; ratings 60)"
    option("--iterations", type=int, metavar="N", help=words)
    words = "share of the training labels that is observed"
    option("--observed", default=1.0, type=float, metavar="SHARE", help=words)
    option("--limit", default=0, type=int, metavar="ROWS", help="read that many rows of each file only")
    words = "compute micro and macro AUC, or not (default: where they sort no more than 10^8 scores)"
    option("--areas", action=argparse.BooleanOptionalAction, help=words)
    option("--seed", default=0, type=int, metavar="S", help="of the observed labels and of the solver")
    option("--no-intercept", action="store_true", help="fit labels without an intercept for each")
    words = "of features: auto, deviations, rows or none (default: auto)"
    option("--scaling", default="auto", metavar="NAME", help=words)
    add_settings(command, "another option of the solver")
    words = (
        "choose those of rank, regularization and iterations that are not given by this score on training rows held "
        "out (default: ndcg@5; also precision@1, precision@3, auc, micro_auc, macro_auc, hamming, ...)"
    )
    option("--tune", nargs="?", const="ndcg@5", default="", metavar="METRIC", help=words)
    option("--save", type=Path, metavar="MODEL", help="write the fitted model, for `predict`, as .npz")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Fit, and print the scores."""
    settings = settings_from(options.settings)
    if "fitted_rank" in settings:
        require_left_out(options, {"rank": 0}, "beside --set fitted_rank")
    if "regularization" in settings:
        require_left_out(options, {"regularization": None}, "beside --set regularization")
    if options.regularization is not None:
        settings["regularization"] = options.regularization
    if fit_ratings.chosen(options):
        if options.format:
            raise InputError("--format", "left out of ratings, which are CSV", options.format, "leave it out")
        return fit_ratings.run(options, settings)
    if options.duplicates:
        raise InputError("--duplicates", "left out of labelled rows", options.duplicates, "leave it out")
    result = fit_rows(options, settings).summary()
    print_json(result) if options.json else show(result)
    return DONE


def fit_rows(options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Fit a multi-label solver to rows, and save it with --save."""
    from lrlab.fits.fitted_model import save_model
    from lrlab.fits.fitting import fit
    from lrlab.fits.settings import MODEL, checked_options

    if not options.test:
        raise InputError("--test", "given", "nothing", "name a file of rows to test on; for ratings, say --ratings")
    if options.save:
        # Checked before hours of fitting, not after.
        require_place("--save", options.save, ".npz")
    solver = options.solver or "leml-squared"
    # Checked here, too: a name that is not an option of the solver might be an argument of `fit`.
    if "fitted_rank" not in checked_options(MODEL, solver, settings):
        require_left_out(options, {"rank": 0}, f"of {solver}, which has none")
    result = fit(
        options.train,
        options.test,
        options.labels,
        solver=solver,
        rank=options.rank,
        iterations=options.iterations,
        observed=options.observed,
        seed=options.seed,
        tune_by=options.tune,
        intercept=not options.no_intercept,
        scaling=options.scaling,
        limit=options.limit,
        file_format=options.format,
        areas=options.areas,
        progress=show_tuning,
        following=show_iteration,
        **settings,
    )
    if options.save:
        save_model(options.save, result.model)
    return result


def show_iteration(iteration: int, iterations: int, seconds: float) -> None:
    """Show how far a fit is, and how long it may still take."""
    left = duration(seconds / iteration * (iterations - iteration))
    show_progress(f"iteration {iteration} of {iterations}, at most {left} left ")


def show_tuning(count: int, best: float) -> None:
    """Show the progress of tuning."""
    show_progress(f"{count} settings tried, the best score {best:.4g} ")


def words(name: str, value: Any) -> str:
    """Return a setting as text."""
    return f"{name} {value}" if isinstance(value, str) else f"{name} {value:.4g}"


def show(result: dict[str, Any]) -> None:
    """Print a fit as text."""
    if tuned := result.get("tuned"):
        for row in tuned["table"]:
            say("  ".join(words(name, value) for name, value in row.items() if value is not None))
        chosen = ", ".join(words(name, tuned[name]) for name in CHOSEN if tuned.get(name))
        say(f"Chosen by {tuned['metric']} {tuned['score']:.4g}: {chosen}")
    for row in result["trace"]:
        say("  ".join(f"{name} {row[name]:.4g}" for name in row))
    say(f"{result['solver']}: {result['iterations']} iterations in {result['seconds']:.3g} s. {result['message']}")
    others = result.get("baselines", {})
    for name in (name for name in PRINTED_SCORES if name in result):
        beside = "".join(f"  {other} {scores[name]:.6g}" for other, scores in others.items() if name in scores)
        say(f"  {name:<18} {result[name]:<10.6g}{beside}".rstrip())
    for sentence in (*result.get("notes", ()), *filter(None, [result.get("remark")])):
        say(sentence)
