"""The page *spectrum*."""
