"""The engines there are, and the choice among them by predicted cost."""

from __future__ import annotations

from holdfast.engines.dense import DenseEngine
from holdfast.engines.log_odds import LogOddsEngine
from holdfast.engines.protocol import Engine

ENGINES: tuple[Engine, ...] = (DenseEngine(), LogOddsEngine())
