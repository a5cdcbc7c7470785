"""python -m lrlab models: the catalogue."""

import argparse
from collections.abc import Sequence
from typing import Any

from lrlab import catalog
from lrlab.parameters import Parameter, declared
from lrlab.shell.common import DONE, add_json, print_json, say


def add(commands: Any) -> None:
    """Add the command."""
    models = commands.add_parser("models", help="list models, or the parameters and solvers of one")
    models.add_argument("model", nargs="?", default="", metavar="MODEL", help="a model: its parameters and solvers")
    add_json(models)


def run(options: argparse.Namespace) -> int:
    """List the catalogue, or one model."""
    if options.model:
        catalog.require_model(options.model)
    listed = [one for one in catalogue() if options.model in ("", one["model"])]
    if options.json:
        print_json(listed, indent=1)
    elif options.model:
        show(listed[0])
    else:
        for one in listed:
            say(f"{one['model']:<24} {one['summary']}")
        say("lrlab models MODEL lists the parameters and solvers of one.")
    return DONE


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
                {
                    "solver": e.name,
                    "title": e.title,
                    "summary": e.summary,
                    "reference": e.reference,
                    "knows": list(e.oracle),
                    "cost": e.cost,
                    "options": described(list(e.options.values())),
                }
                for e in catalog.solvers_for(spec.model)
            ],
        }
        for spec in catalog.MODELS.values()
    ]


def show(model: dict[str, Any]) -> None:
    """Print a model with its parameters and solvers as text."""
    say(f"{model['model']}: {model['summary']}")
    for p in model["parameters"]:
        say(f"  --set {p['name']}={p['default']:<10} {p['meaning']}")
    for s in model["solvers"]:
        given = catalog.solver(s["solver"], model["model"]).given
        say(f"  --solver {s['solver']:<24} {s['summary']} {given}".rstrip())
