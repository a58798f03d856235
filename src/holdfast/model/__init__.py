"""Networks and data: variables, tables, directed graphs, file formats and small examples."""

from holdfast.model.cpt import Cpt
from holdfast.model.network import BayesianNetwork
from holdfast.model.variable import Variable

__all__ = ["BayesianNetwork", "Cpt", "Variable"]
