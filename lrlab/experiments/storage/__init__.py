"""What is kept of finished trials, and how it is listed, exported and found again."""
