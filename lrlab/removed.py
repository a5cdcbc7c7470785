"""Solvers of earlier versions that were removed, each with one to use instead."""

SOLVERS = {
    "precgd": "gauss-newton",
    "overparameterised-gradient": "gauss-newton",
    "robust-gauss-newton": "trimmed-gauss-newton",
    "robust-pca": "trimmed-gauss-newton",
    "raar": "hybrid-input-output",
    "phase-likelihood": "gamp",
    "sparse-logistic": "link-free-refinement",
    "sparse-probit": "link-free-refinement",
    "subset-logistic": "link-free-refinement",
    "partial-trace": "gamp",
    "vamp": "gamp",
}


def removed(name: str) -> str:
    """Return the sentence for the name of a removed solver, or of an option of one; nothing for other names."""
    solver = name.partition(".")[0]
    return f"{solver} was removed in 0.3: use {SOLVERS[solver]}" if solver in SOLVERS else ""
