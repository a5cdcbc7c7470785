"""Class: a question that a class predicts the answer of; then it is computed."""

from lrlab.ui.classroom import views
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("class")
views.show(link)
link.write()
