"""Teacher: what the server does, behind a password that is given where it is started; off by default."""

from lrlab.ui.shared import page
from lrlab.ui.teacher import overview, password

link = page.head("teacher", "Teacher", "Sessions, workers and memory of this server, and the runs of all browsers.")
if password.opened():
    overview.show()
link.write()
