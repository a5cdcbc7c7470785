"""Your data: solvers on your own responses, matrices, patterns and labels; what is recovered, as files."""

from lrlab.ui import own_data
from lrlab.ui.shared import page
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("own_data")
page.heading(
    "Your data",
    "Drop a file: lrlab recognizes its content, runs solvers, and evaluates them on held-out data. Files stay in "
    "this session, on the machine that serves the page.",
)
own_data.show(link, own_data.choose(link))
link.write()
