"""The page *home*."""
