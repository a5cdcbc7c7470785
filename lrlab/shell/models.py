"""python -m lrlab models: the catalog."""

import argparse
from collections.abc import Sequence
from typing import Any

from lrlab import catalog
from lrlab.parameters import Parameter, declared
from lrlab.protocol import Spec
from lrlab.shell.common import DONE, add_json, print_json, say


def add(commands: Any) -> None:
    """Add the command."""
    models = commands.add_parser("models", help="list models, or the parameters and solvers of one")
    models.add_argument("model", nargs="?", default="", metavar="MODEL", help="a model: its parameters and solvers")
    add_json(models)


def run(options: argparse.Namespace) -> int:
    """List the catalog, or one model."""
    specs = [catalog.model_entry(options.model).spec] if options.model else catalog.MODELS.values()
    listed = [model(spec) for spec in specs]
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


def model(spec: type[Spec]) -> dict[str, Any]:
    """Return a model with its parameters and solvers as plain values."""
    solvers = [
        {
            "solver": entry.name,
            **{key: getattr(entry, key) for key in ("title", "summary", "reference")},
            "cost": entry.words.rows.get("cost", ""),
            "oracle": list(entry.oracle),
            "options": described(list(entry.options.values())),
        }
        for entry in catalog.solvers_for(spec.model)
    ]
    words = {"model": spec.model, "title": spec.title, "summary": spec.summary}
    return {**words, "parameters": described(list(declared(spec).values())), "solvers": solvers}


def show(model: dict[str, Any]) -> None:
    """Print a model with its parameters and solvers as text."""
    say(f"{model['model']}: {model['summary']}")
    for p in model["parameters"]:
        say(f"  --set {p['name']}={p['default']:<10} {p['meaning']}")
    for s in model["solvers"]:
        given = catalog.solver(s["solver"], model["model"]).given()
        say(f"  --solver {s['solver']:<24} {s['summary']} {given}".rstrip())
