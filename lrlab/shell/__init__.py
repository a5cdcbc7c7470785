"""The same jobs from a shell, a file a command: `add(commands)` says what it takes, `run(options)` does it."""
