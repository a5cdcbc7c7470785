"""python -m lrlab models: the catalog. python -m lrlab solve: one solver on one problem."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from lrlab import catalog
from lrlab.engine import solve
from lrlab.parameters import InputError, Parameter, counted, declared, require_known
from lrlab.protocol import Limits, Spec, Stop
from lrlab.runs.job import Job, make_job
from lrlab.shell.common import DONE, INTERRUPTED, add_json, add_settings, print_json, say


def add(commands: Any) -> None:
    """Add the commands."""
    models = commands.add_parser("models", help="list models, or the parameters and solvers of one")
    models.add_argument("model", nargs="?", default="", metavar="MODEL", help="a model: its parameters and solvers")
    models.set_defaults(run=run_models)
    add_json(models)
    command = commands.add_parser("solve", help="run one solver on one problem")
    command.add_argument("model", metavar="MODEL", help="a model's name, as listed by `models`")
    command.add_argument("--solver", required=True, metavar="NAME", help="a solver's name, as listed by `models`")
    add_settings(command, "a parameter of the model, an option of the solver, seed, tol, max_iter or max_seconds")
    command.set_defaults(run=run_solve)
    add_json(command)


def run_models(options: argparse.Namespace) -> int:
    """List the catalog, or one model."""
    specs = [catalog.model_entry(options.model).spec] if options.model else catalog.MODELS.values()
    listed = [described_model(spec) for spec in specs]
    if options.json:
        print_json(listed, indent=1)
    elif options.model:
        show_model(listed[0])
    else:
        for one in listed:
            say(f"{one['model']:<24} {one['summary']}")
        say("lrlab models MODEL lists the parameters and solvers of one.")
    return DONE


def described(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    """Return declarations as plain values."""
    keys = ("name", "symbol", "meaning", "unit", "default", "low", "high", "choices", "scale")
    return [{key: getattr(p, key) for key in keys} | {"kind": p.kind.__name__} for p in parameters if not p.hidden]


def described_model(spec: type[Spec]) -> dict[str, Any]:
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


def show_model(model: dict[str, Any]) -> None:
    """Print a model with its parameters and solvers as text."""
    say(f"{model['model']}: {model['summary']}")
    for p in model["parameters"]:
        default = f"{p['name']}={p['default']}"
        say(f"  --set {default:<27} {p['meaning']}")
    for s in model["solvers"]:
        given = catalog.solver(s["solver"], model["model"]).given()
        say(f"  --solver {s['solver']:<24} {s['summary']} {given}".rstrip())


def run_solve(options: argparse.Namespace) -> int:
    """Run one job: in this process, or on a worker if it is large."""
    job = job_from(options.model, options.solver, settings_from(options.settings))
    if remark := job.spec.remark:
        # Before the run, which may take long; on standard error, since --json prints one document and nothing else.
        say(remark, file=sys.stderr)
    trace = solve.run(job)
    summary = trace.summary()
    print_json(summary) if options.json else show(summary)
    return INTERRUPTED if trace.stop is Stop.CANCELLED else DONE


def settings_from(texts: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE texts as a dictionary; InputError for a text without `=`."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError("--set", "of the form NAME=VALUE", text, "write for example --set n=3000")
        settings[name.strip()] = value.strip()
    return settings


def job_from(model: str, solver: str, settings: dict[str, str]) -> Job:
    """Return the checked job: each setting goes to the model, or else to the solver."""
    parameters = declared(catalog.model_entry(model).spec)
    known = {**parameters, **catalog.solver(solver, model).options, **declared(Limits)}
    for name in settings:
        require_known(name, {k: p for k, p in known.items() if not p.hidden}, what="--set")
    spec = catalog.spec(model, **{k: v for k, v in settings.items() if k in parameters})
    return make_job(spec, solver, **{k: v for k, v in settings.items() if k not in parameters})


def show(summary: dict[str, Any]) -> None:
    """Print a finished run as text."""
    say(f"{summary['solver']} on {summary['model']}")
    say(f"{counted(summary['iterations'], 'iteration')} in {summary['seconds']:.3g} s. {summary['message']}")
    for name, value in summary["metrics"].items():
        say(f"  {name:<18} {value:.6g}")
