"""Trials over one or two axes: defined, run, resumed, adaptive, watched, forecast."""
