"""One-bit labels: their model, Algorithm 1 of Qiu et al. (2017), likelihood steps, and rivals on the same batches."""

from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import svm, trace_norm
from lrlab.solvers.one_bit_multilabel import (
    one_bit_leml,
    one_bit_likelihood,
    one_bit_mean,
    one_bit_power,
    one_bit_trace_norm,
)

MODELS = (OneBitMultilabel,)
MODEL = (OneBitMultilabel.model,)

BLOCKS = 2**26
"""Margins, residuals and products of the block that is read."""


def moments(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of the moment, of what a block adds to it, and of its scaled copies."""
    return BLOCKS + 8 * 6 * spec.d1 * spec.d2


def table(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of a batch as one table and what is copied of it, of signs in some forms, of matrices and images."""
    signs = 32 * spec.m * spec.d2 if spec.observation == "full" else 200 * spec.m
    matrices = 8 * 20 * spec.d1 * spec.d2 + 60 * min(spec.size) * (spec.m + sum(spec.size))
    return BLOCKS + 2 * 8 * spec.m * spec.d1 + signs + matrices


def _needs_no_more_than_has(spec: OneBitMultilabel, options: Options) -> None:
    most = min(spec.size)
    if int(options["fitted_rank"]) > most:
        expected = f"at most min(d1, d2) = {most}"
        raise InputError("fitted_rank", expected, options["fitted_rank"], "lower fitted_rank, or raise d1 and d2")


def _all_labels(spec: OneBitMultilabel, options: Options) -> None:
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")


QIU = "Qiu, Luo, Ye, Lin (2017)"

SOLVERS = (
    SolverEntry(
        name="one-bit-power",
        title="One-bit power iteration",
        summary="Adds what a batch contradicts to the estimate, then one step of power iteration to the rank.",
        reference=f"{QIU}, Algorithm 1",
        run=one_bit_power.one_bit_power,
        models=MODEL,
        streams=True,
        workspace=moments,
        refuse=_needs_no_more_than_has,
    ),
    SolverEntry(
        name="one-bit-likelihood",
        title="One-bit likelihood steps",
        summary="The same with scores of a fitted likelihood, each batch weighed by its information: goes on "
        "improving under noise and flips, which it need not know.",
        reference=f"Opper (1998); {QIU}",
        run=one_bit_likelihood.one_bit_likelihood,
        models=MODEL,
        streams=True,
        workspace=moments,
        refuse=_needs_no_more_than_has,
    ),
    SolverEntry(
        name="leml-squared",
        title="LEML, squared loss",
        summary="Alternates between the factors of a low-rank predictor by least squares, once on each batch.",
        reference="Yu, Jain, Kar, Dhillon (2014), Algorithm 1",
        run=one_bit_leml.one_bit_leml,
        models=MODEL,
        workspace=table,
        refuse=_needs_no_more_than_has,
    ),
    SolverEntry(
        name="marginal-mean",
        title="Marginal means",
        summary="The mean of x times sign for each label by itself: the full-rank baseline, and without iterations.",
        reference=f"Plan & Vershynin (2013); {QIU}, Lemma 1",
        run=one_bit_mean.one_bit_mean,
        models=MODEL,
        streams=True,
        workspace=moments,
        refuse=_needs_no_more_than_has,
    ),
    SolverEntry(
        name="trace-norm-squared",
        title="Trace norm, squared loss",
        summary="Least squares on a table of all signs, with low rank by the weight of the trace norm; convex.",
        reference=f"Yu, Jain, Kar, Dhillon (2014), section 4; SMT in {QIU}",
        run=one_bit_trace_norm.one_bit_trace_norm,
        models=MODEL,
        workspace=table,
        refuse=_all_labels,
    ),
    SolverEntry(
        name="trace-norm-logistic",
        title="Trace norm, logistic loss",
        summary="The same for logistic regression.",
        reference=f"Yu, Jain, Kar, Dhillon (2014), section 4; LRT in {QIU}",
        run=trace_norm.trace_norm_logistic,
        models=MODEL,
        workspace=table,
        refuse=_all_labels,
    ),
    SolverEntry(
        name="svm",
        title="Support vector machines",
        summary="The widest margin for each label of a table by itself; full rank, and slow.",
        reference=f"scikit-learn's LinearSVC; SVM in {QIU}",
        run=svm.svm,
        models=MODEL,
        workspace=table,
        refuse=_all_labels,
    ),
)
