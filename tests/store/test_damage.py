"""Damaged stores end in one sentence or give what was stored; a repair retains all that is sound."""

import csv
import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.engine.stream import LocalStream
from lrlab.parameters import printable
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store.export import export
from lrlab.store.store import Store
from lrlab.sweeps import history
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.history import Past
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import to_toml
from tests.store.damaging import damage

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5),
    axes={"noise": [0.1, 0.5, 1.0]},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=70,
)
ITEMS = {bytes([k] * 16): {"values": [0.5 * k, 1.0 / (k + 1)], "label": "x" * 400 * k} for k in range(12)}
PAST = [Past("browser", f"{to_toml(SWEEP)}# {k}", "title", "sweep", "done", k, 70, 1.5e9 + k) for k in range(3)]


def result(chance):
    scores = {name: chance.random() for name in ("objective", "residual", "error", "overlap", "misfit")}
    return TrialResult(chance.randrange(2**32), "CONVERGED", chance.randrange(1, 99), chance.random(), scores)


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """Return a store with trials on several pages, other results and past sweeps, and what is read from it."""
    path, chance = tmp_path_factory.mktemp("intact") / "store.sqlite", random.Random(0)
    with Store(path) as store:
        for job in SWEEP.jobs:
            store.add({Trial(job, number): result(chance) for number in range(SWEEP.trials)})
        store.add_items(ITEMS)
        for line in PAST:
            history.note(store, line)
    return path, contents(path)


@pytest.fixture
def path(intact, tmp_path):
    """Return a copy of it."""
    return shutil.copyfile(intact[0], tmp_path / "store.sqlite")


def contents(path, checked=False):
    """Return all that a store has: trials, other results, past sweeps, the exported table, and what is listed."""
    with Store(path, create=False, checked=checked) as store:
        trials = {(k, n): str(r) for k, job in enumerate(SWEEP.jobs) for n, r in store.results(job, 999).items()}
        table = path.with_name("table.csv")
        export(store, table)
        with table.open(newline="") as file:
            # Sorted and without what is empty, for a table has the columns of all its solvers.
            rows = [tuple(sorted(pair for pair in row.items() if pair[1])) for row in csv.DictReader(file)]
        listed = [(group.model, group.solver, dict(group.settings), group.trials) for group in store.groups()]
        return trials, store.items(ITEMS), history.past(store, "browser"), sorted(rows), listed


