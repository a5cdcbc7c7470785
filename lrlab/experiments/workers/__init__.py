"""Where jobs run: the scheduler and its workers, what is sent there, and what comes back."""
