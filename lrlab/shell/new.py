"""python -m lrlab new solver|model NAME: a file with a solver or a model that runs, and its test, for you to change."""

import argparse
import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.shell.common import DONE, say

TEMPLATES = Path(__file__).with_name("templates")
"""The folder of the texts of both files, by kind; `string.Template` fills in the names."""


def add(commands: Any) -> None:
    """Add the command."""
    new = commands.add_parser("new", help="write the file of a custom solver or model, and its test")
    new.add_argument("kind", choices=("solver", "model"), help="what to write")
    new.add_argument("name", metavar="NAME", help="its name, as my-solver")
    new.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="folder of the files (default: this one)")
    new.set_defaults(run=run_new)


def run_new(options: argparse.Namespace) -> int:
    """Write both files, and say how they are used."""
    solver, name = options.name.replace("_", "-"), options.name.replace("-", "_")
    class_name = solver.replace("-", " ").title().replace(" ", "")
    if not (name.isidentifier() and name.islower()) or {name, class_name} & {*keyword.kwlist, "__main__"}:
        expected = "lower-case letters, digits and hyphens, no word of Python"
        raise InputError("NAME", expected, options.name, "write for example my-solver")
    paths = options.dir / f"{name}.py", options.dir / f"test_{name}.py"
    files = dict(zip(paths, (f"{options.kind}.txt", f"test_{options.kind}.txt"), strict=True))
    for file in files:
        if file.exists() or not file.parent.is_dir():
            raise InputError("NAME", "a name without a file yet, in an existing folder", file, "take another name")
    texts = {file: (TEMPLATES / template).read_text("utf-8") for file, template in files.items()}
    # The file would replace what it imports, or a module.
    imported = re.findall(r"\w+", " ".join(re.findall("import.*", "".join(texts.values()))))
    if {name, class_name} & {*imported} or solver in (*catalog.NAMES, *catalog.MODELS) or find_spec(name):
        raise InputError("NAME", "a name that no module, model or solver has", solver, "take another name")
    for file, text in texts.items():
        words = {"name": name, "solver": solver, "title": solver.replace("-", " ").capitalize()}
        file.write_text(Template(text).substitute(words, class_name=class_name), "utf-8")
    say(f"{' and '.join(map(str, files))} are written. Try the test: pip install pytest, then pytest {[*files][1]}")
    say(f"On all pages, in sweeps and on workers: LRLAB_PLUGINS={[*files][0]}")
    spec, run = ("spec", solver) if options.kind == "solver" else (f'lrlab.spec("{solver}")', f"{solver}-descent")
    say(f'In Python: lrlab.register("{[*files][0]}"), then lrlab.solve({spec}, "{run}")')
    return DONE
