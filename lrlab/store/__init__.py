"""Stores finished trials in an SQLite file."""
