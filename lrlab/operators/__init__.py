"""Linear measurements of a matrix, b = A(W): what they do to factors, their adjoints, their least squares."""
