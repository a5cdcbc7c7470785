"""The memory of solvers of phase retrieval, and what theory predicts of their common start."""

from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.solver_entry import Options
from lrlab.solvers.phase_retrieval.phase_start import KRYLOV
from lrlab.theory import phase


def vectors_workspace(spec: PhaseRetrieval, options: Options) -> int:
    """Hold a dozen vectors of length m; the Krylov vectors of the start and a few more of length p."""
    return 16 * (12 * spec.m + (KRYLOV + 16) * spec.p) + 2**20


def predict_start(spec: PhaseRetrieval, options: Options) -> dict[str, float]:
    """Return the overlap of the start, which is the first iterate, in the limit of large m and p."""
    overlap = phase.start_overlap(spec.m / spec.p, spec.field, str(options["start"]), noise=spec.noise, data=spec.data)
    return {"predicted_start_overlap": overlap}
