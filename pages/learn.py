"""Learn: lessons with a live figure and a question at every step."""

import streamlit as st

from lrlab import lessons
from lrlab.ui.lessons import lecture, lesson_view, place
from lrlab.ui.shared import page

link = page.begin("learn")
name = place.chosen(link)
if name:
    page.heading(lessons.load(name).title)
    lesson_view.show(link, lessons.load(name))
elif lecture.chosen(link):
    lecture.show(link)
    link.accept(["step", "answer", "teacher"])
else:
    page.heading("Learn", "Short lessons with live figures: predict first, then look.")
    st.button("A lecture of 45 minutes", "learn-lecture", on_click=lecture.go, args=(link, True), type="tertiary")
    place.show_cards(link)
    link.accept(["step", "answer", "teacher"])
link.write()
