"""Solvers of compressed sensing."""
