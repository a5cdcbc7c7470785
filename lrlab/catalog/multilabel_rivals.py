"""Rivals of LEML: convex multi-label learning with a trace norm, and support vector machines."""

from lrlab.catalog.multilabel import BLOCKS, MODEL, YU
from lrlab.models.multilabel import Multilabel
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import svm, trace_norm


def matrices(spec: Multilabel, options: Options) -> int:
    """Return bytes of matrices (d, L) with their decompositions, of images of three of them, and of entries seen."""
    (d, L), narrow = spec.size, min(spec.size)
    seen = 0 if spec.complete else 80 * spec.seen_entries
    return BLOCKS + 8 * 20 * d * L + 8 * narrow * (7 * spec.n + 8 * (d + L)) + seen


def one_by_one(spec: Multilabel, options: Options) -> int:
    """Return bytes of some matrices (d, L), and of the rows of a label, which scikit-learn copies."""
    one = 8 if spec.density == 1 else 12
    return BLOCKS + 8 * 8 * spec.d * spec.labels + 3 * one * spec.feature_entries + 17 * spec.n * spec.labels


SOLVERS = (
    SolverEntry(
        name="trace-norm-squared",
        title="Trace norm, squared loss",
        summary="One convex problem for all labels: least squares, with low rank by its weight alone; the optimum "
        "that leml-squared looks for.",
        reference=f"{YU}, section 4; Beck, Teboulle (2009), FISTA",
        run=trace_norm.trace_norm_squared,
        models=MODEL,
        workspace=matrices,
    ),
    SolverEntry(
        name="trace-norm-logistic",
        title="Trace norm, logistic loss",
        summary="The same for logistic regression; often ranks labels best, but forms all of W at every step.",
        reference=f"{YU}, section 4; Beck, Teboulle (2009), FISTA",
        run=trace_norm.trace_norm_logistic,
        models=MODEL,
        workspace=matrices,
    ),
    SolverEntry(
        name="svm",
        title="Support vector machines",
        summary="The widest margin for each label by itself; full rank, as binary relevance is.",
        reference="Hsieh, Chang, Lin, Keerthi, Sundararajan (2008); scikit-learn",
        run=svm.svm,
        models=MODEL,
        workspace=one_by_one,
    ),
)
