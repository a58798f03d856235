"""Public names of `unswayed.papers`; `__init__.py` imports each when it is first used."""

from .chen2014.brute_force import BruteForceEngine as BruteForceEngine
from .chen2014.depth_first import DepthFirstEngine as DepthFirstEngine
