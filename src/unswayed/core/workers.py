"""The names that searches and plans import; everything is in `parallel.py`."""

from unswayed.core.parallel import IN_FLIGHT, Team, Workers, check_jobs
from unswayed.core.processes import start_pool

__all__ = ["IN_FLIGHT", "Team", "Workers", "check_jobs", "start_pool"]
