"""The page *class*."""
