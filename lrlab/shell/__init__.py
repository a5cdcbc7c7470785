"""The same jobs from a shell, one file per command: `add(commands)` declares its options, `run(options)` runs it."""
