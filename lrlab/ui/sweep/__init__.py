"""The page *Phase transitions*."""
