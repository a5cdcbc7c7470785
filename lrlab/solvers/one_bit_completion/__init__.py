"""Solvers of 1-bit matrix completion."""
