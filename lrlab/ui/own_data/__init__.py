"""The page *own data*."""
