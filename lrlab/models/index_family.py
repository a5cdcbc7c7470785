"""The single-index models (Yi et al. 2015): responses by a sign, a logistic link, a threshold, or any formula."""

from dataclasses import dataclass
from typing import Annotated

from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.models import signals
from lrlab.models.single_index import Noise, SingleIndexSpec
from lrlab.parameters import Parameter, number
from lrlab.theory.finite_best import why_no_best
from lrlab.theory.formula_link import READY, FormulaLink, checked
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink


@dataclass(frozen=True, kw_only=True)
class OneBitSensing(SingleIndexSpec):
    """Signs of noisy projections."""

    model = "one-bit-sensing"
    title = "One-bit compressed sensing"
    summary = "Only the sign of each noisy projection is observed: y = sign(⟨x, b⟩ + σe)."
    equation = (
        r"y_i = \operatorname{sign}(\langle x_i, b\rangle + \sigma e_i), \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.1

    link_function = property(lambda spec: SignLink(spec.noise, flip=spec.flip))


@dataclass(frozen=True, kw_only=True)
class FlippedLogistic(SingleIndexSpec):
    """Logistic responses, some of them flipped."""

    model = "flipped-logistic"
    title = "Flipped logistic regression"
    summary = "P(y = 1) is logistic in ⟨x, b⟩ + intercept; each response is then flipped with a fixed probability."
    equation = (
        r"\mathbb P(y_i = 1) = \frac{1}{1 + e^{-z_i}}, \quad z_i = \langle x_i, b\rangle + \zeta + \sigma e_i,"
        r" \quad \text{then flipped with probability } p_e"
    )

    noise: Noise = 0.0
    flip: Annotated[float, number(0, 0.5, "flip probability", symbol="pₑ")] = 0.0
    intercept: Annotated[float, number(-5, 5, "added to ⟨x, b⟩", symbol="ζ")] = 0.0

    link_function = property(lambda spec: LogisticLink(spec.noise, spec.flip, spec.intercept))


@dataclass(frozen=True, kw_only=True)
class OneBitPhaseRetrieval(SingleIndexSpec):
    """Responses that compare the magnitude of a projection with a threshold."""

    model = "one-bit-phase-retrieval"
    title = "One-bit phase retrieval"
    summary = "Each response tells only whether |⟨x, b⟩ + σe| exceeds the threshold θ: sign and size are lost."
    equation = (
        r"y_i = \operatorname{sign}\bigl(|\langle x_i, b\rangle + \sigma e_i| - \theta\bigr),"
        r" \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.0
    threshold: Annotated[float, number(0, 5, "magnitude above which y = +1", symbol="θ")] = 1.0

    link_function = property(lambda spec: ThresholdLink(spec.noise, spec.threshold, flip=spec.flip))


@dataclass(frozen=True, kw_only=True)
class CustomLink(SingleIndexSpec):
    """Responses by a link that is a formula in z."""

    model = "custom-link"
    title = "Custom link"
    summary = "P(y = 1) = (1 + f(⟨x, b⟩ + σe))/2 for a formula f in z, with values in -1..1, that you type."
    equation = r"\mathbb P(y_i = 1) = \tfrac12\bigl(1 + f(\langle x_i, b\rangle + \sigma e_i)\bigr), \qquad \|b\| = 1"

    noise: Noise = 0.0
    link: Annotated[
        str, Parameter(meaning=f"formula in z such as sin(2z), or one of: {', '.join(READY)}", symbol="f")
    ] = "sin 2z"

    def check(self) -> None:
        """Reject an invalid formula, or one that leaves -1..1."""
        super().check()
        checked(self.link)

    link_function = property(lambda spec: FormulaLink(spec.noise, spec.link, flip=spec.flip))


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
        "fraction_of_best": Measure(
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

ENTRIES = (
    ModelEntry(
        spec=OneBitSensing,
        family=FAMILY,
        main=("n", "p", "sparsity", "noise"),
        plane=("variance", "ratio"),
        along="variance",
    ),
    ModelEntry(
        spec=FlippedLogistic,
        family=FAMILY,
        main=("n", "p", "flip"),
        plane=("flip", "ratio"),
        along="flip",
        along_range=(0.0, 0.3, "linear"),
        ranges={"flip": (0.0, 0.2, "linear"), "ratio": (50.0, 5000.0, "log")},
    ),
    ModelEntry(
        spec=OneBitPhaseRetrieval,
        family=FAMILY,
        main=("n", "p", "threshold"),
        plane=("threshold", "ratio"),
        along="threshold",
        # Noise brings answers of |<x, b>| far from the threshold nearer to it: some of it helps.
        non_monotone=("noise",),
    ),
    ModelEntry(
        spec=CustomLink,
        family=FAMILY,
        main=("n", "p", "link"),
        plane=("flip", "ratio"),
        along="flip",
        # For some links, noise reveals the threshold of the responses.
        non_monotone=("noise",),
    ),
)
