"""Refusals before a run: specs that no data can fulfill, and settings and data that a solver cannot take."""

import pytest

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.spectra import pairwise

SIGNS, PHASE = "one-bit-sensing", "one-bit-phase-retrieval"
FEW, LABELS = {"n": 15, "p": 8}, {"d1": 20, "d2": 10}
AT_LEAST = "n must be at least 2p = 16 for this solver, got 15"
NO_MEAN = r"link must be one with mu_1 = .* got 0 on one-bit-phase-retrieval"
EXPONENT = r"exponent is 3: change the formula: .*order p\^1.5, here 1e\+02"
RANK = r"fitted_rank must be at most min\(d1, d2\) = 10, got 11: lower"


@pytest.mark.parametrize(
    ("model", "values", "sentence"),
    [
        (PHASE, {"sparsity": 21}, r"sparsity must be in 0\.\.p = 20, got 21: lower the sparsity or"),
        (PHASE, {"truth": "phantom"}, "p must be the square of .*, got 20: take p = 16, or a random"),
        (PHASE, {"truth": "phantom", "p": 64, "sparsity": 3}, "sparsity must be 0 if the signal is"),
        (PHASE, {"treshold": 1}, 'did you mean "threshold"?'),
        ("rank-one-sensing", {"rank": 60}, r"rank must be in 1..min\(50, 50\) = 50, got 60: lower rank"),
        ("rank-one-sensing", {"truth": "phantom", "d1": 20}, "d2 must be d1 = 20, 4 or more, if the signal"),
        ("rank-one-sensing", {"truth": "phantom", "condition": 2}, "condition must be 1 if the signal is an image"),
        ("rank-one-sensing", {"truth": "digit-1", "d1": 8, "d2": 8, "rank": 8}, "rank must be at most the rank of"),
        ("polynomial-network", {"r": 101}, r"r must be in 1..min\(100, 100\) = 100, got 101"),
        ("polynomial-network", {"weights": "digits", "p": 50}, "p must be the square of a side in 4..64"),
        ("inductive-completion", {"d1": 501}, r"d1 must be in 1..n1 = 500, got 501"),
        ("inductive-completion", {"n1": 100_000, "n2": 100_000}, "n2 must be at most 1000"),
        ("phase-retrieval", {"truth": "phantom"}, "p must be the square of a side .*, got 128: take p = 121"),
        ("phase-retrieval", {"truth": "upload", "p": 64}, "picture must be an uploaded PNG or JPEG, got none"),
        ("multilabel", {"d": 12, "rank": 30}, r"rank must be in 1..min\(d, labels\) = 12, got 30: lower the rank"),
        ("multilabel", {"labels": 20, "per_row": 20}, "per_row must be less than labels = 20, got 20"),
        ("multilabel", {"labels": 20, "seen_per_row": 20}, "seen_per_row must be less than labels = 20, got 20: set"),
        ("multilabel", {"observed": 0.5, "seen_per_row": 2}, "observed must be 1 if seen_per_row is not 0, got 0.5"),
        ("one-bit-multilabel", {"d1": 5, "d2": 9, "rank": 6}, r"rank must be in 1..min\(d1, d2\) = 5, got 6: lower"),
    ],
)
def test_what_no_data_can_fulfil_is_refused(model, values, sentence):
    with pytest.raises(InputError, match=sentence):
        catalog.spec(model, **values)


SAMPLES = {"n": 1_000_000, "p": 2000}
LARGE = {"m": 1_000_000, "d1": 2000, "d2": 500}
DENSE = {"m": 20_000, "d1": 200, "d2": 200, "operator": "dense"}


