"""The page *converge*."""
