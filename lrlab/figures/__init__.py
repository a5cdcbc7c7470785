"""Makes plotly figures of tables and of runs; does not import streamlit."""
