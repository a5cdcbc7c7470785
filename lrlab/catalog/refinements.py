"""Solvers that go beyond the paper: likelihood for one-bit phase retrieval, and refinement without the link."""

from lrlab.catalog.rival_requirements import needs_room, sparse_size
from lrlab.catalog.single_index import ALL, VANISHING, needs_samples
from lrlab.models.single_index import OneBitPhaseRetrieval, SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.single_index import link_free, phase_likelihood
from lrlab.solvers.single_index.cross_fitting import FOLDS


def refuse_phase_likelihood(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse too few measurements, and thresholds that all magnitudes exceed."""
    needs_samples(spec)
    moments = spec.link.moments
    if abs(moments.mu2 - moments.mu0) < VANISHING:
        remedy = "raise the threshold: every magnitude exceeds it, so that all answers are the same"
        raise InputError("threshold", "above 0 for this solver", spec.values()["threshold"], remedy)


def refuse_link_free(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse too few measurements for the entries kept, and links that neither moment sees."""
    needs_room(spec, options)
    entries = sparse_size(spec, options)
    if spec.n < 2 * entries:
        remedy = f"raise n, or keep at most {max(1, spec.n // 2)} entries (kept)"
        raise InputError("n", f"at least twice the {entries} entries kept = {2 * entries}", spec.n, remedy)
    mu0, mu1, mu2 = spec.link.moments
    if max(abs(mu1), abs(mu2 - mu0)) < VANISHING:
        expected = "one whose answers depend on <x, b>, in mu_1 or mu_2 - mu_0"
        remedy = "lower the flip below 0.5, or raise the threshold above 0: such a link carries nothing"
        raise InputError("link", expected, f"a constant on {spec.model}", remedy)


def square_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the moments of both answers, their difference, LAPACK's own; a dozen vectors of length n."""
    return 48 * spec.p**2 + 100 * spec.n + 2**26


def cross_fit_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold indices, trial indices and weights of all columns, the spline of every row; columns of length p."""
    columns = FOLDS + 1
    return 8 * spec.n * (5 * columns + 40) + 8 * spec.p * 16 * columns + 2**26


SOLVERS = (
    SolverEntry(
        name="phase-likelihood",
        title="Likelihood refinement (phase retrieval)",
        summary="Maximum likelihood from a spectral start; knows the threshold and the noise.",
        reference="Chen & Yuan (2024), for the rate",
        run=phase_likelihood.phase_likelihood,
        models=(OneBitPhaseRetrieval.model,),
        knows=("link",),
        workspace=square_workspace,
        refuse=refuse_phase_likelihood,
    ),
    SolverEntry(
        name="link-free-refinement",
        title="Link-free refinement",
        summary="Estimates the unknown link and the signal in turn; nearly as accurate as methods that know the link.",
        reference="after Hardle, Hall & Ichimura (1993); Delecroix, Hristache & Patilea (2006)",
        run=link_free.link_free_refinement,
        models=ALL,
        workspace=cross_fit_workspace,
        refuse=refuse_link_free,
    ),
)
