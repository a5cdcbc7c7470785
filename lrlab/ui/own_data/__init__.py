"""The page *Your data*."""
