"""python -m lrlab models: the catalogue."""

import argparse
from collections.abc import Sequence
from typing import Any

from lrlab import catalog
from lrlab.parameters import Parameter, declared
from lrlab.shell.common import DONE, add_json, print_json, say


def add(commands: Any) -> None:
    """Add the command."""
    add_json(commands.add_parser("models", help="list models, their parameters and solvers"))


def run(options: argparse.Namespace) -> int:
    """List the catalogue."""
    print_json(catalogue(), indent=1) if options.json else show()
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
                    "options": described(list(e.options.values())),
                }
                for e in catalog.solvers_for(spec.model)
            ],
        }
        for spec in catalog.MODELS.values()
    ]


def show() -> None:
    """Print the catalogue as text."""
    for model in catalogue():
        say(f"{model['model']}: {model['summary']}")
        for p in model["parameters"]:
            say(f"  --set {p['name']}={p['default']:<10} {p['meaning']}")
        for s in model["solvers"]:
            given = catalog.solver(s["solver"], model["model"]).given
            say(f"  --solver {s['solver']:<24} {s['summary']} {given}".rstrip())
        say()
