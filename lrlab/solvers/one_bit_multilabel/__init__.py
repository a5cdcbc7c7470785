"""Solvers of one-bit multi-label learning."""
