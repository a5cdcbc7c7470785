"""Multi-label learning: its model, LEML with three losses, and closed-form and full-rank baselines."""

from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import binary_relevance, cplst, leml

MODELS = (Multilabel,)
MODEL = (Multilabel.model,)

BLOCKS = 2**26
"""Blocks of the label table, of scores and of the features that are multiplied."""


def rank_of(spec: Multilabel, options: Options) -> int:
    """Return the rank of the estimate."""
    return min(int(options["fitted_rank"]) or spec.rank, *spec.size)


def factors(spec: Multilabel, options: Options) -> int:
    """Return bytes of some images and factors, and of the entries seen where some are not."""
    seen = 0 if spec.complete else 80 * spec.seen_entries
    return BLOCKS + 8 * 10 * rank_of(spec, options) * (spec.n + sum(spec.size)) + seen


def spectrum(spec: Multilabel) -> int:
    """Return bytes of the smaller of X^T X and X X^T, which sparse products first make sparse, and its eigenvectors."""
    return 40 * min(spec.n, spec.d) ** 2


def squared(spec: Multilabel, options: Options) -> int:
    """Return bytes of the above, with the decomposition where the factor of features is found exactly."""
    return factors(spec, options) + (spectrum(spec) if options["inner"] == "exact" else 0)


def every_entry(spec: Multilabel, options: Options) -> int:
    """Return bytes of factors and of one number for every label seen."""
    return factors(spec, options) + 8 * spec.seen_entries


def transformation(spec: Multilabel, options: Options) -> int:
    """Return bytes of the decomposition of the features, of X^T Y and of label directions."""
    return BLOCKS + spectrum(spec) + 8 * (4 * spec.d * spec.labels + 4 * spec.labels**2)


def full_rank(spec: Multilabel, options: Options) -> int:
    """Return bytes of some matrices (d, L), of a block of scores, and of the normal equations where they are formed."""
    closed = options["loss"] == "squared" and spec.complete and min(spec.n, spec.d) <= binary_relevance.CLOSED
    scores = 17 * spec.n * (spec.labels if spec.complete else min(spec.labels, binary_relevance.TOGETHER))
    return BLOCKS + 8 * 10 * spec.d * spec.labels + scores + (spectrum(spec) if closed else 0)


def needs_no_more_than_has(spec: Multilabel, options: Options) -> None:
    """Refuse ranks that no W of the problem's size has."""
    most = min(spec.size)
    if int(options["fitted_rank"]) > most:
        expected = f"at most min(d, labels) = {most}"
        raise InputError("fitted_rank", expected, options["fitted_rank"], "lower fitted_rank, or raise d and labels")


def _squared(spec: Multilabel, options: Options) -> None:
    needs_no_more_than_has(spec, options)
    leml.require_all(spec.complete, str(options["inner"]))


def _all_labels(spec: Multilabel, options: Options) -> None:
    needs_no_more_than_has(spec, options)
    if not spec.complete:
        name, value = ("observed", 1) if spec.observed < 1 else ("seen_per_row", 0)
        remedy = f"set {name}={value}, or take leml-squared or binary-relevance"
        got = spec.values()[name]
        raise InputError(name, f"{value} for this solver, whose closed form needs all labels", got, remedy)


YU = "Yu, Jain, Kar, Dhillon (2014)"

SOLVERS = (
    SolverEntry(
        name="leml-squared",
        title="LEML, squared loss",
        summary="Alternates between the factors of a low-rank predictor; least squares on the labels that are seen.",
        reference=f"{YU}, Algorithms 1-3",
        run=leml.leml_squared,
        models=MODEL,
        workspace=squared,
        refuse=_squared,
    ),
    SolverEntry(
        name="leml-logistic",
        title="LEML, logistic loss",
        summary="The same by trust-region Newton steps for logistic regression; often the best ranking of all labels.",
        reference=f"{YU}, Algorithm 1; Lin, Weng, Keerthi (2008)",
        run=leml.leml_logistic,
        models=MODEL,
        workspace=every_entry,
        refuse=needs_no_more_than_has,
    ),
    SolverEntry(
        name="leml-squared-hinge",
        title="LEML, squared hinge loss",
        summary="The same by trust-region Newton steps for the squared hinge loss of support vector machines.",
        reference=f"{YU}, Algorithm 1; Lin, Weng, Keerthi (2008)",
        run=leml.leml_squared_hinge,
        models=MODEL,
        workspace=every_entry,
        refuse=needs_no_more_than_has,
    ),
    SolverEntry(
        name="cplst",
        title="CPLST",
        summary="Label directions that features predict best, in closed form; needs all labels.",
        reference=f"Chen, Lin (2012); {YU}, Claims 1 and 2",
        run=cplst.cplst,
        models=MODEL,
        workspace=transformation,
        refuse=_all_labels,
    ),
    SolverEntry(
        name="plst",
        title="PLST",
        summary="Principal directions of the labels, whatever features predict, in closed form; needs all labels.",
        reference="Tai, Lin (2012)",
        run=cplst.plst,
        models=MODEL,
        workspace=transformation,
        refuse=_all_labels,
    ),
    SolverEntry(
        name="binary-relevance",
        title="Binary relevance",
        summary="A linear classifier for each label by itself: the full-rank baseline that low rank has to beat.",
        reference=f"{YU}, section 5.2; scikit-learn",
        run=binary_relevance.binary_relevance,
        models=MODEL,
        workspace=full_rank,
    ),
)
