"""Versions of code: they follow what computes numbers, and nothing else."""

import os
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import pytest

import lrlab
from lrlab import catalog, code_graph, code_sources
from lrlab.code_graph import Definition
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.parameters import Parameter
from lrlab.runs.job import make_job
from lrlab.runs.trial import trial_spec
from lrlab.store import code_version
from tests.store.conftest import forget

SOLVER = '''"""A solver."""

from lrlab import made_steps
from lrlab.made_tools import shrink as smaller
from lrlab.parameters import Parameter

STEPS = 3
UNUSED = 1


def helper(x: float) -> float:
    """Return x, changed."""
    return made_steps.step(smaller(x), STEPS)


def solve_made(problem, *, rate: Annotated[float, Parameter(meaning="the rate", low=0)] = 0.5, rng) -> Iterator:
    """Solve it."""
    # A comment.
    total: float = helper(rate)
    yield total


ENTRY = SolverEntry(name="made", title="Made", run=solve_made)
'''
TOOLS = """from lrlab.made_far import LEVEL


def shrink(x):
    return x - LEVEL


def other(x):
    return x
"""
STEPS = """def step(x, count):
    return x * count
"""
MADE = {
    "lrlab.made_solver": SOLVER,
    "lrlab.made_tools": TOOLS,
    "lrlab.made_steps": STEPS,
    "lrlab.made_far": "LEVEL = 0.25\n",
}
ROOT = Definition("lrlab.made_solver", "solve_made")


@pytest.fixture
def version(sources):
    """Return what gives the version of the made solver after changes of sources: module, old text, new text."""

    def changed(*edits, root=ROOT, **modules):
        sources.clear()
        sources.update({name: text.encode() for name, text in MADE.items()})
        sources.update({f"lrlab.{name}": text.encode() for name, text in modules.items()})
        for module, old, new in edits:
            assert old.encode() in sources[module]
            sources[module] = sources[module].replace(old.encode(), new.encode())
        forget()
        return code_version.version_of(frozenset([root]))

    return changed


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("solver", '"""Return x, changed."""', '"""Another text."""'),
        ("solver", '    """Return x, changed."""\n', ""),
        ("solver", "# A comment.", "# Another."),
        ("solver", "x: float) -> float", "x: np.ndarray | None)"),
        ("solver", "total: float =", "total: int ="),
        ("solver", 'meaning="the rate", low=0', 'meaning="speed", low=-1, high=3'),
        ("solver", 'title="Made"', 'title="Better", refuse=refused'),
        ("solver", "UNUSED = 1", "UNUSED = 2"),
        ("solver", "import shrink as smaller", "import shrink"),
        ("tools", "def other(x):\n    return x", "def other(x):\n    return -x"),
    ],
)
def test_words_and_what_is_not_used_change_nothing(version, module, old, new):
    edits = [(f"lrlab.made_{module}", old, new)]
    if "as smaller" in old:
        edits.append(("lrlab.made_solver", "smaller(x)", "shrink(x)"))
    assert version() == version(*edits)


def test_moved_code_is_the_same_code(version):
    moved = [
        ("lrlab.made_solver", "from lrlab.made_tools import shrink as", "from lrlab.made_elsewhere import shrink as"),
        ("lrlab.made_solver", "from lrlab import made_steps", "from lrlab.made_steps import step"),
        ("lrlab.made_solver", "made_steps.step(", "step("),
    ]
    assert version() == version(*moved, made_elsewhere=TOOLS)
    parts = SOLVER.split("\n\n\n")
    there, here = "\n\n\n".join([parts[0], parts[1]]), "from lrlab.made_helper import helper\n\n" + parts[2]
    assert version() == version(made_helper=there, made_solver=here)
    whole = Definition("lrlab.renamed_solver", "solve_made")
    assert version() == version(renamed_solver=SOLVER, root=whole)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("solver", "STEPS = 3", "STEPS = 4"),
        ("solver", "rate: Annotated", "rates: Annotated"),
        ("solver", "yield total", "yield -total"),
        ("tools", "x - LEVEL", "x + LEVEL"),
        ("far", "0.25", "0.5"),
        ("steps", "x * count", "x ** count"),
    ],
)
def test_whatever_computes_numbers_counts(version, module, old, new):
    assert version() != version((f"lrlab.made_{module}", old, new))


def test_constants_of_one_name_differ(version):
    two = {"made_far": "LEVEL = 0.25\nSTEPS = 4\n", "made_tools": TOOLS.replace("LEVEL", "STEPS")}
    swapped = [("lrlab.made_far", "STEPS = 4", "STEPS = 3"), ("lrlab.made_solver", "STEPS = 3", "STEPS = 4")]
    assert version(**two) != version(*swapped, **two)