def changed(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0


@pytest.mark.attempt(
    "digits, texts and numbers of a store changed, binary bytes put into them",
    "one sentence with `store FILE --repair`, which drops those rows",
)
@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE trials SET scores = replace(scores, '5', '6') WHERE cell = 2 AND trial = 3", "trial 3 of .* checksum"),
        ("UPDATE trials SET scores = '[0.1' WHERE cell = 2 AND trial = 3", "trial 3 of .* checksum"),
        ("UPDATE trials SET scores = CAST(x'1b5b33316dff' AS TEXT) WHERE cell = 2 AND trial = 3", "not UTF-8"),
        ("UPDATE trials SET seed = seed + 1 WHERE cell = 2 AND trial = 3", "trial 3 of .* checksum"),
        ("UPDATE trials SET seconds = 1e9 WHERE cell = 2 AND trial = 3", "trial 3 of .* checksum"),
        ("UPDATE measures SET names = replace(names, 'error', 'erro')", "trial 0 of .* checksum"),
        ("UPDATE groups SET settings = replace(settings, '200', '900') WHERE id = 1", "a cell of"),
        ("UPDATE cells SET spec = replace(spec, '200', '900') WHERE id = 2", "a cell of"),
        ("DELETE FROM trials WHERE cell = 2 AND trial = 3", "a cell of"),
        ("DELETE FROM cells WHERE id = 2", "trials whose cell is lost"),
        ("UPDATE sweeps SET done = 69 WHERE done = 1", None),
        ("UPDATE items SET result = replace(result, '0.5', '0.6')", None),
    ],
)
def test_damage_within_sound_pages_is_one_sentence_and_repaired(intact, path, capsys, statement, what):
    changed(path, statement)
    with pytest.raises(InputError, match="store must be a sound store, got .*it is damaged .*store.sqlite --repair"):
        contents(path)
    if what:
        assert main(["store", str(path), "--export", str(path.with_name("out.csv"))]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1 and "\x1b" not in printed.err
        with pytest.raises(InputError, match=what):
            contents(path)
    assert main(["store", str(path), "--repair"]) == 0
    assert " trials stay." in capsys.readouterr().out
    trials, items, past, rows, listed = contents(path)
    assert trials.items() <= intact[1][0].items() and items.items() <= ITEMS.items() and {*past} <= {*PAST}
    assert len(rows) == len(trials) == sum(group[-1] for group in listed) and {*rows} <= {*intact[1][3]}
    if "trial = 3" in statement:
        assert len(trials) == len(SWEEP.jobs) * SWEEP.trials - 1
    assert path.with_name("store.sqlite.damaged").exists()


def test_a_damaged_trial_ends_a_sweep_with_the_sentence(path, capsys, tmp_path):
    changed(path, "UPDATE trials SET scores = replace(scores, '5', '6') WHERE cell = 2 AND trial = 3")
    definition = tmp_path / "sweep.toml"
    definition.write_text(to_toml(SWEEP))
    assert main(["sweep", str(definition), "--store", str(path), "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and "checksum" in printed.err
    assert main(["store", str(path), "--repair", "--json"]) == 0
    with Store(path) as store:
        done = run(SWEEP, store, LocalStream)
    assert (done.computed, done.reused) == (1, SWEEP.trials * len(SWEEP.jobs) - 1)


def test_a_repair_of_what_is_intact_changes_nothing(path, capsys):
    before = path.read_bytes()
    assert main(["store", str(path), "--repair"]) == 0
    assert "Nothing is damaged" in capsys.readouterr().out and path.read_bytes() == before
    assert not path.with_name("store.sqlite.damaged").exists()


def test_what_is_no_store_is_not_repaired(path, capsys):
    path.write_text("my thesis")
    assert main(["store", str(path), "--repair"]) == 2
    assert "a store of lrlab" in capsys.readouterr().err and path.read_text() == "my thesis"


@pytest.mark.parametrize("spoiled", ["", "UPDATE trials SET scores = '[0.1' WHERE cell = 2 AND trial = 3"])
def test_rows_of_an_older_lrlab_get_their_checksums_when_the_store_is_opened(intact, path, spoiled):
    old = [f"ALTER TABLE {table} DROP COLUMN checksum" for table in ("trials", "sweeps", "items")]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"{'; '.join(old)}; DROP TABLE claims; {spoiled}")
    if spoiled:
        with pytest.raises(InputError, match="trial 3 of .* does not match its checksum"):
            contents(path)
        return
    assert contents(path) == intact[1]
    changed(path, "UPDATE trials SET seed = seed + 1 WHERE cell = 2 AND trial = 3")
    with pytest.raises(InputError, match="trial 3 of .* does not match its checksum"):
        contents(path)


def test_a_damaged_first_page_leaves_the_others(intact, path):
    with path.open("r+b") as file:
        file.write(bytes(4096))
    assert main(["store", str(path), "--repair"]) == 0
    assert contents(path) == intact[1]


def examined(intact, path, seed):
    """Damage a store as drawn; AssertionError unless it ends in a right result, or in a sentence and a repair."""
    chance = random.Random(seed)
    done, truth = damage(path, chance), intact[1]
    words = f"seed {seed}: {done}"
    try:
        # As pages of a server open it, too: without a look at all pages.
        trials, items, past, rows, listed = contents(path, checked=chance.random() < 0.5)
        assert (trials, rows, listed) == (truth[0], *truth[3:]), words
        # Under another key they are not found, and computed anew.
        assert items.items() <= truth[1].items() and {*past} <= {*truth[2]}, words
        return "right"
    except (InputError, RuntimeError) as error:
        sentence = str(error)
    assert "\n" not in sentence and "store" in sentence.lower() and printable(sentence) == sentence, (words, sentence)
    if main(["store", str(path), "--repair", "--json"]):
        return "lost"
    trials, items, past, rows, _ = contents(path)
    assert trials.items() <= truth[0].items() and items.items() <= truth[1].items() and {*past} <= {*truth[2]}, words
    assert len(rows) == len(trials) and {*rows} <= {*truth[3]}, words
    return "repaired"


@pytest.mark.attempt(
    "1,000 drawn damages of a store: bytes flipped, pages cut or overwritten, values changed (40 a case)",
    "one sentence or the right result",
)
@pytest.mark.parametrize("first", [0, *(pytest.param(40 * k, marks=pytest.mark.soak) for k in range(1, 25))])
def test_drawn_damages_are_noticed(intact, tmp_path, first, capsys):
    ends = []
    for seed in range(first, first + 40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = shutil.copyfile(intact[0], folder / "store.sqlite")
        ends.append(examined(intact, path, seed))
    assert ends.count("repaired") >= 10 and ends.count("lost") <= 10, ends
