"""Widgets: controls, axes, plots, tables, addresses."""
