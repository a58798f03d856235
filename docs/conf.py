"""How Sphinx builds the documentation; `make docs` runs it with warnings as errors."""

from importlib.metadata import version as installed_version

project = "unswayed"
author = "The unswayed developers"
copyright = author
release = version = installed_version("unswayed")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]

# Pages are executed and compared by the tests. Notebooks are stored without output, and run for it here.
nb_execution_mode = "cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Docstrings write names in single backquotes: a link where the name is known, code otherwise.
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # a parameter's name may be that of several attributes
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

html_theme = "pydata_sphinx_theme"
html_title = "unswayed"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
}
html_sidebars = {"*": []}  # pages of the first level are in the bar at the top
html_show_sourcelink = False
