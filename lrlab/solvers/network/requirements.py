"""What entries of solvers of polynomial networks share."""

from functools import partial

from lrlab.solver_entry import SolverEntry

network_entry = partial(SolverEntry, models=("polynomial-network",), oracle=("rank",))
