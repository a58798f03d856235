"""Public names of `unswayed.view`; `__init__.py` imports each when it is first used."""

from .page import report_page as report_page
from .plotting import draw_circuit as draw_circuit, draw_network as draw_network, draw_vtree as draw_vtree
