"""Metrics, goal, solvers, pictures and theory that the single-index models share."""

from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure
from lrlab.models import signals
from lrlab.theory.finite_best import why_no_best

FAMILY = Family(
    name="single-index",
    measures={
        "error": Measure(
            "error  ‖b̂ − b‖", "sign-free distance of the unit vectors: 0 is exact, √2 is orthogonal to the signal"
        ),
        "overlap": Measure(
            "squared overlap  ⟨b̂, b⟩²",
            "squared cosine with the ground truth: 1 is exact, 1/p is a random guess",
            rising=True,
        ),
        "share_of_best": Measure(
            "overlap / best possible overlap",
            "mean squared overlap as a fraction of the Bayes-optimal one at this n and p",
            quotient=("overlap", "best_overlap"),
            rising=True,
        ),
        "misfit": Measure("squared loss  mean (y − f(⟨x, b̂⟩))²", "squared loss of the responses under the true link"),
        **COMMON_MEASURES,
        "support": Measure(
            "support recall",
            "fraction of the true non-zero entries among as many largest entries of the estimate",
            rising=True,
        ),
        "coverage": Measure(
            "coverage of 95% intervals",
            "fraction of entries whose 95% interval contains the true entry",
            rising=True,
        ),
        "width": Measure("width of 95% intervals", "mean width of the 95% intervals of the entries"),
    },
    goal=Goal("overlap", above=0.5),
    solvers=("pairwise-moment", "link-free-refinement"),
    measured=signals.index_measured,
    verdict=signals.index_verdict,
    order=(
        "pairwise-moment",
        "sparse-pairwise-moment",
        "link-free-refinement",
        "gamp",
        "spectral-optimal",
        "marginal-mean",
        "sir",
        "phd",
        "save",
        "biht",
        "glm",
    ),
    model_order=("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link"),
    grows=("n", "ratio"),
    falls=("p", "sparsity", "noise", "variance", "flip", "dense-rate", "sparse-rate"),
    asymptotics=signals.index_asymptotics,
    best=signals.index_best,
    why_no_best=why_no_best,
    lines=signals.index_lines,
    margins=signals.index_margins,
)
