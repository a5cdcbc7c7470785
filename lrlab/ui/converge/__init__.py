"""The page *Run*."""
