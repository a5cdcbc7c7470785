"""The page *learn*."""
