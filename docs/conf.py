"""Settings of the documentation: `make docs` builds it into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "extension")]
# Tutorials import the checkout, too, and leave their figures to the plotly.js of the page.
os.environ["PYTHONPATH"] = str(HERE.parent)
os.environ["PLOTLY_RENDERER"] = "sphinx_gallery"
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

# Kernels of tutorials warn that they talk to this process without encryption; what they send is on these pages.
os.environ["IPYTHONDIR"] = str(HERE / "_build" / "ipython")
kernels = HERE / "_build" / "ipython" / "profile_default" / "ipython_kernel_config.py"
kernels.parent.mkdir(parents=True, exist_ok=True)
kernels.write_text('c.IPKernelApp.log_level = "ERROR"\n')

# Of the shell's help.
os.environ["COLUMNS"] = "100"

import lrlab  # noqa: E402

project, author, copyright = "lrlab", "lrlab developers", "lrlab developers, BSD-3-Clause"
version = release = lrlab.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "figures", "formulas", "generated", "docstrings"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "auto"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_merge_streams = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
python_use_unqualified_type_names = True
html_math_renderer = "svg"
html_theme = "pydata_sphinx_theme"
html_title = f"lrlab {release}"
html_static_path = ["_static"]
html_css_files = ["lrlab.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_prev_next": False,
}
html_sidebars = {"start": [], "architecture": []}
