"""The page *papers*."""
