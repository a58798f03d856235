"""Files read under the oldest interpreter on this machine, whose library may differ from the newest."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from golden_texts import GOLDEN
from unswayed.core.errors import FormatError
from unswayed.model.formats import json_network, read_network, write_network
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.zoo import disease_tests, printer, review

SOURCES = Path(json_network.__file__).parents[3]
OLDEST = (3, 11)
READ = """
import json, sys, warnings
from pathlib import Path
from unswayed.model.formats import json_network, read_network
warnings.simplefilter("ignore")
print(json.dumps([json_network.write(read_network(path)) for path in sys.argv[1:]]))
"""


def version_of(python, environment):
    """Version of an interpreter that has what we import; None for others."""
    question = "import sys, numpy, lazy_loader; print(*sys.version_info[:3])"
    outcome = subprocess.run(
        [python, "-c", question], capture_output=True, text=True, env=environment, check=False, timeout=60
    )
    return tuple(map(int, outcome.stdout.split())) if outcome.returncode == 0 else None


def interpreters():
    """Version, program and environment of every Python on the path that can read files, this one included."""
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST[1], sys.version_info.minor + 1))]
    places = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *os.defpath.split(os.pathsep)]
    programs = {str(path) for place, name in product(places, names) if (path := Path(place, name)).is_file()}
    beside = str(Path(np.__file__).parents[1])  # numpy is compiled for one minor version
    for python, packages in product([sys.executable, *sorted(programs)], [(), (beside,)]):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), *packages])}
        version = version_of(python, environment)
        if version is not None and version >= OLDEST:
            yield version, python, environment


def test_the_oldest_interpreter_reads_every_golden_file_alike(tmp_path):
    version, python, environment = min(interpreters(), key=lambda found: found[0])
    paths = [tmp_path / f"golden{suffix}" for suffix in GOLDEN]
    for path in paths:
        path.write_text(GOLDEN[path.suffix], encoding="utf-8")
    for network, suffix in product((review(), printer(), disease_tests()), MODULE_BY_SUFFIX):
        path = tmp_path / f"{network.name}{suffix}"
        try:
            write_network(network, path)
        except FormatError:
            continue  # this format is only read
        paths.append(path)
    outcome = subprocess.run(
        [python, "-c", READ, *map(str, paths)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert outcome.returncode == 0, f"Python {version}: {outcome.stderr}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert json.loads(outcome.stdout) == [json_network.write(read_network(path)) for path in paths]


def test_no_pattern_has_possessive_repeats_or_atomic_groups():
    """Early releases of Python 3.11 (3.11.2 is one) lose groups after them."""
    texts = [
        (path, node.lineno, node.value)
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    found = [(path, line) for path, line, text in texts if re.search(r"[*+?}]\+(?! package)|\(\?>", text)]
    assert not found
