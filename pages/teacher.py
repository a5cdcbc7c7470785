"""Teacher: what the server does, behind a password that is given where it is started; off by default."""

from lrlab.ui import teacher
from lrlab.ui.shared import page

link = page.head("teacher", "Teacher", "Sessions, workers and memory of this server, and the runs of all browsers.")
if teacher.opened():
    teacher.show()
link.write()
