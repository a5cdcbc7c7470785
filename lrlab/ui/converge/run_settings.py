"""The last settings of *Run*: alone, or with the page."""

from typing import Any

import streamlit as st

from lrlab.catalog import family, model_entry, spec
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.converge import dragged, results_view, run_controls
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.shared import live, problem_controls, solver_controls
from lrlab.ui.widgets.permalink import Permalink


class RunSettings:
    """The problem and its solvers, and how the page shows them.

    spec, limits: the InputError if lrlab rejects them.
    """

    curves: CurveSettings

    def __init__(self, link: Permalink, model: str) -> None:
        """Begin with the defaults of a model, and without solvers."""
        self.link, self.model = link, model
        self.spec: Spec | InputError = spec(model)
        self.limits: dict[str, Any] | InputError = {}
        self.jobs: list[Job] = []

    def choose(self) -> None:
        """Show the settings."""
        self.spec = problem_controls.choose_spec(self.link, self.model, main=model_entry(self.model).main)
        self.limits = solver_controls.choose_limits(self.link)
        st.header("Solvers", anchor=False)
        usual = family(self.model).solvers
        self.jobs = solver_controls.choose_jobs(
            self.link, self.model, self.spec, self.limits, default=usual, recommended=3
        )

    def choose_curves(self) -> None:
        """Show the controls of the curves."""
        self._absent = run_controls.absent_measures(self.model, self.spec)
        self.curves = run_controls.choose(self.link, self.model, self.spec)

    def draw(self) -> None:
        """Draw the run that the page follows, or the settings before the first one."""
        results_view.draw(self.curves, self.jobs, self.spec)

    def apart(self) -> bool:
        """Return whether the rest of the page shows a run, and only says that the settings have changed."""
        return (
            live.current("converge") is not None
            and bool(self.jobs)
            and not any(isinstance(given, InputError) for given in (self.spec, self.limits))
            and not st.session_state.get(run_controls.ON_CHANGE)
            and self._absent == run_controls.absent_measures(self.model, self.spec)
        )

    def follow(self) -> None:
        """Update the rest of the page, and the answers of its sliders, to the settings."""
        live.tab().push(results_view.changes(self.jobs))
        self.follow_sliders()

    def follow_sliders(self) -> None:
        """Have the figures follow each slider while it is dragged."""
        following = live.current("converge")
        ran = following.runs if following else ()
        if self.jobs and isinstance(self.spec, Spec):
            problem_controls.follow_sliders(self.link, self.spec, dragged.Dragged(self.curves, self.jobs, ran))
