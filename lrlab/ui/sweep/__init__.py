"""The pages *transition* and *sweep*."""
