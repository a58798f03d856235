"""The public names of circuits: all there, imported when first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unswayed import circuits


@pytest.mark.parametrize("name", circuits.__all__)
def test_every_name_resolves(name):
    assert getattr(circuits, name) is not None
    assert name in dir(circuits)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="sdds"):
        _ = circuits.sdds


def test_importing_the_room_loads_none_of_its_rooms():
    code = (
        "import sys, unswayed.circuits; print([m for m in sys.modules if m.startswith('unswayed.circuits.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    assert done.stdout == "[]\n"


def test_the_two_kinds_of_conditioning_have_names_of_their_own():
    from unswayed.circuits.psdd import query
    from unswayed.circuits.sdd import algebra

    assert circuits.condition is algebra.condition
    assert circuits.condition_psdd is query.condition_psdd
