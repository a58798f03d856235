"""File formats of Bayesian networks, one module each: `read` makes a draft, `write` makes text.

Start with `files.py` (which format a suffix means), then `reading/draft.py` (what every reader fills and how
it is checked), then `bif.py` as the example of a reader and writer.
"""

from unswayed.model.formats.files import read_network, write_network

__all__ = ["read_network", "write_network"]
