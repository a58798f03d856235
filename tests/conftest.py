"""Hypothesis profiles, a quick one for every run and a thorough one for all tests; time limits of tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

SLOW_SECONDS = 1800
"""After which a slow test is ended; the others' limit is in pyproject.toml."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests a longer limit, unless they have one of their own."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
