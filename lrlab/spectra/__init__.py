"""Eigenvalues and singular values of spectral starts along an axis."""
