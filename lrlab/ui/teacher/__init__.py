"""Parts of the teacher's page."""
