"""Fits solvers to users' own labels and ratings: reads files, tunes settings, saves models."""
