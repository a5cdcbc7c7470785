"""Solvers on people's own files: read, tuned, fitted, saved, compared with what was published."""