def test_fields_keep_their_order_without_their_annotations(version):
    root = Definition("lrlab.made_pair", "Pair")
    pair = (
        "class Pair(NamedTuple):\n    a: int\n    b: float\n\n    @property\n    def title(self):\n        return 'x'\n"
    )
    first = version(made_pair=pair, root=root)
    assert first == version(made_pair=pair.replace("int", "str").replace("'x'", "'y'"), root=root)
    assert first != version(made_pair=pair.replace("a: int\n    b: float", "b: float\n    a: int"), root=root)


@pytest.mark.parametrize(
    ("module", "old", "new", "stale"),
    [
        ("solvers.network.debiased", "lowest = now.objective", "lowest = 2 * now.objective", {"ep-rom"}),
        ("operators.rank_one", "BLOCK_BYTES =", "BLOCK_BYTES = 1 +", {"ep-rom", "tangent-descent"}),
        ("models.network", "2.0 + trace", "3.0 + trace", {"ep-rom", "tangent-descent"}),
        ("protocol", "] = 200", "] = 300", set()),
    ],
)
def test_versions_of_the_catalogue(edit, module, old, new, stale):
    used = {"sir": "one-bit-sensing", "ep-rom": "polynomial-network", "tangent-descent": "polynomial-network"}
    before = {solver: code_version.version(model, solver) for solver, model in used.items()}
    edit(f"lrlab.{module}", old, new)
    assert {solver for solver, model in used.items() if code_version.version(model, solver) != before[solver]} == stale


def test_versions_of_all_solvers_are_complete_and_every_source_is_parsed_once(monkeypatch):
    forget()
    parsed, sources = code_sources.parsed, []
    monkeypatch.setattr(code_sources, "parsed", lambda text: sources.append(text) or parsed(text))
    for model in catalog.MODELS:
        for entry in catalog.solvers_for(model):
            assert code_version.version(model, entry.name) == code_version.version(model, entry.name)
            root = Definition(entry.run.__module__, entry.run.__name__)
            assert code_graph.module(root.module).statements[root.name]
    # Two files may have the same text.
    assert Counter(sources) <= Counter(file.read_bytes() for file in Path(lrlab.__file__).parent.rglob("*.py"))
    assert not code_version.current("one-bit-sensing", "ep-rom", "") and not code_version.current("none", "ep-rom", "")


def test_every_definition_that_is_used_was_found():
    roots = {Definition(entry.run.__module__, entry.run.__name__) for entry in catalog.ENTRIES}
    reached = code_graph.reached(roots | {Definition(m.__module__, m.__name__) for m in catalog.MODELS.values()})
    assert len(reached) > 300
    assert not [d for d in reached if d.name not in code_graph.module(d.module).statements]


def test_code_that_changed_after_the_process_had_begun_is_not_taken_for_what_ran(tmp_path, monkeypatch):
    file = tmp_path / "changing_module.py"
    file.write_text("X = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    true = code_sources.source.__wrapped__
    os.utime(file, (1, 1))
    assert true("changing_module") == file.read_bytes()
    os.utime(file, (2**33, 2**33))
    assert true("changing_module") is None is true("no_module_at_all")


def test_a_solver_of_a_notebook_is_never_the_same(monkeypatch):
    """Its source is unknown: each process has a version of its own."""

    def unknown(problem, *, rng):
        yield None

    unknown.__module__ = "__notebook__"
    root = frozenset([Definition(unknown.__module__, unknown.__name__)])
    first = code_version.version_of(root)
    assert first == code_version.version_of(root)
    forget()
    assert first != code_version.version_of(root)


@dataclass(frozen=True, kw_only=True)
class Widened(OneBitSensing):
    """The model after it got a parameter."""

    tilt: Annotated[float, Parameter(meaning="a tilt of the plane", low=-1, high=1, added=True)] = 0.0


def test_a_parameter_added_later_keeps_the_keys_of_trials_at_its_default():
    job = make_job(OneBitSensing(n=100, p=5), "pairwise-moment")
    widened = [replace(job, spec=Widened(n=100, p=5, tilt=tilt)) for tilt in (0.0, -0.0, 0.5, 1.0)]
    keys = [code_version.key(each) for each in (job, *widened)]
    assert keys[0] == keys[1] == keys[2] and len(set(keys)) == 3
    assert "tilt" not in code_version.spec_text(widened[0].spec) and "tilt" in code_version.spec_text(widened[2].spec)
    assert trial_spec(widened[0].spec, 3).seed == trial_spec(job.spec, 3).seed != trial_spec(widened[2].spec, 3).seed
