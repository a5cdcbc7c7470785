"""Learn: lessons with a live figure and a question at every step."""

from lrlab import lessons
from lrlab.ui.lessons import drawing, lesson_view
from lrlab.ui.shared import page
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("learn")
name = lesson_view.chosen(link)
if name == lesson_view.DRAW.address["lesson"]:
    drawing.show(link)
elif name:
    page.heading(lessons.load(name).title)
    lesson_view.show(link, lessons.load(name))
else:
    page.heading("Learn", "Short lessons with live figures: predict first, then look.")
    lesson_view.show_cards(link)
if name not in lessons.lessons():
    link.accept(["step", "answer", "teacher", "lecture"])
link.write()
