"""What is done with models and solvers: one run, maps, spectra, sweeps; where it runs and what it will cost."""
