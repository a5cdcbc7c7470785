"""Linear measurements of a matrix, b = A(W): images of factors, adjoints and least squares."""
