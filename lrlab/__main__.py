"""The same jobs from a shell: python -m lrlab models | solve | paper."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from lrlab import catalog
from lrlab.experiments import convergence
from lrlab.parameters import InputError, Parameter, declared, require_known
from lrlab.protocol import Stop, drive_limits

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line on standard error, with exit status 2."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        # argparse appends its list of choices in its own form; the sentence is kept whole and on one line.
        self.exit(BAD_INPUT, f"{self.prog}: {' '.join(message.split())}: see {self.prog} --help\n")


def parser() -> Parser:
    """Return the command line's grammar."""
    top = Parser(
        prog="python -m lrlab", description="Recover structured signals from few, quantised or missing measurements."
    )
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")
    models = commands.add_parser("models", help="list models, their parameters and solvers")
    solve = commands.add_parser("solve", help="run one solver on one problem")
    solve.add_argument("model", metavar="MODEL", help="a model's name, as listed by `models`")
    solve.add_argument("--solver", required=True, metavar="NAME", help="a solver's name, as listed by `models`")
    solve.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the model, an option of the solver, seed, tol, max_iter or max_seconds; may be repeated",
    )  # fmt: skip
    for command in (models, solve):
        command.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    paper = commands.add_parser("paper", help="compute a figure of a paper and write it as HTML and CSV")
    paper.add_argument("name", metavar="NAME", help="a preset's name; `paper list` prints them all")
    paper.add_argument("--out", default=".", type=Path, metavar="DIR", help="where to write (default: here)")
    return top


def settings_from(texts: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE texts as a dictionary; InputError where one has no `=`."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError("--set", "of the form NAME=VALUE", text, "write for example --set n=3000")
        settings[name.strip()] = value.strip()
    return settings


def job_from(model: str, solver: str, settings: dict[str, str]) -> convergence.Job:
    """Return the checked job: each setting goes to the model, or else to the solver."""
    catalog.require_model(model)
    parameters = declared(catalog.MODELS[model])
    known = {**parameters, **catalog.solver(solver, model).options, **declared(drive_limits)}
    for name in settings:
        require_known(name, {k: p for k, p in known.items() if not p.hidden}, what="--set")
    spec = catalog.spec(model, **{k: v for k, v in settings.items() if k in parameters})
    return convergence.job(spec, solver, **{k: v for k, v in settings.items() if k not in parameters})


def described(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    """Return declarations as plain values."""
    keys = ("name", "symbol", "meaning", "unit", "default", "low", "high", "choices", "scale")
    return [{key: getattr(p, key) for key in keys} | {"kind": p.kind.__name__} for p in parameters if not p.hidden]


def catalogue() -> list[dict[str, Any]]:
    """Return models with their parameters and solvers as plain values."""
    return [
        {
            "model": spec.model,
            "title": spec.title,
            "summary": spec.summary,
            "parameters": described(list(declared(spec).values())),
            "solvers": [
                {"solver": e.name, "title": e.title, "summary": e.summary, "reference": e.reference,
                 "knows_link": e.knows_link, "options": described(list(e.options.values()))}
                for e in catalog.solvers_for(spec.model)
            ],
        }
        for spec in catalog.MODELS.values()
    ]  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value that strict JSON can carry: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show_models() -> None:
    """Print the catalogue for people."""
    for model in catalogue():
        print(f"{model['model']}: {model['summary']}")
        for p in model["parameters"]:
            print(f"  --set {p['name']}={p['default']:<10} {p['meaning']}")
        for s in model["solvers"]:
            print(f"  --solver {s['solver']:<24} {s['summary']}")
        print()


def show_trace(summary: dict[str, Any]) -> None:
    """Print a finished run for people."""
    print(f"{summary['solver']} on {summary['model']}")
    print(f"{summary['iterations']} iterations in {summary['seconds']:.3g} s. {summary['message']}")
    for name, value in summary["metrics"].items():
        print(f"  {name:<18} {value:.6g}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 failed, 2 bad input, 130 interrupted."""
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options)
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except RuntimeError as error:
        # What the engine says of a trial that failed, or of workers that were lost.
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def models_command(options: argparse.Namespace) -> int:
    """List the catalogue."""
    print(json.dumps(plain(catalogue()), indent=1)) if options.json else show_models()
    return DONE


def solve_command(options: argparse.Namespace) -> int:
    """Run one job here."""
    trace = convergence.run(job_from(options.model, options.solver, settings_from(options.settings)))
    summary = trace.summary()
    print(json.dumps(plain(summary), allow_nan=False)) if options.json else show_trace(summary)
    return INTERRUPTED if trace.stop is Stop.CANCELLED else DONE


def paper_command(options: argparse.Namespace) -> int:
    """Compute a preset and write its files."""
    from lrlab import presets

    if options.name == "list":
        print("\n".join(presets.names()))
        return DONE
    for path in presets.run(options.name, options.out, progress=report):
        print(path)
    return DONE


def report(done: int, total: int) -> None:
    """Show progress on standard error where a person is watching it."""
    if sys.stderr.isatty():
        print(f"\r{done} of {total} trials", end="" if done < total else "\n", file=sys.stderr, flush=True)


COMMANDS = {"models": models_command, "solve": solve_command, "paper": paper_command}

if __name__ == "__main__":
    sys.exit(main())
