"""Old names: which still work, and which solvers replace removed ones."""

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
REMOVED: Mapping[str, str] = {
    "precgd": "gauss-newton",
    "overparameterised-gradient": "gauss-newton",
    "robust-gauss-newton": "trimmed-gauss-newton",
    "robust-pca": "trimmed-gauss-newton",
    "raar": "alternating-projections",
    "phase-likelihood": "gamp",
    "sparse-logistic": "link-free-refinement",
    "sparse-probit": "link-free-refinement",
    "subset-logistic": "link-free-refinement",
    "partial-trace": "gamp",
    "vamp": "gamp",
}
"""Solvers that were removed, each with one to use instead."""
METRICS: Mapping[str, str] = {"share": "success_rate", "share_of_best": "fraction_of_best"}
"""Metrics of sweeps by their old names, which addresses, TOML files and functions that draw accept."""


def removed(name: str) -> str:
    """Return the sentence for the name of a removed solver, or of an option of one; nothing for other names."""
    solver = name.partition(".")[0]
    return f"{solver} was removed in 0.3: use {REMOVED[solver]}" if solver in REMOVED else ""
