"""Solvers that recover a low-rank matrix from general linear measurements."""

from typing import Any

from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank import altmin, completion, scaled_gradient, singular_projection, starts

SENSING, COMPLETION, REGRESSION = "rank-one-sensing", "inductive-completion", "multilabel-regression"
NETWORK = "polynomial-network"

BLOCKS = 2**25
"""Row blocks of the data that are weighted or multiplied."""


def _itemsize(spec: Any) -> int:
    return 4 if spec.values().get("precision") == "single" else 8


def images(spec: Any, options: Options) -> int:
    """Return bytes of a dozen images and factors of the estimate, and of matrices of the size of the truth."""
    (d1, d2), rows = spec.size, max(spec.measurements, *getattr(spec, "table", (0, 0)))
    return BLOCKS + _itemsize(spec) * (12 * spec.true_rank * (rows + d1 + d2) + 8 * spec.measurements)


def moment(spec: Any, options: Options) -> int:
    """Return bytes of the images, and of a matrix d1 x d2 that is formed and decomposed, or of its Krylov space."""
    d1, d2 = spec.size
    krylov = 2 * (spec.true_rank + starts.OVERSAMPLED) * starts.DEPTH * (d1 + d2)
    whole = d1 * d2 <= starts.FORMED or spec.values().get("operator") == "dense"
    return images(spec, options) + _itemsize(spec) * (6 * d1 * d2 if whole else krylov)


def normal_equations(spec: Any, options: Options) -> int:
    """Return bytes of the above, and of the normal equations of a factor where they are formed."""
    unknowns = min(spec.true_rank * max(spec.size), 600)
    return moment(spec, options) + 3 * _itemsize(spec) * unknowns**2


def path_tables(spec: Any, options: Options) -> int:
    """Return bytes of tables of intermediate rank, decomposed whole where they are small."""
    n1, n2 = spec.table
    return BLOCKS + 64 * spec.measurements + 8 * 8 * min(n1 * n2, 400 * (n1 + n2))


def _refuse_batches(spec: Any, options: Options) -> None:
    sweeps = int(options["fresh_samples"])
    if sweeps and 2 * sweeps + 1 > spec.measurements:
        most = (spec.measurements - 1) // 2
        expected = f"at most {most}, since it takes 2H+1 batches of {spec.measurements} measurements"
        raise InputError("fresh_samples", expected, sweeps, f"lower it to {most}, or leave it 0 to reuse all samples")


def _needs_plain_entries(spec: Any, options: Options) -> None:
    if spec.values().get("features") != "canonical":
        got, remedy = spec.values().get("features"), "set features=canonical, or take altmin, which uses features"
        raise InputError("features", "canonical for this solver, which completes a table without features", got, remedy)


SOLVERS = (
    SolverEntry(
        name="altmin",
        title="Alternating minimisation (AltMin-LRROM)",
        summary="Least squares for each factor in turn, orthonormalised between, from a spectral start.",
        reference="Jain, Dhillon (2013), Algorithm 1",
        run=altmin.altmin,
        models=(SENSING, COMPLETION, REGRESSION),
        workspace=normal_equations,
        refuse=_refuse_batches,
    ),
    SolverEntry(
        name="scaled-gradient",
        title="Scaled gradient descent",
        summary="Factor gradients scaled so that the condition number does not matter, with an exact line search.",
        reference="Tong, Ma, Chi (2021); Polak, Ribiere (1969)",
        run=scaled_gradient.scaled_gradient,
        models=(SENSING, COMPLETION, REGRESSION, NETWORK),
        workspace=moment,
    ),
    SolverEntry(
        name="svp",
        title="Singular value projection",
        summary="Gradient steps on the matrix, each projected to the rank; made for measurements with an isometry.",
        reference="Jain, Meka, Dhillon (2010), Algorithm 1; Tanner, Wei (2013)",
        run=singular_projection.singular_value_projection,
        models=(SENSING, COMPLETION),
        workspace=moment,
    ),
    SolverEntry(
        name="soft-impute",
        title="Soft-impute (nuclear norm)",
        summary="Convex completion by the nuclear norm along a path of penalties; needs no rank and no features.",
        reference="Mazumder, Hastie, Tibshirani (2010), Algorithm 1; Yao, Kwok (2015)",
        run=completion.soft_impute,
        models=(COMPLETION,),
        workspace=path_tables,
        refuse=_needs_plain_entries,
    ),
    SolverEntry(
        name="als",
        title="Alternating least squares",
        summary="Completion without features: every row of each factor by its own small least squares, with a ridge.",
        reference="Zhou, Wilkinson, Schreiber, Pan (2008); Koren, Bell, Volinsky (2009)",
        run=completion.als,
        models=(COMPLETION,),
        workspace=images,
        refuse=_needs_plain_entries,
    ),
)
