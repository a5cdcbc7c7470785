"""How it is recovered: one algorithm family a file, each a generator of iterates."""
