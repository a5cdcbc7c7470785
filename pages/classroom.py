"""Class: a question that a class predicts the answer of; then it is computed."""

from lrlab.ui.classroom import views
from lrlab.ui.shared import page

link = page.begin("class")
views.show(link)
link.write()
