"""Shows a spectrum along an axis: progress, figures and tables of its moment."""

import streamlit as st

from lrlab.parameters import InputError
from lrlab.ui.shared import live, progress
from lrlab.ui.shared.captions import describe_spec
from lrlab.ui.spectrum import moments_view, pairwise_view
from lrlab.ui.spectrum.plan import SpectrumPlan, is_pairwise


def draw(chosen: SpectrumPlan | InputError | None, moment: str) -> None:
    """Draw the results of the followed batch, or, before the first one, the curves alone."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or chosen
    if not isinstance(plan, SpectrumPlan):
        return
    progress.show_batch_progress(batch)
    rows = [row for drawn in progress.batch_results(batch).values() for row in drawn]
    st.caption(f"{describe_spec(plan.spec, without=[plan.along.decides])}; along {plan.along.title}")
    if is_pairwise(plan.spec.model):
        pairwise_view.draw(plan, rows, moment)
    else:
        moments_view.draw(plan, rows)
