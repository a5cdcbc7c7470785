"""Solvers of phase retrieval."""
