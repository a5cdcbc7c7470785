"""The specs, addresses and sweeps of golden numbers."""

from typing import Any

from lrlab.ui.sweep.sweep_controls import of_sweep_page

Values = dict[str, Any]

HARD: dict[str, Values] = {
    "one-bit-sensing": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "noise": 1.0},
    "flipped-logistic": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "flip": 0.1},
    "one-bit-phase-retrieval": {"seed": 1, "n": 600, "p": 30, "sparsity": 4, "noise": 0.3},
    "custom-link": {"seed": 1, "n": 400, "p": 30, "sparsity": 4, "link": "three levels", "noise": 0.3},
    "rank-one-sensing": {"seed": 1, "m": 700, "condition": 100.0, "noise": 0.01},
    "inductive-completion": {"seed": 1, "n1": 200, "n2": 150, "d1": 30, "d2": 30, "observed": 0.04,
                             "condition": 100.0, "noise": 0.01},
    "multilabel-regression": {"seed": 1, "observed": 0.04, "condition": 100.0, "noise": 0.01},
    "polynomial-network": {"seed": 1, "m": 1500, "p": 60, "condition": 100.0, "noise": 0.01},
    "one-bit-completion": {"seed": 1, "rank": 3, "observed": 0.3, "noise": 1.0},
    "phase-retrieval": {"seed": 1, "m": 320, "p": 80, "noise": 0.1},
    "coded-diffraction": {"seed": 1, "side": 32, "masks": 4, "photons": 30.0},
    "multilabel": {"seed": 1, "n": 500, "d": 60, "labels": 30, "observed": 0.4, "noise": 2.0},
    "one-bit-multilabel": {"seed": 1, "m": 8000, "d1": 60, "d2": 30, "flip": 0.1},
}  # fmt: skip
"""Noise, a condition number of 100 or few measurements."""

OTHER: dict[str, tuple[Values, tuple[str, ...]]] = {
    "inductive-completion": (
        {"seed": 1, "n1": 60, "n2": 50, "features": "canonical", "observed": 0.4, "condition": 10.0, "noise": 0.01},
        ("als", "matrix-irls", "r2rils", "soft-impute"),
    ),
    "one-bit-multilabel": (
        {"seed": 1, "m": 4000, "d1": 40, "d2": 20, "observation": "full", "flip": 0.1},
        ("svm", "trace-norm-logistic", "trace-norm-squared"),
    ),
}
"""A spec for solvers that refuse both the defaults and the hard setting."""

THEORY: dict[str, list[Values]] = {
    "one-bit-sensing": [{}, {"n": 300, "p": 30, "noise": 0.5}, {"n": 2000, "p": 200, "noise": 1.0, "flip": 0.1}],
    "flipped-logistic": [{}, {"n": 400, "p": 30, "flip": 0.2}, {"n": 2000, "p": 200}],
    "one-bit-phase-retrieval": [{}, {"n": 600, "p": 30, "noise": 0.3}, {"n": 2000, "p": 200}],
    "custom-link": [{}, {"n": 400, "p": 30, "noise": 0.3}, {"n": 2000, "p": 200, "link": "three levels"}],
    "phase-retrieval": [{}, {"m": 300, "field": "real"}, {"m": 400, "noise": 0.3}, {"m": 500, "noise": 0.1}],
}
"""Specs whose limits and predictions are recorded, for every solver."""

INDEX_BEST: list[Values] = [{"n": 60, "p": 4}, {"n": 200, "p": 10}, {"n": 200, "p": 20, "sparsity": 1},
                            {"n": 400, "p": 150}]  # fmt: skip
