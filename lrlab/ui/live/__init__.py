"""The live channel: what is new in runs goes from the server to open tabs, values of dragged sliders come back."""
