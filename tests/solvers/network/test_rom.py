"""Solvers of polynomial networks: they recover what their papers say, and their iterates say what they claim."""

import numpy as np
import pytest

from lrlab.models.network import PolynomialNetwork
from lrlab.protocol import Stop
from lrlab.solvers.network.approximate_rom import ap_rom
from lrlab.solvers.network.geco import geco
from lrlab.solvers.network.gfm import gfm
from lrlab.solvers.network.rom import ep_rom
from tests.solvers import driving

EASY = PolynomialNetwork(m=1500, p=24, r=2, condition=3.0, seed=4)
"""Thirty times as many samples as unknowns: the paper's step 1 converges."""

NOISY = EASY.replace(noise=0.1)
HARD = EASY.replace(m=140, condition=1.0)
"""Three times as many: it diverges there."""

AT_REST = (Stop.CONVERGED, Stop.SETTLED)

SOLVERS = {"ep-rom": ep_rom, "ap-rom": ap_rom, "gfm": gfm}
STEPPING = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
EVERY = pytest.mark.parametrize("solver", [*SOLVERS.values(), geco], ids=[*SOLVERS, "geco"])


def run(solver, spec, **options):
    problem = spec.build()
    settings = {"tol": 1e-10, "max_iter": 200, "seed": 7} | options
    return *driving.run(solver, problem, **settings), problem


def oracle(problem):
    """Return L_true corrected by the least-squares U Z^T + Z U^T with the true U, a (p, p) matrix."""
    X, U = problem.operator.X, problem.truth.U
    rows = 2 * np.einsum("ia,ij->iaj", X @ U, X).reshape(len(X), -1)
    Z = np.linalg.lstsq(rows, problem.b, rcond=None)[0].reshape(U.shape[1], -1).T
    return U @ Z.T + Z @ U.T


@STEPPING
def test_the_adaptive_step_needs_fewer_samples_than_the_papers(solver):
    stop, trace, problem = run(solver, HARD, max_iter=500)
    assert stop is Stop.SETTLED and problem.score(trace[-1].estimate)["error"] < 1e-8
    stop, trace, problem = run(solver, HARD, step_rule="fixed")
    assert stop not in AT_REST or problem.score(trace[-1].estimate)["error"] > 0.1


@EVERY
def test_single_precision_reaches_its_own_rounding(solver):
    stop, trace, problem = run(solver, EASY.replace(precision="single"))
    assert stop in AT_REST and problem.score(trace[-1].estimate)["error"] < 2e-5
    assert all(part.dtype == np.float32 for part in trace[-1].estimate)


@EVERY
def test_with_noise_the_error_is_that_of_the_oracle(solver):
    stop, trace, problem = run(solver, NOISY)
    truth = problem.truth.dense()
    best = np.linalg.norm(oracle(problem) - truth) / np.linalg.norm(truth)
    assert stop is Stop.SETTLED and problem.score(trace[-1].estimate)["error"] < 1.1 * best


@pytest.mark.parametrize("signs", ["positive", "mixed"])
def test_the_printed_sign_of_the_trace_term_diverges(signs):
    stop, _, _ = run(ep_rom, EASY.replace(signs=signs), trace_sign="printed")
    assert stop is Stop.DIVERGED


@pytest.mark.parametrize("sign", [1, -1])
def test_ep_rom_follows_algorithm_1(sign):
    """With exact projections and the fixed step: G = A*(d) / (2m) - (mean(d) / 2) I, or + as printed."""
    problem = NOISY.build()
    X, b, m = problem.operator.X, problem.b, NOISY.m
    L = np.zeros((24, 24))
    trace = run(ep_rom, NOISY, max_iter=3, step_rule="fixed", trace_sign="corrected" if sign > 0 else "printed")[1]
    for iterate in trace:
        d = np.einsum("ij,jk,ik->i", X, L, X) - b
        values, vectors = np.linalg.eigh(L - (X.T * d) @ X / (2 * m) + sign * d.mean() / 2 * np.eye(24))
        best = np.argsort(-np.abs(values))[:2]
        L = (vectors[:, best] * values[best]) @ vectors[:, best].T
        assert iterate.estimate.dense() == pytest.approx(L, abs=1e-9)


# Eigenvalues of few samples lie close to each other at p = 150.
@pytest.mark.parametrize(("precision", "sizes"), [("single", {}), ("double", {}), ("double", {"p": 150, "m": 900})])
def test_lanczos_and_the_whole_matrix_project_alike(precision, sizes):
    spec = NOISY.replace(precision=precision, **sizes)
    (_, whole, _), (_, products, _) = (run(ep_rom, spec, max_iter=8, projection=p) for p in ("exact", "lanczos"))
    for one, other in zip(whole, products, strict=True):
        gap = np.linalg.norm(one.estimate.dense() - other.estimate.dense())
        assert gap < (1e-10 if precision == "double" else 1e-5)


def test_the_adaptive_step_is_the_root_along_the_tangent_and_the_start_is_shortened():
    _, trace, problem = run(ep_rom, NOISY, max_iter=1)
    X, b, L = problem.operator.X, problem.b, trace[0].estimate

    def moment(d):
        return (X.T * d) @ X / (2 * len(X)) - d.mean() / 2 * np.eye(24)

    def residual(L):
        return np.einsum("ij,jk,ik->i", X, L, X) - b

    assert abs(np.vdot(L.dense(), moment(residual(L.dense())))) < 1e-10, "along the start, too"
    G, P = moment(residual(L.dense())), L.U @ L.U.T
    T, eta = P @ G + G @ P - P @ G @ P, float(trace[0].note.split()[1].rstrip("."))
    assert abs(np.vdot(T, moment(residual(L.dense() - eta * T)))) < 0.01 * np.vdot(T, T)


def test_every_head_recovers_from_many_samples_and_only_the_tangent_one_converges_with_noise():
    heads, ends = ("tangent", "one-sided"), {}
    for head in heads:
        stop, trace, problem = run(ap_rom, EASY.replace(m=4000), head=head, step_rule="fixed")
        assert stop is Stop.SETTLED and problem.score(trace[-1].estimate)["error"] < 1e-9
        # One block: with so small a p, more of them span nearly everything, and any head is exact.
        ends[head] = run(ap_rom, NOISY, head=head, blocks=1, max_iter=100)[1][-1].residual
    assert ends["tangent"] < 1e-9 < 1e-5 < ends["one-sided"]


@pytest.mark.slow
@pytest.mark.parametrize("replacement", ["rotation", "gradient"])
def test_greedy_growth_adds_a_unit_at_a_time(replacement):
    spec = EASY.replace(r=3, condition=1.0, m=3000)
    stop, trace, problem = run(geco, spec, replacement=replacement)
    assert [it.estimate.s.size for it in trace[:3]] == [1, 2, 3] and stop is Stop.SETTLED
    assert trace[0].objective > trace[1].objective > trace[2].objective
    assert problem.score(trace[-1].estimate)["error"] < 1e-8
