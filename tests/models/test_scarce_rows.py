"""Rows of a table with fewer observed entries than the rank, which nothing recovers: counted beforehand, and drawn."""

import math

import numpy as np
import pytest

import lrlab
from lrlab.runs.trial import trial_spec

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
