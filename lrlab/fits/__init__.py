"""Fits to people's own labels and ratings: read, tuned, fitted, saved."""
