"""Public names of `unswayed.view`; `__init__.py` imports each when it is first used."""

from .charts.choices import draw_ranking as draw_ranking, draw_selection as draw_selection
from .charts.curves import (
    draw_frontier as draw_frontier,
    draw_progress as draw_progress,
    draw_thresholds as draw_thresholds,
)
from .charts.decisions import (
    draw_decision as draw_decision,
    draw_gauge as draw_gauge,
    draw_history as draw_history,
    draw_posterior as draw_posterior,
)
from .charts.networks import draw_graph as draw_graph
from .charts.plans import draw_plan as draw_plan
from .charts.reasons import draw_contributions as draw_contributions, draw_leeways as draw_leeways
from .drawing import Drawing as Drawing
from .figure import Picture as Picture
from .page import report_page as report_page
from .plotting import draw as draw, draw_circuit as draw_circuit, draw_vtree as draw_vtree
from .svg import palette_css as palette_css, to_svg as to_svg
