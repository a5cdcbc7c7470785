"""Rows of a table with fewer observed entries than the rank, which nothing recovers: counted beforehand, and drawn."""

import math

import numpy as np
import pytest

import lrlab
from lrlab.runs.trial import trial_spec
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.theory import lines

PLAIN = lrlab.spec("inductive-completion", features="canonical", n1=100, n2=100, rank=1, seed=31000)
SPECS = [
    PLAIN.replace(observed=2.2 * 199 / 100**2),
    PLAIN.replace(n1=30, n2=300, rank=2, observed=2.2 * 656 / 9000),
    lrlab.spec("multilabel-regression", n=100, d=5, labels=40, rank=2, observed=0.05, seed=31000),
]


def scarce(spec):
    operator, k = spec.build().operator, spec.true_rank
    columns = np.bincount(operator.columns, minlength=spec.table[1])
    rows = np.bincount(operator.rows, minlength=spec.table[0])
    return int((columns < k).sum()) + (0 if operator.X is not None else int((rows < k).sum()))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.model}-{spec.true_rank}")
def test_the_expected_number_of_scarce_rows_is_their_mean_and_stands_in_the_remark(spec):
    counts = [scarce(trial_spec(spec, trial)) for trial in range(200)]
    spread = np.std(counts) / math.sqrt(len(counts))
    assert spec.scarce_rows == pytest.approx(np.mean(counts), abs=4 * spread)
    assert f"About {spec.scarce_rows:.2g} rows and columns are expected to have fewer observed entries" in spec.remark
    wrong = spec.replace(assumed_rank=3).remark
    assert wrong.startswith(spec.remark) and "the true one is" in wrong
    assert "expected" not in spec.replace(observed=0.9).remark


def test_features_and_measurements_of_other_kinds_have_no_scarce_rows():
    assert lrlab.spec("inductive-completion").scarce_rows is None
    assert lrlab.spec("rank-one-sensing").scarce_rows is None
    assert PLAIN.replace(popularity=1.0).scarce_rows is None


def test_on_the_line_of_a_map_half_of_the_tables_have_a_scarce_row():
    axes = {"rank": [1, 2, 3], "per-freedom": [1.0, 2.0, 3.0, 4.0]}
    sweep = Sweep(spec=PLAIN.replace(n1=60, n2=60), axes=axes, solvers=("matrix-irls",))
    points = lines(sweep)
    line = points[points["line"] == "k entries in every row"].dropna()
    assert list(line["x"]) == [1, 2, 3] and (np.diff(line["y"]) < 0).all()
    for rank, ratio in zip(line["x"], line["y"], strict=True):
        at = sweep.spec.replace(rank=int(rank))
        at = at.replace(observed=ratio * at.degrees_of_freedom / 3600)
        share = np.mean([scarce(trial_spec(at, trial)) > 0 for trial in range(200)])
        assert 0.4 < share < 0.6
    assert (points[points["line"] == "degrees of freedom"].dropna()["y"] < 1.01).all()
