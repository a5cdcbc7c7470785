"""lrlab in a browser: streamlit run app.py."""

import streamlit as st

if __name__ == "__main__":
    # As the script of a session.
    from lrlab.ui import startup
    from lrlab.ui.shared import page
    from lrlab.ui.sweep.sweep_controls import of_sweep_page

    st.set_page_config(layout="wide")
    page.navigate(
        [
            st.Page("pages/home.py", title="lrlab", default=True),
            st.Page("pages/learn.py", title="Learn"),
            st.Page("pages/converge.py", title="Run"),
            st.Page("pages/transition.py", title="Phase transitions"),
            st.Page("pages/spectrum.py", title="Eigengaps"),
            st.Page("pages/papers.py", title="Papers"),
            st.Page("pages/own_data.py", title="Your data"),
            st.Page("pages/classroom.py", title="Class", url_path="class", visibility="hidden"),
        ],
        moved={"sweep": ("transition", of_sweep_page), "teacher": ("class", dict)},
    )
    # Last, so that the first page does not share the interpreter with the imports of the first run.
    startup.begin()
else:
    # Imported once, by the server.
    from lrlab.ui.live.routes import MIDDLEWARE, lifespan, routes

    app = st.App(__file__, routes=routes(), middleware=MIDDLEWARE, lifespan=lifespan)
