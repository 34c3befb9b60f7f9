"""How the pages of this folder become a site: `make docs`."""

import sys
from pathlib import Path

import tuplet

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "tuplet"
author = "the authors of tuplet"
version = release = tuplet.__version__
extensions = ["myst_parser", "commands", "mathml", "public"]
exclude_patterns = ["_build", "_ext"]

# Pages are read on GitHub as well: plain links, `#heading` anchors, <img> and formulas in dollars.
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4

# Nothing of a page is fetched from elsewhere, so that it is read without a network.
html_theme = "furo"
html_title = "tuplet"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/tile.svg"
html_copy_source = False
html_use_index = html_domain_indices = False  # reference/ lists every name
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_logo": "tile.svg",
    "dark_logo": "tile.svg",
    "light_css_variables": {
        "color-brand-primary": "#a0521a",
        "color-brand-content": "#a0521a",
        "color-brand-visited": "#7b4a86",
    },
    "dark_css_variables": {
        "color-brand-primary": "#f2a35e",
        "color-brand-content": "#f2a35e",
        "color-brand-visited": "#c9a0d4",
    },
}
pygments_style = "tango"
pygments_dark_style = "monokai"

# Docstrings are prose with names in `single backticks`.
default_role = "literal"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False
maximum_signature_line_length = 88
python_display_short_literal_types = True
smartquotes_action = "qe"  # --option keeps its hyphens
