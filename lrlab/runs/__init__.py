"""One run of one solver: its job, its memory, its trace; and trials, the same job on another seed."""
