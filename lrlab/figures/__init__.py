"""Tables in, plotly figures out; no streamlit."""
