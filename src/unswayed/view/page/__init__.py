"""One classifier on one page: HTML that needs nothing else, to be read, sent and printed.

`document.py` holds the frame and the style; the other files are one part of the page each, all made of what
`unswayed.api.report` found.
"""

from unswayed.view.page.document import report_page

__all__ = ["report_page"]
