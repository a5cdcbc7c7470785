"""Solvers of multi-label learning."""
