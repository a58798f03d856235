"""Networks and data: variables, tables, directed graphs, file formats and small examples."""

from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

__all__ = ["BayesianNetwork", "Cpt", "Variable"]
