"""Sphinx's settings of the site that make site makes of docs/ and index.md, its home page."""
import re

project = author = "uma-gpu"
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "uma-gpu"
html_static_path = html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = html_show_sourcelink = html_copy_source = False
html_domain_indices = html_use_index = False
copybutton_prompt_text = "$ "
highlight_language = "none"
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

SOURCE = "https://github.com/uma-gpu/uma-gpu/blob/main/"


def elsewhere(app, name, source):
    """Leads links out of docs/ to the source, as the site has only docs/."""
    source[0] = re.sub(r"\]\(\.\./", "](" + SOURCE, source[0])


def setup(app):
    app.connect("source-read", elsewhere)
