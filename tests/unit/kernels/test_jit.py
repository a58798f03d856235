"""Kernels: compiled once and kept where that is possible, plain in every other respect."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from unswayed.core.anytime import limits
from unswayed.kernels import dominance, jit
from unswayed.kernels.jit import Kernel, announce_compiling

VALUES = np.arange(5.0)


def double(value: float) -> float:
    return 2.0 * value


def total(values: np.ndarray) -> float:
    found = 0.0
    for value in values:
        found += double(value)
    return found


def make_kernel():
    return Kernel(total, [double])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    jit._started().clear()
    return tmp_path / "kept"


def is_saved(kernel):
    kernel._pays(1e6, (VALUES,))
    return kernel._is_saved


def test_the_compiled_loop_says_what_the_plain_one_says(folder):
    kernel = make_kernel()
    assert kernel.compiled(VALUES) == kernel.plain(VALUES) == kernel(VALUES) == 20.0
    assert kernel._is_loaded


def test_another_kernel_of_the_same_loop_finds_it_compiled(folder):
    make_kernel().compiled(VALUES)
    second = make_kernel()
    assert is_saved(second)
    assert second.compiled(VALUES) == 20.0
    assert sum(second._compiled.stats.cache_hits.values()) == 1


def test_other_types_of_arguments_are_kept_beside_the_first(folder):
    kernel = make_kernel()
    assert kernel.compiled(VALUES) == kernel.compiled(VALUES.astype(np.float32)) == 20.0
    second = make_kernel()
    assert second.compiled(VALUES.astype(np.float32)) == second.compiled(VALUES) == 20.0
    assert sum(second._compiled.stats.cache_hits.values()) == 2


@pytest.mark.parametrize("contents", [b"", b"nonsense", b"\x80\x04cnowhere\nNothing\n."])
def test_a_broken_file_is_replaced(folder, contents):
    make_kernel().compiled(VALUES)
    (file,) = (folder / "unswayed").iterdir()
    file.write_bytes(contents)
    assert make_kernel().compiled(VALUES) == 20.0
    third = make_kernel()
    assert third.compiled(VALUES) == 20.0
    assert sum(third._compiled.stats.cache_hits.values()) == 1


def test_where_nothing_can_be_written_it_runs_all_the_same(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    assert not jit._can_save()
    assert make_kernel().compiled(VALUES) == 20.0
    assert not is_saved(make_kernel())


def test_a_loop_is_priced_beside_it(folder):
    asked = []
    kernel = Kernel(total, [double], price=lambda values: asked.append(len(values)) or 0.0)
    assert kernel(VALUES) == 20.0
    assert asked == [5]


def test_without_numba_everything_is_plain(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    jit._has_numba.cache_clear()
    kernel = make_kernel()
    assert kernel.run(1e9, VALUES) == 20.0
    assert kernel.run(1e9, VALUES) == 20.0
    assert not jit._started()
    jit._has_numba.cache_clear()


def test_long_compiling_is_announced_once(folder, monkeypatch):
    monkeypatch.setattr(jit, "LONG", 0.0)
    said: list[str] = []
    kernel = make_kernel()
    with announce_compiling(said.append):
        kernel.compiled(VALUES)
        kernel.run(1.0, VALUES)
        time.sleep(0.1)
    assert said == ["compiling (once): test_jit"]


def test_a_new_process_loads_what_an_old_one_compiled(folder):
    script = (
        "import numpy as np, time\n"
        "from unswayed.kernels.unique_rows import compiled_hash_rows as kernel\n"
        "kernel.compiled(np.zeros((3, 2), dtype=np.int32))\n"
        "print(sum(kernel._compiled.stats.cache_hits.values()))\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240
        ).stdout
        for _ in range(2)
    ]
    assert said == ["0\n", "1\n"]


def test_little_work_is_done_by_the_plain_loop(folder):
    kernel = make_kernel()
    assert kernel.run(10.0, VALUES) == 20.0
    assert not kernel._is_saved
    assert not kernel._is_loaded
    assert not jit._started()  # nor does another process compile for it


def test_much_work_is_compiled_for_where_it_takes_longer_than_that(folder):
    kernel = make_kernel()
    assert kernel.run(1e9, VALUES) == 20.0
    assert kernel._is_loaded


def test_nothing_is_compiled_where_a_limit_would_be_over_before(folder):
    kernel = make_kernel()
    with limits(max_seconds=3.0):
        assert kernel.run(1e9, VALUES) == 20.0
    assert not kernel._is_loaded


def test_what_was_done_without_adds_up_until_loading_is_worth_it(folder, monkeypatch):
    make_kernel().compiled(VALUES)
    kernel = make_kernel()
    monkeypatch.setattr(jit, "LOADING_NEXT", jit.LOADING)
    each = 0.4 * jit.LOADING / jit.SLOWER * 1e6
    assert [kernel.run(each, VALUES) and kernel._is_loaded for _ in range(4)] == [False, False, True, True]


def test_another_process_compiles_for_the_types_of_these_arguments(folder):
    one = np.ones((2, 1))
    arguments = one, np.array([1, 2]), np.array([0, 1]), one, np.array([0, 1])
    kernel = Kernel(dominance.compare_pairs, loop=dominance.sum_dominated)
    kernel._compile_beside(arguments)
    (child,) = jit._started().values()
    assert child.wait(timeout=120) == 0
    assert kernel.run(1e9, *arguments).tolist() == [2.0]
    assert sum(kernel._compiled.stats.cache_hits.values()) == 1


def test_the_compiler_sees_the_types_and_not_the_contents():
    empty = jit._emptied((np.ones((2, 3)), (1, np.arange(4)), 0.5))
    assert (empty[0].shape, empty[1][0], empty[1][1].shape, empty[2]) == ((0, 0), 1, (0,), 0.5)
