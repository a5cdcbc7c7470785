"""A part of a model or solver that is missing, misspelt or contradictory is one sentence at import."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any

import pytest

import lrlab.models
import lrlab.solvers
from lrlab import catalog, collecting
from lrlab.catalog_checks import CatalogError
from lrlab.collecting import collect
from lrlab.model_entry import Family, Goal, Measure, Measured, ModelEntry
from lrlab.models.low_rank import FAMILY
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.parameters import Parameter
from lrlab.protocol import Checkpoint, Iterate, Spec, proceed
from lrlab.solver_entry import SolverEntry

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
    name="toys", measures={"error": Measure("error", "distance")}, goal=Goal("error"), solvers=("guess",),
    measured=lambda spec: Measured("3 numbers"), verdict=lambda spec, outcomes: "",
)  # fmt: skip
MODEL = ModelEntry(spec=Toy, family=TOYS, main=("n",), plane=("n", "p"))
SOLVER = SolverEntry(
    name="guess", title="Guess", summary="Guesses.", reference="None (2026)", run=guess, families=("toys",),
    workspace=lambda spec, options: 0, update="x = 0",
)  # fmt: skip


def file(name, *own, **attributes):
    """Return a module that defines classes and functions of its own, and has attributes such as ENTRY."""
    module = ModuleType(name)
    for thing in own:
        thing.__module__ = name
        setattr(module, thing.__name__, thing)
    vars(module).update(attributes)
    return module


def collected(model=MODEL, solver=SOLVER):
    return collect([file("models.toy", ENTRY=model)], [file("solvers.guess", ENTRY=solver)])


def subclass(**attributes):
    """Return a class derived from the toy model."""
    return type("Changed", (Toy,), attributes)


def changed(**attributes):
    return replace(MODEL, spec=subclass(**attributes))


def family_with(**parts):
    return replace(MODEL, family=replace(TOYS, **parts))


def test_a_model_of_a_new_family_and_its_solver_are_collected():
    families, models, solvers = collected()
    assert families == (TOYS,) and models == {"toy": MODEL}
    assert [(entry.name, entry.models) for entry in solvers["toy"]] == [("guess", ("toy",))]


def test_solvers_of_other_families_are_made_for_a_family_that_names_them():
    related = Family(
        name="related", measures=FAMILY.measures, goal=FAMILY.goal, solvers=("gauss-newton",), solvers_of=("low-rank",),
        measured=FAMILY.measured, verdict=FAMILY.verdict,
    )  # fmt: skip
    spec = type("Related", (RankOneSensing,), {"model": "related"})
    entry = ModelEntry(spec=spec, family=related, main=("m",), plane=("rank", "m"), along="m")
    modules = [*collecting.modules_of(lrlab.models), file("models.related", ENTRY=entry)]
    result = collect(modules, collecting.modules_of(lrlab.solvers))
    names = [entry.name for entry in catalog.SOLVERS["rank-one-sensing"] if "low-rank" in entry.families]
    assert sorted(entry.name for entry in result.solvers["related"]) == sorted(names) and len(names) > 3


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (changed(title=""), "models.toy: Changed has no title: add title"),
        (changed(summary=""), "models.toy: Changed has no summary: add summary"),
        (changed(equation=""), "models.toy: Changed has no equation: add equation"),
        (changed(model=""), "models.toy: Changed has no name: add model"),
        (changed(size=3, __annotations__={"size": int}), "Changed.size is not declared: write size: Annotated"),
        (changed(weigh=abstractmethod(lambda self: 0)), "Changed does not define weigh: add it to the class"),
        (replace(MODEL, spec=Toy()), "spec must be a class derived from Spec, and not an instance"),
        (replace(MODEL, family="toys"), "family must be a Family, and not its name"),
        (replace(MODEL, spec=type("Low", (RankOneSensing,), {"problem": ""})), "models.toy: Low has no problem: add"),
        (replace(MODEL, plane=("n",)), "plane must be two axes"),
        (replace(MODEL, plane=("n", "m")), "the axis of toy 'm' is unknown: take some of n, p"),
        (replace(MODEL, along="m"), "the axis of toy 'm' is unknown"),
        (replace(MODEL, along_range=(1.0, 2.0, "log")), "the axis of toy '' is unknown"),
        (replace(MODEL, along="n"), "toy has no spectrum, which takes one of LowRankSpec, .*: leave out along"),
        (replace(MODEL, ranges={"m": (1.0, 2.0, "log")}), "the axis of toy 'm' is unknown"),
        (replace(MODEL, main=()), "no parameter of toy comes first: add main"),
        (replace(MODEL, main=("q",)), "the main parameter of toy 'q' is unknown: take some of seed, n, p"),
        (replace(MODEL, held={"q": 1}), "the held parameter of toy 'q' is unknown"),
        (replace(MODEL, measures=("loss",)), "the measure of toy 'loss' is unknown: take some of error"),
        (SOLVER, "models.toy: ENTRY must be a ModelEntry"),
        (MODEL.family, "models.toy: ENTRY must be a ModelEntry"),
        (family_with(goal=Goal("loss")), "the family 'toys': the measure of the goal 'loss' is unknown"),
        (family_with(solvers=()), "the family 'toys': no solver is shown at first: add solvers"),
        (family_with(solvers=("gues",)), "the family 'toys': the solver 'gues' is unknown: take some of guess"),
        (family_with(order=("gues",)), "the solver 'gues' is unknown"),
        (family_with(solvers_of=("toy",)), "the family 'toy' is unknown: take some of toys"),
        (family_with(model_order=("doll",)), "the model 'doll' is unknown: take some of toy"),
        (family_with(grows=("m",)), "the axis 'm' is unknown"),
        (family_with(ranges={"m": (1.0, 2.0, "log")}), "the axis 'm' is unknown"),
        (family_with(limits={"iterations": 3}), "the limit 'iterations' is unknown: take some of .*max_iter"),
        (family_with(grows=("n",), falls=("n",)), "n cannot be in both grows and falls"),
    ],
)
def test_a_wrong_model_is_one_sentence(entry, sentence):
    with pytest.raises(CatalogError, match=sentence) as error:
        collected(model=entry)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (replace(SOLVER, title=""), "solvers.guess: the SolverEntry of guess has no title: add it"),
        (replace(SOLVER, summary=""), "the SolverEntry of guess has no summary: add it"),
        (replace(SOLVER, update=""), "the SolverEntry of guess has no update: add it"),
        (replace(SOLVER, reference=""), "the SolverEntry of guess has no reference: add it to the docstring"),
        (replace(SOLVER, run=lambda problem, rng: iter(())), "guess has no docstring: say what it minimises"),
        (replace(SOLVER, run=len), r"guess must be a function \(problem, \*, options, rng\)"),
        (replace(SOLVER, run=None), "run of guess must be a function"),
        (replace(SOLVER, workspace=8), "workspace of guess must be a function"),
        (replace(SOLVER, models="toy"), r'models of guess must be a tuple of names, such as \("toy",\)'),
        (replace(SOLVER, knows="rank"), "knows of guess must be a tuple of names"),
        (replace(SOLVER, families=()), "guess names no model: add models=.* or families="),
        (replace(SOLVER, models=("doll",)), "the model of guess 'doll' is unknown: take some of toy"),
        (replace(SOLVER, families=("dolls",)), "the family of guess 'dolls' is unknown: take some of toys"),
        (MODEL, "solvers.guess: ENTRY must be a SolverEntry"),
    ],
)
def test_a_wrong_solver_is_one_sentence(entry, sentence):
    with pytest.raises(CatalogError, match=sentence) as error:
        collected(solver=entry)
    assert "\n" not in str(error.value)


TWICE = "the solver 'guess' for toy is in solvers.guess, too: rename one of them"


@pytest.mark.parametrize(
    ("models", "solvers", "sentence"),
    [
        ([file("models.toy", subclass(model="doll"), ENTRY=MODEL)], [], "Changed has no ModelEntry: end the file with"),
        (
            [file("models.toy", ENTRIES=[MODEL, MODEL])], [],
            "models.toy: the model 'toy' is in models.toy, too: rename one of them",
        ),
        (
            [file("models.toy", ENTRY=MODEL), file("models.zoo", ENTRY=MODEL)], [],
            "models.zoo: the model 'toy' is in models.toy, too",
        ),
        (
            [file("models.toy", ENTRIES=[MODEL, replace(family_with(falls=("p",)), spec=subclass(model="doll"))])],
            [file("solvers.guess", ENTRY=SOLVER)],
            "the family 'toys': two families have this name: rename one of them",
        ),
        ([file("models.toy", ENTRY=MODEL, ENTRIES=[MODEL])], [], "models.toy: has ENTRY and ENTRIES"),
        ([file("models.toy", ENTRIES=MODEL)], [], "models.toy: ENTRY must be a ModelEntry, and ENTRIES a list of such"),
        ([file("models.toy", ENTRY=MODEL)], [], "the model 'toy': no solver is made for it: name it in `models`"),
        (
            [file("models.toy", ENTRY=MODEL)], [file("solvers.guess", ENTRIES=[SOLVER, SOLVER])],
            f"solvers.guess: {TWICE}",
        ),
        (
            [file("models.toy", ENTRY=MODEL)],
            [file("solvers.guess", ENTRY=SOLVER), file("solvers.zoo", ENTRY=SOLVER)],
            f"solvers.zoo: {TWICE}",
        ),
    ],
)  # fmt: skip
def test_files_that_miss_an_entry_or_share_a_name_are_one_sentence(models, solvers, sentence):
    with pytest.raises(CatalogError, match=sentence):
        collect(models, solvers)


def test_a_solver_without_an_entry_is_one_sentence():
    def forgotten(problem, *, rng):
        """Yield nothing."""

    solvers = [file("solvers.guess", ENTRY=SOLVER), file("solvers.forgotten", forgotten)]
    with pytest.raises(CatalogError, match="solvers.forgotten: forgotten has no SolverEntry: end the file with ENTRY"):
        collect([file("models.toy", ENTRY=MODEL)], solvers)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'SolverEntry(name="a", title="A", summary="A.", update="x", reference="B", run=len)',
            "broken: a SolverEntry has no workspace: add workspace=...",
        ),
        (
            'Family(name="toys", solvers=(), measured=len, verdict=len)',
            "broken: a Family has no measures, no goal: add measures=..., goal=...",
        ),
        ('Measure("error")', "broken: a Measure has no meaning: add meaning=..."),
        ('ModelEntry(sepc=1, plane=("n", "p"))', "broken: ModelEntry has no part 'sepc': take some of spec, family"),
    ],
)
def test_a_part_that_is_left_out_or_misspelt_is_our_sentence(text, sentence, tmp_path, monkeypatch):
    name = f"package_{abs(hash(text))}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").touch()
    imports = "from lrlab.model_entry import *\nfrom lrlab.solver_entry import *\n"
    (package / "broken.py").write_text(f"{imports}ENTRY = {text}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CatalogError) as error:
        collecting.modules_of(import_module(name))
    assert str(error.value).startswith(f"{name}.{sentence}")


def test_a_file_that_does_not_import_is_one_sentence(tmp_path, monkeypatch):
    package = tmp_path / "wrong_package" / "family"
    package.mkdir(parents=True)
    (package / "wrong.py").write_text("len(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CatalogError, match=r"^wrong_package.family.wrong: does not import \(TypeError: object of type"):
        collecting.modules_of(import_module("wrong_package"))


GUESS = """
from lrlab.protocol import Iterate
from lrlab.solver_entry import SolverEntry
def {name}(problem, *, {option}rng):
    "Yield zero."
    yield Iterate(problem)
