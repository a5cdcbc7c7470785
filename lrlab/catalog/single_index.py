"""Single-index models and the solvers that recover them."""

from lrlab.models.single_index import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing, SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.single_index import pairwise, sparse_pairwise
from lrlab.theory import spiked

MODELS = (OneBitSensing, FlippedLogistic, OneBitPhaseRetrieval)
ALL = tuple(spec.model for spec in MODELS)
MONOTONE = (OneBitSensing.model, FlippedLogistic.model)

# Below this size of a moment the answers carry no direction that a method built on it could find.
VANISHING = 1e-9


def needs_samples(spec: SingleIndexSpec, factor: int = 2) -> None:
    """Refuse fewer measurements than `factor` times the length of the signal."""
    if spec.n < factor * spec.p:
        expected = f"at least {factor}p = {factor * spec.p} for this solver"
        raise InputError("n", expected, spec.n, f"raise n or lower p to {max(2, spec.n // factor)}")


def needs_first_moment(spec: SingleIndexSpec) -> None:
    """Refuse links with mu_1 = E[f(Z) Z] = 0, whose mean of y x says nothing."""
    if abs(spec.link.moments.mu1) < VANISHING:
        _refuse_blind(spec, "mu_1 = E[f(Z) Z]", "take a solver that uses second moments, such as pairwise-moment")


def needs_second_moment(spec: SingleIndexSpec) -> None:
    """Refuse links with mu_2 = mu_0, whose mean of y x x^T says nothing (all odd links)."""
    moments = spec.link.moments
    if abs(moments.mu2 - moments.mu0) < VANISHING:
        _refuse_blind(spec, "mu_2 - mu_0 = E[f(Z) (Z^2 - 1)]", "take marginal-mean or pairwise-moment")


def needs_gap(spec: SingleIndexSpec) -> None:
    """Refuse links with phi = 0, for which neither M nor M' has a population gap."""
    if abs(spec.link.moments.phi) < VANISHING:
        _refuse_blind(spec, "phi = mu_1^2 - mu_0 mu_2 + mu_0^2", "lower the noise or flip, or move the threshold")


def _refuse_blind(spec: SingleIndexSpec, quantity: str, remedy: str) -> None:
    raise InputError("link", f"one with {quantity} other than 0 for this solver", f"0 on {spec.model}", remedy)


def _refuse_pairwise(spec: SingleIndexSpec, options: Options) -> None:
    needs_samples(spec)
    needs_gap(spec)


def predict_pairwise(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the limits of Lu & Li for consecutive pairs."""
    if options["pairs"] != "consecutive":
        return {}
    p = spiked.predict(spec.link.moments, spec.n / spec.p, str(options["moment"]))
    return {"predicted_overlap": p.overlap, "predicted_top": p.top, "predicted_second": p.second}


def _refuse_sparse_pairwise(spec: SingleIndexSpec, options: Options) -> None:
    needs_gap(spec)
    if int(options["kept"]) > spec.p:
        remedy = "lower it, or leave it 0 for the signal's own number"
        raise InputError("kept", f"in 0..p = {spec.p}", options["kept"], remedy)


def ten_squares(spec: SingleIndexSpec, options: Options) -> int:
    """M, the matrices P, Q, W of the Fantope problem with their successors, LAPACK's own; blocks of measurements."""
    return 80 * spec.p**2 + 2**26


def two_squares(spec: SingleIndexSpec, options: Options) -> int:
    """Two p x p matrices and blocks of measurements."""
    return 16 * spec.p**2 + 2**26


SOLVERS = (
    SolverEntry(
        name="pairwise-moment",
        title="Pairwise moment (Algorithm 1)",
        summary="Leading eigenvector of a second moment of differences; needs no knowledge of the link.",
        reference="Yi, Wang, Caramanis, Liu (2015), Algorithm 1",
        run=pairwise.pairwise_moment,
        models=ALL,
        streams=True,
        workspace=two_squares,
        refuse=_refuse_pairwise,
        predict=predict_pairwise,
    ),
    SolverEntry(
        name="sparse-pairwise-moment",
        title="Sparse pairwise moment (Algorithm 2)",
        summary="Sparse leading eigenvector of the same second moment: a convex start, then truncated power iteration.",
        reference="Yi, Wang, Caramanis, Liu (2015), Algorithm 2; Vu, Cho, Lei, Rohe (2013)",
        run=sparse_pairwise.sparse_pairwise_moment,
        models=ALL,
        streams=True,
        workspace=ten_squares,
        refuse=_refuse_sparse_pairwise,
    ),
)
