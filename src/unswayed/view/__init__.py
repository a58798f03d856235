"""Everything that shows: sentences, tables, pictures, notebook cards, the report page. No mathematics.

May import results (`unswayed.api`) and everything below; the command line and the web page import it. Results
reach it through one file, `api/shown.py`, when somebody asks them for a picture or a card.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
