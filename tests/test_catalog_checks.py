"""One sentence per missing, misspelt or contradictory part of a model or solver; lrlab's own entries are complete."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from importlib import import_module
from inspect import getfullargspec, isclass, isgeneratorfunction, signature
from types import ModuleType
from typing import Annotated, Any

import pytest

from lrlab import catalog
from lrlab.catalog import BUILT_IN
from lrlab.model_entry import Family, Goal, Measure, Measured, ModelEntry
from lrlab.parameters import InputError, Parameter, declared, number
from lrlab.plugins import CatalogError, Plugin, check, declared_in, served
from lrlab.protocol import Checkpoint, Iterate, Spec, proceed
from lrlab.solver_entry import SolverEntry, solver

Whole = Annotated[int, Parameter(meaning="number of samples", low=1)]


@dataclass(frozen=True, kw_only=True)
class Toy(Spec):
    """A model with two numbers."""

    model = "toy"
    title = "Toy"
    summary = "A toy."
    equation = "y = x"

    n: Whole = 3
    p: Whole = 2

    @property
    def data_bytes(self) -> int:  # noqa: D102
        return 8

    def build(self, checkpoint: Checkpoint = proceed) -> Any:  # noqa: D102
        raise NotImplementedError


def guess(problem: Any, *, rng: Any) -> Iterator[Iterate]:
    """Yield zero."""
    yield Iterate(0.0)


TOYS = Family(
    name="toys", measures={"error": Measure("error", "distance")}, goal=Goal("error", 0.1), solvers=("guess",),
    measured=lambda spec: Measured("3 numbers"), verdict=lambda spec, outcomes: "",
)  # fmt: skip
MODEL = ModelEntry(spec=Toy, family=TOYS, main=("n",), plane=("n", "p"))
SOLVER = SolverEntry(
    name="guess", title="Guess", summary="Guesses.", reference="None (2026)", run=guess, families=("toys",),
    update="x = 0",
)  # fmt: skip


def checked(model=MODEL, solver=SOLVER):
    """Check a model and a solver as if two files declared them."""
    file = ModuleType("toy")
    file.ENTRY = model
    plugins = [Plugin("toy.py", declared_in(file, "toy.py")), Plugin("guess.py", (solver,))]
    for plugin in reversed(plugins):
        check(plugin, plugins)


def subclass(**attributes):
    """Return a class derived from the toy model."""
    return type("Changed", (Toy,), attributes)


def changed(**attributes):
    return replace(MODEL, spec=subclass(**attributes))


def family_with(**parts):
    return replace(MODEL, family=replace(TOYS, **parts))


def in_two_lines(spec):
    raise ValueError("two\nlines")


def test_a_model_of_a_new_family_and_its_solver_are_sound():
    checked()
    assert served(SOLVER, [MODEL]) == ("toy",)
    alone = Plugin("toy.py", (MODEL,))
    with pytest.raises(CatalogError, match="toy.py: no solver is made for toy: name it in `models` of a solver"):
        check(alone, [alone])


@pytest.mark.parametrize("plugin", BUILT_IN, ids=lambda plugin: plugin.label)
def test_every_entry_that_comes_with_lrlab_is_sound(plugin):
    check(plugin, BUILT_IN)
    for entry in plugin.entries:
        if isinstance(entry, SolverEntry):
            assert all(getattr(entry.words, part) for part in ("title", "summary", "update", "reference"))
            settings = signature(entry.run).parameters.values()
            options = {one.name for one in settings if isinstance(one.default, bool | int | float | str)}
            assert options <= {*declared(entry.run)}
        else:
            assert entry.main and catalog.solvers_for(entry.spec.model)
            assert {*declared(entry.spec)} == {one.name for one in fields(entry.spec)}


def test_every_model_and_solver_that_comes_with_lrlab_has_an_entry():
    runs = {entry.run for entry in catalog.ENTRIES}
    for plugin in BUILT_IN:
        for name, value in vars(import_module(plugin.label)).items():
            own = getattr(value, "__module__", "") == plugin.label
            if own and isclass(value) and issubclass(value, Spec) and "model" in vars(value):
                assert value in catalog.MODELS.values(), value
            if own and isgeneratorfunction(value) and not name.startswith("_"):
                spoken = getfullargspec(value)
                assert spoken.args != ["problem"] or "rng" not in spoken.kwonlyargs or value in runs, value


@pytest.mark.parametrize("family", catalog.FAMILIES, ids=lambda family: family.name)
def test_a_family_that_comes_with_lrlab_names_what_there_is(family):
    models = [name for name, entry in catalog.MODEL_ENTRIES.items() if entry.family is family]
    assert models == [name for name, entry in catalog.MODEL_ENTRIES.items() if entry.family.name == family.name]
    assert {*family.model_order} <= {*models} and not {*family.grows} & {*family.falls}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (changed(size=3, __annotations__={"size": int}), "Changed.size is not declared: write size: Annotated"),
        (changed(weigh=abstractmethod(lambda self: 0)), "toy.py: a part of the entry is wrong .*abstract.* weigh"),
        (changed(check=in_two_lines), r"toy.py: a part of the entry is wrong \(two lines\): correct it"),
        (replace(MODEL, main=("q",)), "toy.py: parameter of toy must be one of seed, n, p, got q"),
        (changed(absent_metrics=("loss",)), "metric of toy must be one of error, got loss"),
        (MODEL.family, "toy.py: ENTRY must be a ModelEntry"),
        (SOLVER, "toy.py: ENTRY must be a ModelEntry; of a solver, put @lrlab.solver"),
        (
            family_with(goal=Goal("error")),
            "toy.py: success must be a metric with one level, below or above, got neither",
        ),
        (family_with(solvers=("gues",)), 'solver of toy must be one of guess, got gues: did you mean "guess"?'),
        (replace(MODEL, plane=("n", "m")), "axis of toy must be one of n, p.*, got m"),
        (replace(MODEL, first=("gues",)), "solver of toy must be one of guess, got gues"),
        (replace(MODEL, first=("svp",)), "solver of toy must be one of guess, got svp"),
        (family_with(grows=("m",)), "axis of toy must be one of n, p.*, got m"),
        (family_with(limits={"max_itr": 3}), 'limit of toy must be .*, got max_itr: did you mean "max_iter"?'),
        (replace(SOLVER, run=len), r"guess must be a function \(problem, \*, options, rng\)"),
        (replace(SOLVER, run=lambda problem, size, rng: ()), "guess has an option without a default: write size ="),
        (replace(SOLVER, families=()), "guess names no model: add models=.* or family="),
        (replace(SOLVER, models=("doll",)), "model of guess must be one of toy, got doll"),
    ],
)
def test_a_wrong_model_or_solver_is_one_sentence(entry, sentence):
    of_solver = isinstance(entry, SolverEntry) and entry is not SOLVER
    with pytest.raises(CatalogError, match=sentence) as error:
        checked(**{"solver" if of_solver else "model": entry})
    assert "\n" not in str(error.value)


def test_the_level_of_a_goal_is_that_of_its_rule_as_models_of_the_release_read_it():
    goal = Goal("error", 1e-3, noises=3.0)
    assert [goal.level(noise) for noise in (0.0, 0.1, 9.0)] == pytest.approx([1e-3, 0.3, 0.5])
    assert Goal("overlap", above=0.5).level(0.1) == 0.5 and goal.rule(0.1).below == goal.level(0.1)


def test_an_entry_without_a_family_or_with_a_spec_without_words_is_refused_at_once():
    with pytest.raises(InputError, match="spec must be a class with a title, got .*Changed.*: add title = "):
        changed(title="")
    with pytest.raises(InputError, match="family must be a Family, got toys: give the object, not its name"):
        replace(MODEL, family="toys")


@solver(models="toy", oracle="rank", max_iter=7)
@solver(family="toys", memory=0.5)
def steps(problem, *, step: Annotated[float, number(0, 2, "a length", symbol="s")] = 1.0, rng):
    r"""A method of its own.

    Goes down
    the slope.

    .. math:: x \leftarrow x - s\, g,
        \quad g = f'(x)

    minimize    f(x) = x^2
                over x > 0
    cost        one gradient

    More of it.

    Reference: Nobody (2026), "A paper",
    Algorithm 1.
    """
    yield Iterate(0.0)


def test_a_decorator_and_the_docstring_declare_a_solver_once():
    module = ModuleType(__name__)
    vars(module).update(f=steps, again=steps, imported=catalog.solver("sir").run)
    [first, second] = declared_in(module, "own.py")
    assert (first.models, first.families, first.oracle, first.max_iter) == (("toy",), (), ("rank",), 7)
    assert (second.models, second.families, second.memory) == ((), ("toys",), 0.5)
    assert (first.name, first.title, first.summary) == ("steps", "A method of its own", "Goes down the slope.")
    assert first.update == r"x \leftarrow x - s\, g, \quad g = f'(x)"
    assert first.words.rows == {"minimize": "f(x) = x^2 over x > 0", "cost": "one gradient"}
    assert first.reference == 'Nobody (2026), "A paper", Algorithm 1.'
    assert first.words.rest.endswith("cost        one gradient\n\nMore of it.") and "math" not in first.words.rest
    step = first.options["step"]
    assert (step.kind, step.low, step.high, step.meaning, step.symbol) == (float, 0, 2, "a length", "s")


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([], "toy.py: it has no entry: put @lrlab.solver"),
        ([MODEL, replace(MODEL, main=("p",))], "toy.py: the model 'toy' is in toy.py, too: rename one of them"),
        ([MODEL, replace(SOLVER, title="Another")], "toy.py: the solver 'guess' for toy is in guess.py, too: rename"),
    ],
)
def test_files_that_miss_an_entry_or_share_a_name_are_one_sentence(entries, sentence):
    plugin = Plugin("toy.py", tuple(entries))
    with pytest.raises(CatalogError, match=sentence):
        check(plugin, [plugin, Plugin("guess.py", (SOLVER,))])
