"""The page *Eigengaps*."""
