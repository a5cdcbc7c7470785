"""Solvers of polynomial networks."""
