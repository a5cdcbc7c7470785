"""Hot loops of solvers beside their floor: the same bare BLAS calls or passes over memory, in the same run."""
