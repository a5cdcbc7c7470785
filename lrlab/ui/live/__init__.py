"""The live channel: the server sends news of runs to open tabs, and tabs send values of dragged sliders."""
