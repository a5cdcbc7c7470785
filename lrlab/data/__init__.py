"""People's own measurements as a source of problems: every solver of a model's family runs on them unchanged."""
