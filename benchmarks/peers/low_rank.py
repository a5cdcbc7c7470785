"""Low-rank matrices: networks and rank-one sensing by L-BFGS of PyTorch and conjugate gradients of pymanopt.

The peers know the same (the rank, and of networks the signs that the start shows) and begin from the same spectral
start, whose time counts as theirs.
"""

from typing import Any

import numpy as np

from benchmarks.peers.frame import Contest, Entrant, loaded, ours
from lrlab import catalog, lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.low_rank_problem import LowRankProblem
from lrlab.solvers.low_rank.tangent import spectral_start

TITLE = "low-rank matrices"
DISTRIBUTIONS = ("torch", "pymanopt")
GRADIENT = 1e-6
"""Norm at which pymanopt ends: what L-BFGS and the lab reach by default is smaller."""


def start(problem: LowRankProblem) -> LowRank:
    """Return the spectral start."""
    return spectral_start(problem.operator, problem.b, problem.rank, np.random.default_rng(0))


def network(U: Array, signs: Array) -> LowRank:
    """Return U diag(signs) U^T as factors."""
    Q, R = np.linalg.qr(U)
    return lowrank.from_core(Q, (R * signs) @ R.T, len(signs))


def torch_network(problem: LowRankProblem) -> LowRank:
    """L-BFGS with strong Wolfe steps on the hidden weights."""
    import torch

    W, X, b = start(problem), torch.tensor(problem.operator.X), torch.tensor(problem.b)
    signs = torch.tensor(np.sign(W.s))
    U = torch.tensor(W.U * np.sqrt(np.abs(W.s))).requires_grad_()
    solver = torch.optim.LBFGS(
        [U], max_iter=300, line_search_fn="strong_wolfe", tolerance_grad=1e-9, tolerance_change=1e-12
    )

    def closure() -> Any:
        solver.zero_grad()
        loss = ((X @ U).square() @ signs - b).square().mean()
        loss.backward()
        return loss

    solver.step(closure)
    return network(U.detach().numpy(), signs.numpy())


def pymanopt_network(problem: LowRankProblem) -> LowRank:
    """Conjugate gradients on positive semidefinite matrices of fixed rank, of either sign."""
    import pymanopt
    from pymanopt.manifolds import PSDFixedRank
    from pymanopt.optimizers import ConjugateGradient

    W, X, b = start(problem), problem.operator.X, problem.b
    signs, manifold = np.sign(W.s), PSDFixedRank(*W.U.shape)

    @pymanopt.function.numpy(manifold)
    def cost(U: Array) -> float:
        return float(np.mean(((X @ U) ** 2 @ signs - b) ** 2))

    @pymanopt.function.numpy(manifold)
    def gradient(U: Array) -> Array:
        P = X @ U
        return 4.0 / len(b) * (X.T @ ((P**2 @ signs - b)[:, None] * P * signs))

    solver = ConjugateGradient(verbosity=0, max_iterations=300, min_gradient_norm=GRADIENT)
    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    return network(solver.run(task, initial_point=W.U * np.sqrt(np.abs(W.s))).point, signs)


def pymanopt_sensing(problem: LowRankProblem) -> LowRank:
    """Conjugate gradients on the matrices of fixed rank, until the residual norm is 1e-9 of the measurements."""
    import pymanopt
    from pymanopt.manifolds import FixedRankEmbedded
    from pymanopt.optimizers import ConjugateGradient

    W, X, Y, b = start(problem), problem.operator.X, problem.operator.Y, problem.b
    manifold = FixedRankEmbedded(len(W.U), len(W.V), len(W.s))

    @pymanopt.function.numpy(manifold)
    def cost(U: Array, s: Array, Vt: Array) -> float:
        return float(np.mean((((X @ U) * s * (Y @ Vt.T)).sum(axis=1) - b) ** 2)) / 2

    @pymanopt.function.numpy(manifold)
    def gradient(U: Array, s: Array, Vt: Array) -> Any:
        P, Q = X @ U, Y @ Vt.T
        d = ((P * s * Q).sum(axis=1) - b) / len(b)
        left, right = X.T @ (d[:, None] * Q), Y.T @ (d[:, None] * P)
        return left * s, (P * Q).T @ d, (right * s).T

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    size = float(np.mean(b**2))
    solver = ConjugateGradient(verbosity=0, max_iterations=2000, min_gradient_norm=1e-9 * np.sqrt(size))
    point = solver.run(
        task,
        initial_point=manifold.point_type((W.U, W.s, W.V.T)) if hasattr(manifold, "point_type") else (W.U, W.s, W.V.T),
    ).point
    return LowRank(point[0], point[1], point[2].T)


def roughly(problem: LowRankProblem) -> LowRank:
    """gauss-newton until the residual norm is 1e-9 of the measurements."""
    solver, target = catalog.solver("gauss-newton"), 1e-18 * float(problem.b @ problem.b) / 2
    options = dict(solver.settle({}).options)
    iterates = solver.run(problem, rng=np.random.default_rng(problem.spec.streams().solver), **options)
    return next(iterate.estimate for iterate in iterates if (iterate.objective or 0.0) <= target)


def error(problem: LowRankProblem, estimate: LowRank) -> float:
    """Return ||W - truth|| / ||truth||."""
    return problem.score(estimate)["error"]


TORCH = Entrant("PyTorch L-BFGS", torch_network, "torch")
MANOPT = Entrant("pymanopt CG", pymanopt_network, "pymanopt")
SENSING = Entrant("pymanopt CG", pymanopt_sensing, "pymanopt")


def networks(p: int, m: int, times: str) -> Contest:
    """Return the comparison on a network with noise."""
    spec = catalog.spec("polynomial-network", p=p, m=m, r=5, noise=0.1)
    mine = (ours("tangent-descent"), ours("tangent-descent", "tangent-descent, tol 1e-5", tol=1e-5))
    return Contest(f"network p={p} m={m} r=5 noise 0.1", loaded(spec), error, mine, (TORCH, MANOPT), times)


def sensing(m: int) -> Contest:
    """Return the comparison on rank-one measurements without noise."""
    spec = catalog.spec("rank-one-sensing", d1=50, d2=50, rank=5, m=m)
    mine = (
        ours("gauss-newton"),
        Entrant("gauss-newton to residual 1e-9", roughly),
        ours("altmin", max_iter=600),
    )
    return Contest(f"rank-one sensing 50 x 50 r=5 m={m}", loaded(spec), error, mine, (SENSING,), "5 x pymanopt CG")


CONTESTS = (
    networks(100, 8500, "4 x PyTorch L-BFGS, 6 x pymanopt CG"),
    networks(1000, 75000, "10 x PyTorch L-BFGS, 15 x pymanopt CG"),
    *(sensing(m) for m in (700, 1000, 2500)),
)
