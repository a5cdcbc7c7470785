"""What is drawn: frozen specs that build problems."""
