"""Solvers of the lab beside what a user would install instead: same data, same threads, taking turns."""
