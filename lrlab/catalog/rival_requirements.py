"""What the rivals of Algorithm 1 require, what they cost, and what theory says of them."""

from lrlab.catalog.single_index import VANISHING, needs_first_moment, needs_samples, needs_second_moment
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.solver_entry import Options
from lrlab.theory import limits, principal_hessian


def sparse_size(spec: SingleIndexSpec, options: Options) -> int:
    """Return the number of entries that a sparse solver keeps (a picture's own is only known once it is drawn)."""
    return int(options["kept"]) or spec.sparsity or spec.p


def needs_room(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse to keep more entries than there are."""
    if int(options["kept"]) > spec.p:
        remedy = "lower it, or leave it 0 for the signal's own number"
        raise InputError("kept", f"in 0..p = {spec.p}", options["kept"], remedy)


def refuse_subset(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links that subset-logistic cannot see, and fewer than two measurements for each entry kept."""
    needs_first_moment(spec)
    needs_room(spec, options)
    s = sparse_size(spec, options)
    if spec.n < 2 * s:
        expected = f"at least twice the {s} entries kept = {2 * s} for this solver"
        raise InputError("n", expected, spec.n, f"raise n, or keep at most {max(1, spec.n // 2)} entries (kept)")


def refuse_first_moment(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links whose mean of y x says nothing, and to keep more entries than there are."""
    needs_first_moment(spec)
    needs_room(spec, options)


def refuse_sir(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer measurements than the inverse covariance wants, and links whose mean of y x says nothing."""
    needs_samples(spec)
    needs_first_moment(spec)


def refuse_phd(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer measurements than the inverse moment wants, and links whose mean of y x x^T says nothing."""
    if options["whitening"] == "sample":
        needs_samples(spec)
    needs_second_moment(spec)


def refuse_save(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer measurements than the inverse covariance wants, and links that leave the variance as it is."""
    needs_samples(spec)
    mu0, mu1, mu2 = spec.link.moments
    # 1 - Var(z | y = +-1), for each answer that is ever given.
    changes = [1 - (1 + a * mu2) / (1 + a * mu0) + (mu1 / (1 + a * mu0)) ** 2 for a in (1, -1) if 1 + a * mu0 > 0]
    if max(map(abs, changes)) < VANISHING:
        expected = "one whose answers change the variance of <x, b> for this solver"
        raise InputError("link", expected, f"none on {spec.model}", "lower the noise or flip, or move the threshold")


def refuse_regression(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links whose mean of y x says nothing: their likelihood is greatest at b = 0."""
    needs_first_moment(spec)


def refuse_sparse_regression(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links whose mean of y x says nothing, and folds with fewer than two measurements."""
    needs_first_moment(spec)
    least = 2 * int(options["folds"])
    if spec.n < least:
        raise InputError("n", f"at least twice the folds = {least} for this solver", spec.n, "raise n or lower folds")


def predict_marginal_mean(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the overlap of the dense mean of y x."""
    if spec.side or sparse_size(spec, options) < spec.p:
        return {}
    return {"predicted_overlap": limits.marginal_mean_overlap(spec.link.moments, spec.n / spec.p)}


def predict_sir(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the overlap of least squares."""
    return {"predicted_overlap": limits.least_squares_overlap(spec.link.moments, spec.n / spec.p)}


def predict_phd(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the overlap of principal Hessian directions."""
    limit = principal_hessian.predict(spec.link.moments, spec.n / spec.p, str(options["whitening"]))
    return {"predicted_overlap": limit.overlap}


def subset_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the columns kept, twice weighted, and their Hessian; a few vectors of length n and p."""
    s = sparse_size(spec, options) + 1
    return 8 * (3 * spec.n * s + 3 * s * s + 16 * (spec.n + spec.p)) + 2**20


def moment_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the moments of both answers, a whitened one, its factors, LAPACK's own; blocks of measurements."""
    return 64 * spec.p**2 + 2**26


def vector_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold a few vectors of length n and p."""
    return 128 * (spec.n + spec.p) + 2**20


def folds_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the measurements of every fold, and the columns of one fit three times at most."""
    return 8 * (int(options["folds"]) + 3) * spec.n * (spec.p + 16) + 2**24


def small_workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold a few vectors of length p, and blocks of measurements."""
    return 64 * spec.p + 2**26
