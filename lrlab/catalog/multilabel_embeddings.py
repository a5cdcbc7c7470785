"""Multi-label learning by embeddings: ranking with WARP, Bayesian compressed sensing, and LEML with kernels."""

from lrlab import ranking
from lrlab.catalog.multilabel import MODEL, YU, every_entry, factors, needs_no_more_than_has, rank_of, spectrum
from lrlab.models.multilabel import FRESH, Multilabel
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import (
    bcs,
    compressed_labels,
    kernel_features,
    kernel_leml,
    kernels,
    warp_loss,
    warp_sampling,
    wsabie,
)


def warp(spec: Multilabel, options: Options) -> int:
    """Return bytes of embeddings with their steps, of a batch, of the rows watched and of the places of labels."""
    k, batch = rank_of(spec, options), int(options["batch"])
    embeddings = 8 * 8 * k * sum(spec.size)
    sampled = 8 * 3 * warp_sampling.GATHERED + 8 * batch * (6 * k + min(spec.labels, warp_sampling.FEW))
    watched = 8 * 6 * max(warp_loss.ENTRIES, spec.labels) + 16 * warp_loss.ROWS * spec.feature_entries // spec.n
    return embeddings + sampled + watched + 32 * spec.n * spec.per_row


def kernels_of(spec: Multilabel, options: Options) -> int:
    """Return bytes of kernel features and of what leads to them, of rows in their units, and of LEML on features."""
    m = kernel_features.landmark_count(spec.n, int(options["landmarks"]))
    tables = 8 * (3 * m * m if m == spec.n else 2 * spec.n * m + 2 * m * m)
    rows = 16 * 2 * spec.feature_entries + 8 * 3 * spec.d
    blocks = 8 * (6 * kernels.SAMPLE**2 + 3 * kernels.BLOCK + kernel_features.ROWS * m)
    leml = (factors if options["loss"] == "squared" else every_entry)(spec, options)
    return tables + rows + blocks + leml + 8 * 10 * rank_of(spec, options) * m


def compressed(spec: Multilabel, options: Options) -> int:
    """Return bytes of projections, the spectrum of features, systems of a block, predictions, and of unseen labels."""
    k = bcs.projections(float(options["ratio"]), spec.labels, spec.rank)
    projected = 8 * (6 * spec.n * k + 4 * k * (spec.d + spec.labels)) + spectrum(spec)
    predictions = 8 * FRESH * k + 8 * min(compressed_labels.CACHED_BLOCKS * ranking.BLOCK_ENTRIES, FRESH * spec.labels)
    blocks = 8 * 6 * max(compressed_labels.BLOCK, k * max(k, spec.labels)) + 8 * 4 * ranking.BLOCK_ENTRIES
    return projected + predictions + blocks + (8 * 3 * spec.n * spec.labels if spec.observed < 1 else 0)


SOLVERS = (
    SolverEntry(
        name="wsabie",
        title="WSABIE",
        summary="Embeds rows and labels by stochastic gradients on a ranking loss that samples the labels in the way.",
        reference="Weston, Bengio, Usunier (2011), Algorithm 1",
        run=wsabie.wsabie,
        models=MODEL,
        workspace=warp,
        refuse=needs_no_more_than_has,
    ),
    SolverEntry(
        name="kernel-leml",
        title="LEML with a kernel",
        summary="LEML on the features of a Gaussian or polynomial kernel: for labels that no hyperplane tells apart.",
        reference=f"{YU}, section 3; Williams, Seeger (2001)",
        run=kernel_leml.kernel_leml,
        models=MODEL,
        workspace=kernels_of,
        refuse=needs_no_more_than_has,
    ),
    SolverEntry(
        name="bcs",
        title="Bayesian compressed sensing",
        summary="Predicts random projections of the labels, and sparse labels from these, all in one Bayesian model.",
        reference=f"Kapoor, Viswanathan, Jain (2012), section 3; {YU}, section 5",
        run=bcs.bcs,
        models=MODEL,
        workspace=compressed,
    ),
)
