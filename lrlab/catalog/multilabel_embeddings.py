"""Multi-label learning by embeddings: ranking with WARP, Bayesian compressed sensing, and LEML with kernels."""

from lrlab.catalog.entry import Options, SolverEntry
from lrlab.catalog.multilabel import MODEL, needs_no_more_than_has, rank_of
from lrlab.models.multilabel import Multilabel
from lrlab.solvers import warp_loss, warp_sampling, wsabie


def ranking(spec: Multilabel, options: Options) -> int:
    """Return bytes of embeddings with their steps, of a batch, of the rows watched and of the places of labels."""
    k, batch = rank_of(spec, options), int(options["batch"])
    embeddings = 8 * 8 * k * sum(spec.size)
    sampled = 8 * 3 * warp_sampling.GATHERED + 8 * batch * (6 * k + min(spec.labels, warp_sampling.FEW))
    watched = 8 * 6 * max(warp_loss.ENTRIES, spec.labels) + 16 * warp_loss.ROWS * spec.d
    return embeddings + sampled + watched + 32 * spec.n * spec.per_row


SOLVERS = (
    SolverEntry(
        name="wsabie",
        title="WSABIE",
        summary="Embeds rows and labels by stochastic gradients on a ranking loss that samples the labels in the way.",
        reference="Weston, Bengio, Usunier (2011), Algorithm 1",
        run=wsabie.wsabie,
        models=MODEL,
        workspace=ranking,
        refuse=needs_no_more_than_has,
    ),
)
