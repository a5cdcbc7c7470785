"""Trials over one or two axes: definition, cells, run, results, maps."""
