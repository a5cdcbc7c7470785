"""Solvers for polynomial networks: those of Soltani & Hegde (2018), and the rivals that they are compared with."""

from lrlab.models.low_rank import LowRankSpec
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank import nuclear_norm
from lrlab.solvers.network import approximate_rom, geco, gfm, rom

NETWORK = "polynomial-network"
MATRICES = (NETWORK, "rank-one-sensing", "inductive-completion", "multilabel-regression")


def number_bytes(spec: LowRankSpec) -> int:
    """Return the size of one number."""
    return 4 if spec.values().get("precision") == "single" else 8


def images(spec: LowRankSpec, columns: int) -> int:
    """Return the memory of the images X V of so many columns, their scaled copies, and factors of that width."""
    return number_bytes(spec) * columns * (2 * spec.measurements + 8 * max(spec.size)) + 2**24


def squares(spec: LowRankSpec, count: int) -> int:
    """Return the memory of so many matrices of the size of L, and of row blocks of the data."""
    rows, columns = spec.size
    return number_bytes(spec) * count * rows * columns + 2**26


def rom_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold G, L, their sum, its eigenvectors and LAPACK's own; Lanczos holds single columns instead."""
    few = images(spec, 4 * spec.true_rank + 20)
    return few if options["projection"] == "lanczos" else few + squares(spec, 8)


def krylov_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold the Krylov space, G times it, and the images of the whole of it."""
    block = 2 * spec.true_rank + int(options["oversampling"])
    blocks = approximate_rom.depth(int(options["blocks"]), spec.size[0])
    return images(spec, block * blocks + 4 * spec.true_rank)


def gfm_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold images of U and V, and a copy of one batch."""
    batches = int(options["fresh_batches"])
    return images(spec, 6 * spec.true_rank) + (spec.data_bytes // batches if batches else 0)


def geco_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold the Krylov space of one eigenvector, and the images of all units."""
    return images(spec, 4 * spec.true_rank + 2 * (1 + int(options["oversampling"])) * int(options["blocks"]))


def convex_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold iterates, gradients and subgradients, LAPACK's own; images of as many columns as W may have ranks."""
    return squares(spec, 20) + images(spec, min(spec.size))


def refuse_wide(spec: LowRankSpec, options: Options) -> None:
    """Refuse ranks above p / 2: a head of rank 2r would be everything."""
    p, r = spec.size[0], spec.true_rank
    if 2 * r > p:
        raise InputError(
            "r", f"at most p / 2 = {p / 2:g} for this solver", r, "lower r or raise p; ep-rom has no limit"
        )


def refuse_batches(spec: LowRankSpec, options: Options) -> None:
    """Refuse more batches than there are samples."""
    batches, m = int(options["fresh_batches"]), spec.measurements
    if batches > m:
        raise InputError("fresh_batches", f"at most the number of samples m = {m}", batches, "lower it, or raise m")


SOLVERS = (
    SolverEntry(
        name="ep-rom",
        title="EP-ROM (exact projections)",
        summary="Projected gradient descent without the bias of the trace; forms the whole p x p gradient.",
        reference="Soltani & Hegde (2018), Algorithm 1",
        run=rom.ep_rom,
        models=(NETWORK,),
        workspace=rom_workspace,
    ),
    SolverEntry(
        name="ap-rom",
        title="AP-ROM (approximate projections)",
        summary="EP-ROM with a block Krylov head of the gradient in place of the gradient; products only.",
        reference="Soltani & Hegde (2018), Algorithms 2-4",
        run=approximate_rom.ap_rom,
        models=(NETWORK,),
        workspace=krylov_workspace,
        refuse=refuse_wide,
    ),
    SolverEntry(
        name="gfm",
        title="gFM (one power step an iteration)",
        summary="Replaces the projection by one power step from the current factors; products only.",
        reference="Lin & Ye (2016), Algorithm 1",
        run=gfm.gfm,
        models=(NETWORK,),
        workspace=gfm_workspace,
        refuse=refuse_batches,
    ),
    SolverEntry(
        name="geco",
        title="GECO (greedy units)",
        summary="Adds one hidden unit after another and refits them all, then replaces the weakest.",
        reference="Shalev-Shwartz, Gonen & Shamir (2011); Livni, Shalev-Shwartz & Shamir (2014)",
        run=geco.geco,
        models=(NETWORK,),
        workspace=geco_workspace,
    ),
    SolverEntry(
        name="nuclear-norm",
        title="Nuclear norm (convex, FASTA)",
        summary="Convex least squares with a nuclear-norm penalty: needs no rank, no start; forms whole matrices.",
        reference="Goldstein, Studer & Baraniuk (2014)",
        run=nuclear_norm.nuclear_norm,
        models=MATRICES,
        workspace=convex_workspace,
    ),
)
