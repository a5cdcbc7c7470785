"""Solvers of low-rank matrices from linear measurements."""