ENTRY = SolverEntry(title="A", summary="A.", update="x", reference="B (2026)", run={name}, families=("toys",),
                    workspace=lambda spec, options: 0)
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import no_such_module", "not_sound: does not import .*No module named 'no_such_module'"),
        ("def f(:", "not_sound: does not import .*SyntaxError"),
        (
            GUESS.format(name="other", option="step=3, "),
            "not_sound: the option step of other is not declared: write step",
        ),
    ],
)
def test_a_solver_with_a_mistake_is_left_out_and_all_others_go_on(text, sentence, tmp_path, monkeypatch):
    name = f"solvers_{abs(hash(text))}"
    # Neither the package nor a family's folder needs an `__init__.py`.
    package = tmp_path / name / "toys"
    package.mkdir(parents=True)
    (package / "guess.py").write_text(GUESS.format(name="guess", option=""))
    (package / "not_sound.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match=f"^{name}.toys.{sentence}"):
        sound = collecting.sound_modules([file("models.toy", ENTRY=MODEL)], import_module(name))
    found = collect([file("models.toy", ENTRY=MODEL)], sound)
    assert [entry.name for entry in found.solvers["toy"]] == ["guess"]


def test_a_solver_that_a_family_shows_at_first_is_not_left_out(tmp_path, monkeypatch):
    (tmp_path / "solvers_shown").mkdir()
    (tmp_path / "solvers_shown" / "guess.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CatalogError, match="^solvers_shown.guess: does not import"):
        collecting.sound_modules([file("models.toy", ENTRY=MODEL)], import_module("solvers_shown"))
