"""Your data: solvers on your own responses, matrices, patterns and labels; what is recovered, as files."""

from lrlab.ui.own_data import source, view
from lrlab.ui.shared import page

link = page.head(
    "own_data",
    "Your data",
    "Drop a file: lrlab recognizes what it holds, runs solvers, and scores them on held-out data. Files stay in this "
    "session, on the machine that serves the page.",
)
view.show(link, source.choose(link))
link.write()
