"""Numerical methods that solvers of several families share."""
