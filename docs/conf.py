"""Settings of Sphinx for the site of the documentation, which is made from the top folder of the repository.

So every link leads there as it does in the repository. The pages of this folder in Markdown are those that the
dashboard shows, too; those in reStructuredText are of the site alone.
"""

from evaluator.system.version import __version__

project = "LayoutScope"
author = "The LayoutScope authors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "cyclopts.ext.sphinx"]
include_patterns = ["*.md", "docs/*.md", "docs/*.rst", "sample_data/README.md"]
exclude_patterns = [".*", "build", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "evaluator", "tests"]
root_doc = "docs/index"
default_role = "code"
# Quotes and dashes of commands stay as they are typed.
smartquotes = False
# Packages of others have no page here, and nothing is fetched from elsewhere while the site is made.
nitpick_ignore_regex = [("py:.*", r"(?!evaluator\.).*")]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"LayoutScope {version}"
html_copy_source = False
# A summary is fetched, which a browser refuses to a page that was opened from disk.
html_show_search_summary = False
html_extra_path = ["site"]
