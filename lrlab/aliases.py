"""Old names that still work."""

from collections.abc import Mapping

SOLVERS: Mapping[str, tuple[str, Mapping[str, bool | float | str]]] = {
    "leml-squared": ("leml", {"loss": "squared"}),
    "leml-logistic": ("leml", {"loss": "logistic"}),
    "leml-squared-hinge": ("leml", {"loss": "squared-hinge"}),
    "trace-norm-squared": ("trace-norm", {"loss": "squared"}),
    "trace-norm-logistic": ("trace-norm", {"loss": "logistic"}),
    "svm": ("binary-relevance", {"loss": "hinge"}),
    "plst": ("cplst", {"labels_only": True}),
    "logistic": ("glm", {"assumed_link": "logistic"}),
    "probit": ("glm", {"assumed_link": "probit"}),
    "nbiht": ("biht", {"normalize": True}),
    "hybrid-input-output": ("alternating-projections", {"relaxation": 0.9}),
    "truncated-amplitude-flow": ("amplitude-flow", {"weights": "truncated"}),
    "reweighted-amplitude-flow": ("amplitude-flow", {"weights": "reweighted"}),
}
"""Solvers by their old names: the solver of today, and the options that make it the old one.

You can use an alias like any solver, also next to the solver of today in a comparison.
"""
VALUES: Mapping[str, str] = {"share": "success_rate", "share_of_best": "fraction_of_best", "auto": "inexact"}
"""Words that parameters took by their old names: metrics of sweeps, and half-sweeps of `altmin`.

Addresses, TOML files, options and functions that draw accept them.
"""
