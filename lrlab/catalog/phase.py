"""Phase retrieval and the solvers that recover it."""

from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.phase_retrieval import alternating_projections, amplitude_flow, phase_gauss_newton, wirtinger
from lrlab.solvers.phase_retrieval.phase_start import KRYLOV
from lrlab.theory import phase

MODELS = (PhaseRetrieval,)
ALL = (PhaseRetrieval.model,)


def refuse_projections(spec: PhaseRetrieval, options: Options) -> None:
    """Refuse least squares that fit any phases whatsoever."""
    if spec.m <= spec.p:
        remedy = f"raise m or lower p to {max(2, spec.m - 1)}: else least squares fits whatever phases are guessed"
        raise InputError("m", f"more than p = {spec.p} for this solver", spec.m, remedy)


def vectors_workspace(spec: PhaseRetrieval, options: Options) -> int:
    """Hold a dozen vectors of length m; the Krylov vectors of the start and a few more of length p."""
    return 16 * (12 * spec.m + (KRYLOV + 16) * spec.p) + 2**20


def gram_workspace(spec: PhaseRetrieval, options: Options) -> int:
    """Hold A^* A, its conjugate while it is made, and vectors."""
    return 2 * spec.entry_bytes * spec.p**2 + vectors_workspace(spec, options)


def predict_start(spec: PhaseRetrieval, options: Options) -> dict[str, float]:
    """Return the overlap of the start, which is the first iterate, in the limit of large m and p."""
    overlap = phase.start_overlap(spec.m / spec.p, spec.field, str(options["start"]), noise=spec.noise, data=spec.data)
    return {"predicted_start_overlap": overlap}


SOLVERS = (
    SolverEntry(
        name="alternating-projections",
        title="Alternating projections",
        summary="Guesses the phases from the current estimate and solves least squares with them, again and again.",
        reference="Netrapalli, Jain, Sanghavi (2013), Algorithm 1",
        run=alternating_projections.alternating_projections,
        models=ALL,
        workspace=gram_workspace,
        refuse=refuse_projections,
        predict=predict_start,
    ),
    SolverEntry(
        name="wirtinger-flow",
        title="Wirtinger flow",
        summary="Descends on squared magnitudes, along conjugate directions to the exact minimum of each line.",
        reference="Candes, Li, Soltanolkotabi (2015)",
        run=wirtinger.wirtinger_flow,
        models=ALL,
        workspace=vectors_workspace,
        predict=predict_start,
    ),
    SolverEntry(
        name="truncated-amplitude-flow",
        title="Truncated amplitude flow",
        summary="Descends on magnitudes, leaving out measurements whose phase is doubtful.",
        reference="Wang, Giannakis, Eldar (2018), Algorithm 1",
        run=amplitude_flow.truncated_amplitude_flow,
        models=ALL,
        workspace=vectors_workspace,
        predict=predict_start,
    ),
    SolverEntry(
        name="reweighted-amplitude-flow",
        title="Reweighted amplitude flow",
        summary="Descends on magnitudes, with little weight on measurements whose phase is doubtful.",
        reference="Wang, Giannakis, Saad, Chen (2018), Algorithm 1",
        run=amplitude_flow.reweighted_amplitude_flow,
        models=ALL,
        workspace=vectors_workspace,
        predict=predict_start,
    ),
    SolverEntry(
        name="gauss-newton",
        title="Gauss-Newton",
        summary="Damped Gauss-Newton from a spectral start: few iterations, and the fewest measurements.",
        reference="after Gao & Xu (2017), damped as in Levenberg-Marquardt",
        run=phase_gauss_newton.phase_gauss_newton,
        models=ALL,
        workspace=vectors_workspace,
        predict=predict_start,
    ),
)