BEST: dict[str, list[Values]] = {
    "one-bit-sensing": [{"noise": 0.5, **values} for values in INDEX_BEST],
    "flipped-logistic": [{"flip": 0.1, **values} for values in INDEX_BEST],
    "one-bit-phase-retrieval": INDEX_BEST,
    "custom-link": [{"noise": 0.3, **values} for values in INDEX_BEST],
    "rank-one-sensing": [{"noise": 0.1}],
    "polynomial-network": [{"noise": 0.1}],
    "one-bit-completion": [{}],
    "coded-diffraction": [{"photons": 30.0}],
}
"""Specs whose Bayes-optimal overlap and error, or bound on all methods, is recorded."""

SPECTRA: dict[str, tuple[Values, str, list[float]]] = {
    "one-bit-sensing": ({"p": 50}, "ratio", [10.0, 100.0]),
    "flipped-logistic": ({"p": 50}, "ratio", [20.0, 200.0]),
    "one-bit-phase-retrieval": ({"p": 50}, "ratio", [20.0, 200.0]),
    "custom-link": ({"p": 50}, "ratio", [20.0, 200.0]),
    "rank-one-sensing": ({}, "m", [500.0, 2000.0]),
    "inductive-completion": ({}, "observed", [0.01, 0.1]),
    "polynomial-network": ({}, "m", [2000.0, 20000.0]),
    "phase-retrieval": ({}, "ratio", [1.5, 6.0]),
}
"""Spec, axis and positions of predicted eigenvalues."""

ADDRESSES: dict[str, tuple[str, dict[str, str]]] = {
    "first": ("converge", {}),
    "digit": ("converge", {"truth": "digit-3", "p": "64", "n": "6000"}),
    "options": ("converge", {"model": "rank-one-sensing", "m": "700", "solvers": "gauss-newton,altmin", "tol": "1e-6"}),
    "phase": ("converge", {"model": "phase-retrieval", "field": "real", "m": "300", "noise": "0.1", "seed": "7"}),
    "labels": ("converge", {"model": "multilabel", "solvers": "leml-squared,plst", "max_iter": "50"}),
    "network": ("converge", {"model": "polynomial-network", "condition": "10", "signs": "mixed"}),
    "spectrum": (
        "spectrum",
        {"model": "one-bit-phase-retrieval", "axis": "ratio", "from": "20", "to": "100", "points": "4"},
    ),
    "line": ("transition", of_sweep_page({"model": "one-bit-sensing", "trials": "3", "x-axis": "noise"})),
    "several": (
        "transition",
        of_sweep_page({"model": "inductive-completion", "x-axis": "observed", "x-values": "0.01,0.02,0.05"}),
    ),
    "plane": ("transition", {"model": "rank-one-sensing", "trials": "5"}),
}
"""Pages with their addresses."""

SWEEPS = {
    "list": 'model = "one-bit-sensing"; solvers = ["pairwise-moment", "marginal-mean"]; trials = 3; seed = 4; '
    "spec = { p = 10 }; axes = { n = [100, 200, 400], noise = [0.1, 1.0] }",
    "span": 'model = "phase-retrieval"; solvers = ["wirtinger-flow"]; trials = 2; '
    'axes = { ratio = { from = 2, to = 8, steps = 5, spacing = "log" } }',
    "refused": 'model = "rank-one-sensing"; solvers = ["gauss-newton", "altmin"]; trials = 2; '
    "spec = { d1 = 12, d2 = 9 }; axes = { rank = [1, 5], per-freedom = [1.0, 1.5, 3.0] }; settings = { max_iter = 40 }",
    "adaptive": 'model = "inductive-completion"; solvers = ["gnimc"]; trials = 10; adaptive = true; tolerance = 2; '
    'axes = { observed = { from = 0.005, to = 0.05, steps = 6, spacing = "log" }, rank = [1, 2, 4] }',
    "success": 'model = "multilabel"; solvers = ["leml-squared", "plst"]; trials = 2; '
    'success = { metric = "auc", above = 0.8 }; axes = { observed = [0.2, 1.0] }',
}
"""Further definitions of sweeps: TOML with ; for line ends."""
