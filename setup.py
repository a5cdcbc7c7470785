"""Puts the pages into the wheel: `app.py`, `pages/`, Streamlit's settings and a page become `lrlab/site/`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SERVED = ("app.py", ".streamlit/config.toml", "docs/papers.md", *map(str, sorted(Path("pages").glob("*.py"))))


class WithPages(build_py):
    """Builds the package and what `lrlab app` serves; an editable installation serves the checkout's own files."""

    def run(self) -> None:
        """Copy the package, then the pages."""
        super().run()
        for name in () if self.editable_mode else SERVED:
            target = Path(self.build_lib, "lrlab", "site", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, target)


setup(cmdclass={"build_py": WithPages})