@pytest.mark.parametrize(
    ("model", "values", "solver", "sentence", "fits"),
    [
        (SIGNS, SAMPLES, "biht", r"n must be at most \d+ for .* within 1.0 GiB .* got 1000000", "pairwise-moment"),
        ("one-bit-multilabel", LARGE, "leml", r"m must be at most \d+ for leml within .* got 1000000", "one-bit-power"),
        ("rank-one-sensing", DENSE, "altmin", r"m must be at most \d+ for altmin within .*: lower m$", "altmin"),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_but_not_in_blocks(model, values, solver, sentence, fits, monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "1")
    with pytest.raises(InputError, match=sentence):
        make_job(catalog.spec(model, **values), solver)
    blocks = {"operator": "gaussian"} if "operator" in values else {}
    assert make_job(catalog.spec(model, **values | blocks), fits)


def test_spectra_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "0.1")
    with pytest.raises(InputError, match="for pairwise-moment within 102 MiB of memory"):
        pairwise.spectrum_draws(catalog.spec(SIGNS, n=600), "p", [12, 5000])


@pytest.mark.parametrize(
    ("model", "values", "solver", "settings", "sentence"),
    [
        (SIGNS, {}, "pairwise", {}, 'solver must be one of .* did you mean "pairwise-moment"?'),
        (SIGNS, {}, "pairwise-moment", {"pair": "all"}, 'setting of pairwise-moment .* did you mean "pairs"?'),
        (SIGNS, {}, "pairwise-moment", {"pairs": "some"}, "pairs must be one of consecutive, all, got some"),
        (SIGNS, {}, "pairwise-moment", {"max_iter": 0}, r"max_iter must be a whole number in 1\.\.1000000, got 0"),
        (SIGNS, {"p": 8}, "nbiht", {"kept": 9}, r"kept must be in 0\.\.p = 8, got 9"),
        (SIGNS, {}, "biht", {"step": 0}, r"step must be a number in 0.001\.\.100, got 0"),
        (SIGNS, {}, "phd", {}, "link must be one with mu_2 - mu_0 = .* got 0 on one-bit-sensing"),
        *(
            (PHASE, {}, solver, {}, NO_MEAN)
            for solver in ("marginal-mean", "sir", "biht", "nbiht", "logistic", "probit")
        ),
        (PHASE, {"threshold": 0}, "pairwise-moment", {}, "a constant on .*raise the threshold above 0"),
        ("flipped-logistic", {"flip": 0.5}, "save", {}, "a constant on flipped-logistic: lower the flip below 0.5"),
        (SIGNS, FEW, "sir", {}, AT_LEAST),
        (PHASE, FEW, "phd", {}, AT_LEAST),
        (PHASE, FEW, "save", {}, AT_LEAST),
        (SIGNS, FEW, "pairwise-moment", {}, f"{AT_LEAST}: raise n or lower p to 7"),
        ("polynomial-network", {"p": 24, "r": 13}, "ap-rom", {}, "r must be at most p / 2 = 12 for this solver"),
        ("inductive-completion", {}, "r2rils", {}, "set features=canonical"),
        ("inductive-completion", {}, "matrix-irls", {}, "set features=canonical"),
        ("inductive-completion", {"features": "canonical"}, "complete-then-regress", {}, "be other than canonical"),
        ("multilabel", {"observed": 0.4}, "leml", {"inner": "exact"}, "inner must be cg if labels are missing"),
        ("multilabel", {"observed": 0.4}, "cplst", {}, "observed must be 1 for this solver"),
        ("multilabel", {"observed": 0.4}, "plst", {}, "observed must be 1 for this solver"),
        ("multilabel", {"seen_per_row": 2}, "cplst", {}, "seen_per_row must be 0 .* got 2: set seen_per_row=0"),
        (
            "phase-retrieval",
            {"m": 32, "p": 32},
            "alternating-projections",
            {},
            "m must be more than p = 32 .* got 32: raise m or",
        ),
        ("custom-link", {"link": "sin(50*z)"}, "gamp", {}, "look like coin tosses"),
        *(
            ("custom-link", {"link": "sign(z)*sign(abs(z) - 1.1774100225154747)", "p": 16}, solver, {}, EXPONENT)
            for solver in ("gamp", "link-free-refinement", "pairwise-moment", "sir", "phd")
        ),
        *(
            ("one-bit-multilabel", {}, solver, {}, "observation must be full .* got stream: set observation=full")
            for solver in ("trace-norm-squared", "trace-norm-logistic", "svm")
        ),
        *(
            ("one-bit-multilabel", LABELS, solver, {"fitted_rank": 11}, RANK)
            for solver in ("one-bit-power", "marginal-mean", "leml-squared")
        ),
    ],
)
def test_what_a_solver_cannot_do_is_refused_beforehand(model, values, solver, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        make_job(catalog.spec(model, **values), solver, **settings)
