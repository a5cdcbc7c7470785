"""Solvers of single-index models."""
