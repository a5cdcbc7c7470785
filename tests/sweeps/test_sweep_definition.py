"""Sweep definitions: read, written, the same from everywhere, and refused in one sentence."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lrlab
from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.catalog import family
from lrlab.model_entry import Outcome, Success
from lrlab.runs.run import trial_spec
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.toml import parse, read, titled, to_toml

EXAMPLE = """
model   = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials  = 20
seed    = 3
success = { metric = "error", below = 0.05 }
adaptive = false
[spec]
p = 60
[axes]
m = [200, 400, 800]
r = { from = 1, to = 5, steps = 5 }
"""


def test_a_definition_is_the_same_by_hand_and_in_python():
    by_hand = parse(EXAMPLE)
    in_python = Sweep(
        spec=spec("polynomial-network", p=60, seed=3),
        axes={"m": [200, 400, 800], "r": Span(1, 5, 5)},
        solvers=["tangent-descent", "ep-rom"],
        success=Success("error", below=0.05),
    )
    assert by_hand == in_python and hash(by_hand) == hash(in_python)
    assert by_hand.grid == {"m": (200, 400, 800), "r": (1, 2, 3, 4, 5)} and by_hand.total == 3 * 5 * 2 * 20


def test_what_is_left_out_has_defaults():
    sweep = parse('model = "rank-one-sensing"\nsolvers = ["altmin"]\n[axes]\nper-freedom = [1, 2.5]')
    assert (sweep.trials, sweep.spec.seed, sweep.adaptive) == (20, 0, False)
    assert sweep.success == Success("weakest_error", below=0.1), "the model's own"
    assert parse('model = "one-bit-sensing"\nsolvers = ["sir"]\n[axes]\nn = [500]').success is None


def test_ranges_are_spaced_and_whole_where_the_parameter_is():
    def grid(axes):
        return Sweep(spec=spec("one-bit-sensing"), axes=axes, solvers=["sir"]).grid

    assert grid({"noise": Span(0.01, 1, 3, "log")})["noise"] == pytest.approx((0.01, 0.1, 1))
    assert grid({"n": Span(10, 1000, 3, "log")})["n"] == (10, 100, 1000)
    assert grid({"p": Span(2, 4, 9)})["p"] == (2, 3, 4), "each whole number once"
    assert all(isinstance(value, int) for value in grid({"n": [1e3, 2000]})["n"])


numbers = st.floats(0.0, 10.0) | st.integers(0, 10)
spans = st.builds(Span, st.floats(0.01, 1), st.floats(2, 9), st.integers(2, 30), st.sampled_from(["linear", "log"]))
rules = st.builds(Success, st.sampled_from(["error", "overlap"]), below=numbers) | st.builds(
    Success, st.just("misfit"), above=st.floats(-1e300, 1e300)
)


@settings(max_examples=60)
@given(
    noise=spans | st.lists(numbers, min_size=1, max_size=5, unique=True).map(tuple),
    ratio=spans,
    trials=st.integers(1, 1000),
    seed=st.integers(0, 2**32 - 1),
    success=rules | st.none(),
    adaptive=st.just({})
    | st.fixed_dictionaries(
        {"adaptive": st.just(True), "tolerance": st.integers(1, 100), "budget": st.integers(0, 1000)}
    ),
    chosen=st.dictionaries(st.sampled_from(["tol", "max_seconds"]), st.floats(1e-12, 1)),
    truth=st.sampled_from(["random", "smiley"]),
)
def test_what_is_written_is_read_as_the_same(noise, ratio, trials, seed, success, adaptive, chosen, truth):
    try:
        base = spec("one-bit-sensing", seed=seed, p=64, truth=truth)
    except InputError:
        base = spec("one-bit-sensing", seed=seed)
    sweep = Sweep(
        spec=base,
        axes={"noise": noise, "ratio": ratio},
        solvers=["pairwise-moment", "sir"],
        trials=trials,
        success=success,
        settings=chosen,
        **adaptive,
    )
    assert parse(to_toml(sweep)) == sweep


AXES = EXAMPLE[EXAMPLE.index("[axes]") :]


def changed(old, new):
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("trials  =", "trails =", 'key of a sweep must be one of .*, got trails: did you mean "trials"?'),
        ("p = 60", 'p = "sixty"', "spec.p must be a whole number in 1..10000, got sixty"),
        ("p = 60", "seed = 4", "seed must be given once, got two different ones"),
        ("ep-rom", "sir", "solver must be made for polynomial-network .*, got sir"),
        ('["tangent-descent", "ep-rom"]', "[]", "solvers must be .*, got an empty list: name each"),
        ("below = 0.05", "below = 0.05, above = 1", "success must be .* one level, below or above, got both"),
        (", below = 0.05", "", "success must be a metric with one level, below or above, got neither"),
        ('metric = "error", ', "", "success: metric must be given, got nothing: add a line"),
        ("below = 0.05", "below = nan", "level must be a number, got nan"),
        ('{ metric = "error", below = 0.05 }', "1", "success must be a table with metric, got 1"),
        ("= false", "= 1", "adaptive must be true or false, got 1: write it as true or false"),
        ("adaptive = false", "budget = 50", "budget must be left out if adaptive is false, got 50: set"),
        ("[200, 400, 800]", "[]", "m must be a list of different numbers, got an empty list"),
        ("[200, 400, 800]", "200", "axes.m must be a list of values or a table with from, to, steps, got 200: write"),
        ("[200, 400, 800]", "[2]\np = [9]", "axes must be one or two axes, got m, p, r: keep"),
        ("r = {", "per-freedom = {", "axes must be different quantities .both decide m., got m and per-freedom"),
        ("to = 5, ", "", "axes.r: to must be given, got nothing: add a line"),
        ("steps = 5", "step = 5", 'axes.r.step: key of r must be .* did you mean "steps"?'),
        ("from = 1", "from = inf", "r must be finite at both ends of a range, got inf"),
        ("from = 1", 'spacing = "log", from = 0', "r must be above 0 at both ends of a log scale, got 0"),
        ("to = 5", "to = 1", "r must be a range with two different ends, got 1: take another end"),
        (AXES, "", 'axes must be given, got nothing: add a line or a table "axes" to the sweep'),
        ("p = 60", "p =", "sweep file must be TOML, got Invalid value: correct it at line 9, column 4$"),
        ("p = 60", "a = " + "[" * 5000, "sweep file must be TOML"),
        ("below", "under", "success.under: key of success must"),
        ('"error"', '"eror"', "success.metric must"),
        ("p = 60", "p = -60", "spec.p must"),
        ("p = 60", "q = 60", "spec.q: "),
        ("ep-rom", "ep-ram", r"solvers\[1\]: "),
        ("polynomial-", "polynomal-", "model must"),
        ("m = [", "mm = [", "axes.mm: axis must"),
        ("800]", "0]", "axes.m must"),
        ("steps = 5", "steps = 5.5", "axes.r.steps must"),
        ("steps = 5", 'steps = 5, spacing = "lag"', "axes.r.spacing: "),
        ("[axes]", "[settings]\nmax_itr = 9\n[axes]", "settings.max_itr: "),
        ("[axes]", "[settings]\ntol = 'a'\n[axes]", "settings.tol must"),
        ("[axes]", "[setting]\nmax_iter = 9\n[axes]", "setting: key of a sweep must"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_path_of_its_key(old, new, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        parse(changed(old, new))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: lrlab.spec(None), "model must be one of"),
        (lambda: replace(parse(EXAMPLE), adaptive="no"), "adaptive must be true or false, got no"),
        (
            lambda: lrlab.solve("phase-retrieval", "wirtinger-flow"),
            "spec must be one of a model, got phase-retrieval: ",
        ),
        (lambda: lrlab.sweep("phase-retrieval", {"m": [9]}, ["wirtinger-flow"]), "spec must be one of a model"),
        (lambda: lrlab.sweep(spec("phase-retrieval"), ["m"], ["wirtinger-flow"]), "axes must be names with their val"),
        (lambda: lrlab.sweep(spec("phase-retrieval"), None, ["wirtinger-flow"]), "axes must be one or two axes"),
        (lambda: lrlab.solve(spec("multilabel"), ""), "solver must be one of leml, .* trace-norm, got nothing: take"),
        (lambda: lrlab.live(spec("phase-retrieval"), "wirtinger-flow"), "solvers must be some solvers, got wirtinger"),
    ],
)
def test_arguments_of_another_kind_are_refused_in_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


HUGE = "m = { from = 1, to = 20000, steps = 10000 }"


@pytest.mark.parametrize(
    "make",
    [
        lambda: parse(changed("m = [200, 400, 800]", HUGE).replace("steps = 5", "steps = 10000")),
        lambda: parse(changed("m = [200, 400, 800]", HUGE).replace("steps = 5", "steps = 6")),
        lambda: lrlab.sweep(spec("one-bit-sensing"), {"n": range(2, 10**8)}, ["sir"]),
        lambda: lrlab.sweep(spec("one-bit-sensing"), {"n": range(2, 1000), "p": range(2, 500)}, ["sir"]),
    ],
)
def test_too_many_grid_points_are_refused_before_they_are_enumerated(make, monkeypatch):
    monkeypatch.setattr("lrlab.sweeps.definition.job_maker", None)
    monkeypatch.setattr("lrlab.parameters.Parameter.check", lambda self, value: value)
    with pytest.raises(InputError, match="axes must be at most 50,000 grid points, over all solvers, got .*: take"):
        make()


def test_a_definition_visits_no_grid_point(monkeypatch):
    monkeypatch.setattr("lrlab.sweeps.definition.spec_at", None)
    sweep = Sweep(spec=spec("one-bit-sensing"), axes={"n": range(2, 200), "p": range(2, 200)}, solvers=["sir"])
    assert sweep.total == 198 * 198 * 20


def test_a_file_that_cannot_be_read_is_refused_before_a_store_is_made(tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    for content, sentence in [(b"# 1\n# \xff", "other bytes on line 2"), (b"#" * 2**21, "at most 1 MiB, got more")]:
        file.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            read(file)
    file.write_text(changed('"error"', '"eror"'), "utf-8-sig")
    for name, sentence in (
        ("none.toml", "sweep file must be a file that can be read"),
        ("", "sweep file must be a file that can be read"),
        ("sweep.toml", "metric must be"),
    ):
        assert main(["sweep", str(tmp_path / name), "--store", str(tmp_path / "kept.sqlite"), "--json"]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1 and sentence in printed.err
    assert [*tmp_path.iterdir()] == [file], "no store is made"


@pytest.mark.slow
def test_a_sweep_without_a_store_prints_its_table_and_keeps_nothing(engine, tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    file.write_text('model = "one-bit-sensing"\nsolvers = ["pairwise-moment"]\ntrials = 3\n[axes]\nratio = [1, 40]\n')
    assert main(["sweep", str(file), "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert printed.err == "" and list(document) == ["cells", "trials_run", "trials_reused"]
    assert (document["trials_run"], document["trials_reused"]) == (3, 0)
    refused, cell = document["cells"]
    assert refused["trials"] == 0 and refused["refused"].startswith("n must be at least 2p")
    assert cell["axes"] == {"ratio": 40.0} and cell["trials"] == 3 and cell["successes"] is None
    low, median, high = cell["metrics"]["overlap"]
    assert 0 < low <= median <= high <= 1 and len(set(cell["metrics"]["limit_overlap"])) == 1
    assert next(iter(cell["metrics"])) != "iterations", "a metric of the family comes first"
    assert main(["sweep", str(file)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[:2] == ["ratio", "solver"] and shown[-1].startswith("3 trials run, 0 taken")
    assert [entry.name for entry in tmp_path.iterdir()] == ["sweep.toml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "axes", "level"),
    [
        (lrlab.spec("phase-retrieval", p=20, noise=0.01), {"ratio": [4, 8, 40]}, 0.03),
        (lrlab.spec("phase-retrieval", p=20, noise=0.01, data="intensity"), {"ratio": [6]}, 0.03),
        (lrlab.spec("phase-retrieval", p=20, m=200), {"noise": [0.001, 0.05], "ratio": [10]}, 0.15),
        (lrlab.spec("coded-diffraction", side=12, photons=100), {"masks": [8]}, 0.15),
        (lrlab.spec("coded-diffraction", side=12), {"photons": [30]}, 0.274),
        (lrlab.spec("phase-retrieval", p=20), {"ratio": [4]}, 1e-3),
        (lrlab.spec("rank-one-sensing", d1=20, d2=20, rank=2, noise=0.2), {"m": [300]}, 0.5),
        (lrlab.spec("polynomial-network", p=20, r=2, noise=0.1), {"m": [400]}, 0.3),
    ],
)
def test_noise_that_solvers_follow_to_their_limit_leaves_success(spec, axes, level):
    sweep = Sweep(spec=spec, axes=axes, solvers=["gauss-newton"], trials=4)
    assert sweep.success.level == pytest.approx(level, rel=0.01)
    traces = [lrlab.solve(trial_spec(job.spec, trial), "gauss-newton") for job in sweep.jobs for trial in range(4)]
    errors = [trace.metrics[family(spec.model).goal.metric] for trace in traces]
    assert sweep.success.reached(errors).mean() >= 0.75
    if spec.model == "phase-retrieval" and spec.noise:
        outcome = Outcome("gauss-newton", "Gauss-Newton", {"error": min(errors)}, 9, True, {}, {})
        said = family(spec.model).verdict(sweep.jobs[0].spec, [outcome])
        assert "recovered by 1 of 1 solver," in said and f"an error below {level:.2g} counts" in said


def test_a_file_may_have_a_title_and_an_explanation():
    sweep = parse(EXAMPLE)
    text = f'title = "Signs & noise"\n{to_toml(sweep)}'
    assert parse(text) == sweep
    read = titled(f'explanation = """\nMore\nis better. """\nreference = "Nobody (2020)"\n{text}')
    assert read == (sweep, "Signs & noise", "More\nis better.", "Nobody (2020)")
    assert titled(to_toml(sweep)).title == ""
    with pytest.raises(InputError, match="title must be text in quotes, got 7"):
        parse(f"title = 7\n{to_toml(sweep)}")
