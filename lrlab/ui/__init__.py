"""The only part of the package that imports streamlit: controls, live runs, plots, permalinks."""
