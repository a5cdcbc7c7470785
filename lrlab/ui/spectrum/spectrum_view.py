"""What a spectrum along an axis looks like, whichever moment it is of."""

import streamlit as st

from lrlab.parameters import InputError
from lrlab.ui.converge.run_view import described
from lrlab.ui.shared import batches, live
from lrlab.ui.spectrum import moments_view, pairwise_view
from lrlab.ui.spectrum.spectrum_plan import Plan


def draw(asked: Plan | InputError | None, moment: str) -> None:
    """Draw what the followed batch has measured, or, before the first one, the curves alone."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or asked
    if not isinstance(plan, Plan):
        return
    batches.progress(batch)
    rows = [row for drawn in batches.results(batch).values() for row in drawn]
    st.caption(f"{described(plan.spec, without=[plan.along.decides])}; along {plan.along.title}")
    if plan.pairwise:
        pairwise_view.draw(plan, rows, moment)
    else:
        moments_view.draw(plan, rows)
