"""The one door to compiled loops: it alone decides whether a loop is run compiled or plain.

A `Kernel` is a loop over flat arrays with its plain twin: the same Python, or numpy with the same answer.
Callers say how much work a call is (`run`, or a price that stands beside the loop) and never ask which of the
two does it. Importing numba takes half a second and compiling a loop up to several, so little work is done by
the plain twin. A process that has done without for as long as loading takes loads what an earlier one has
compiled; what nobody has compiled yet, another process compiles meanwhile, one loop at a time. Without numba
everything is plain.

Compiled code is saved beside the source, or in the person's cache folder (`NUMBA_CACHE_DIR` comes first). A
hash of the text of all kernels is part of its name: numba's own cache knows one file only, and would go on
using code whose parts have changed in another. Where no folder can be written, each process compiles anew.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

from unswayed.core.anytime import UNITS_PER_SECOND, seconds_left

P = ParamSpec("P")
R = TypeVar("R")
Functions = Sequence[Callable[..., Any]]

LONG: Final = 1.0
"""Seconds of compiling after which it is announced."""
MOMENT: Final = 0.5
"""Seconds that a process which compiles has to end, at most."""
SLOWER: Final = 60.0
"""Times as long that a plain loop takes; measured, 30 to 90 for the searches."""
LOADING, LOADING_NEXT, COMPILING = 0.7, 0.1, 6.0
"""Seconds to import numba and load a loop, to load one where numba is there, and to compile one."""
ANY_ORDER: Final = frozenset({"reassoc", "nsz", "contract"})
"""Sums in any order: the compiler may add several terms at once, which also rounds less than one by one."""

_writing: Final = threading.Lock()
_announce: Final[ContextVar[Callable[[str], None] | None]] = ContextVar("announce", default=None)


@contextmanager
def announce_compiling(say: Callable[[str], None]) -> Iterator[None]:
    """Within this context, call `say` with a short text when compiling takes long."""
    token = _announce.set(say)
    try:
        yield
    finally:
        _announce.reset(token)


def _start_compiling(code: str) -> None:
    """Have another process run code that compiles, once, and not while another one compiles.

    It goes on after the question that asked for it, for later ones, and ends with this process.
    """
    if code in _started() or any(child.poll() is None for child in _started().values()):
        return
    say, quiet = _announce.get(), subprocess.DEVNULL
    if say is not None:
        say("compiling (once), in the background")
    watched = f"from {__name__} import end_with_parent; end_with_parent(); {code}"
    with suppress(OSError):  # no room for another process: the loops stay plain
        child = subprocess.Popen(
            [sys.executable, "-c", watched], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet
        )
        _started()[code] = child
        atexit.register(_end, child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Let the process know that this one ends, and give it a moment to end first."""
    with suppress(OSError, subprocess.TimeoutExpired):
        if child.stdin is not None:
            child.stdin.close()
        child.wait(MOMENT)


def end_with_parent() -> None:
    """End this process, which compiles for another one, as soon as that one has ended, however it did.

    The other process holds the only way to write to this one's input: reading from it ends when that does.
    """
    with suppress(AttributeError, OSError):  # not on every system
        os.nice(10)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # a buffered read would hold a lock that this process wants at its end
    with _writing:  # a file is written as a whole or not at all, and leaves no part of it behind
        os._exit(0)


def _can_save() -> bool:
    """Whether compiled code can be kept for later processes."""
    for folder in _folders():
        found = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if found.is_dir() and os.access(found, os.W_OK | os.X_OK):
            return True
    return False


@cache
def _started() -> dict[str, subprocess.Popen[bytes]]:
    """The processes that compile, or did, by their code."""
    return {}


class Kernel(Generic[P, R]):
    """A loop and its plain twin, which give the same answer.

    `loop` is what is compiled where that is not `plain` itself; `parts` are the functions that it calls;
    `sums` are those whose additions may be reordered; `replaced` gives a loop for each function that is
    written with numpy where it is not compiled. `price` says how many units a call with some arguments takes,
    `slower` how many times as long the plain twin takes.
    """

    def __init__(
        self,
        plain: Callable[P, R],
        parts: Functions = (),
        *,
        loop: Callable[P, R] | None = None,
        price: Callable[..., float] | None = None,
        slower: float = SLOWER,
        sums: Functions = (),
        replaced: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
    ) -> None:
        self.plain, self._loop = plain, loop or plain
        self._price, self._slower = price, slower
        self._parts, self._sums, self._replaced = tuple(parts), tuple(sums), dict(replaced or {})
        self._compiled: Any = None
        self._is_loaded = self._is_saved = False
        self._seconds_without = 0.0
        _kernels()[self._loop.__module__, self._loop.__name__] = self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the loop returns, for the work that its price says."""
        if self._is_loaded:
            return cast(R, self._compiled(*args, **kwargs))
        assert self._price is not None
        return self.run(self._price(*args, **kwargs), *args, **kwargs)

    def run(self, units: float, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the loop returns for work of so many units; compiled or plain, whichever is done sooner."""
        if self._is_loaded:
            return cast(R, self._compiled(*args, **kwargs))
        if self._pays(units, args):
            return self.compiled(*args, **kwargs)
        return self.plain(*args, **kwargs)

    def _pays(self, units: float, arguments: Sequence[Any]) -> bool:
        """Whether to load or compile the loop now, before it does so much.

        Whoever rents until the rent has come to the price, and then buys, never pays more than twice what was
        best. So a process does without for as long as loading takes; and where nobody has compiled the loop,
        it is compiled here only if this call alone would take longer, or if no other process can save it.
        """
        plain = self._slower * units / UNITS_PER_SECOND
        self._seconds_without += plain
        if self._seconds_without < LOADING_NEXT or not _has_numba():
            return False
        if not self._is_saved:  # a file that was there once need not be looked for again
            self._is_saved = any((folder / _file_name(self._loop)).exists() for folder in _folders())
        loading = LOADING_NEXT if "numba" in sys.modules else LOADING
        price = loading if self._is_saved else COMPILING
        if not self._is_saved and plain <= price and _can_save():
            if self._seconds_without > LONG:
                self._compile_beside(arguments)
            return False
        return self._seconds_without > price and price < 0.5 * seconds_left()

    def compiled(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the compiled loop returns; for tests, and for whoever times it."""
        with _announced(self._loop):
            self._compiled = self._compiled or self._make()
            result = cast(R, self._compiled(*args, **kwargs))
        self._is_loaded = True
        return result

    def _compile_beside(self, arguments: Sequence[Any]) -> None:
        """Have another process compile the loop for arguments of these types."""
        packed = pickle.dumps([_emptied(each) for each in arguments]).hex()
        code = f"from {__name__} import compile_for; compile_for({self._loop.__module__!r}, "
        _start_compiling(f"{code}{self._loop.__name__!r}, {packed!r})")

    def compile_for(self, arguments: Sequence[Any]) -> None:
        """Compile the loop for arguments of these types, and save it; nothing is run."""
        import numba

        types: Callable[[Any], Any] = numba.typeof
        self._make().compile(tuple(map(types, arguments)))

    def _make(self) -> Any:
        """The compiler's handle on the loop; it compiles for the first arguments it sees."""
        from numba import njit

        for part in self._parts:
            _let_call(part)
        for part in self._sums:
            _let_call(part, any_order=True)
        for written, loop in self._replaced.items():
            _let_replace(written, loop)
        compiled: Any = njit(nogil=True)(self._loop)
        compiled._cache = _SavedCode(self._loop)
        return compiled


def compile_for(module: str, loop: str, packed: str) -> None:
    """Compile a loop of a module for packed arguments: what another process is asked to do."""
    import_module(module)
    _kernels()[module, loop].compile_for(pickle.loads(bytes.fromhex(packed)))


@cache
def _has_numba() -> bool:
    """Whether anything can be compiled in this environment."""
    try:
        return find_spec("numba") is not None
    except ImportError:
        return False


@cache
def _kernels() -> dict[tuple[str, str], Kernel[..., Any]]:
    """The kernels of this process by module and name of their loops."""
    return {}


def _emptied(value: Any) -> Any:
    """A value of the same type for the compiler, without what arrays hold."""
    import numpy as np  # the command line starts without

    if isinstance(value, np.ndarray):
        empty = np.empty((0,) * value.ndim, dtype=value.dtype)
        empty.flags.writeable = value.flags.writeable
        return empty
    if isinstance(value, tuple):
        parts = [_emptied(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


@cache
def _let_call(part: Callable[..., Any], *, any_order: bool = False) -> None:
    """Let compiled loops call a plain function."""
    from numba.extending import register_jitable

    register_jitable(fastmath=set(ANY_ORDER) if any_order else False)(part)


@cache
def _let_replace(written: Callable[..., Any], loop: Callable[..., Any]) -> None:
    """Let compiled loops call `loop` where the source calls `written`; both take the same arguments."""
    from numba.extending import overload

    names = written.__code__.co_varnames[: written.__code__.co_argcount]
    choose = eval(f"lambda {', '.join(names)}: loop", {"loop": loop})  # numba compares the names of arguments
    overload(written, jit_options={"fastmath": set(ANY_ORDER)}, strict=False)(choose)


@contextmanager
def _announced(loop: Callable[..., Any]) -> Iterator[None]:
    say = _announce.get()
    if say is None:
        yield
        return
    timer = threading.Timer(LONG, say, [f"compiling (once): {loop.__module__.rpartition('.')[2]}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _SavedCode:
    """What numba asks of a cache: one file for each loop. Trouble with files costs time and nothing else."""

    cache_path = None

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.name = _file_name(loop)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code for some types of arguments; None where there is none."""
        from numba.core import compiler

        target.refresh()
        result_type: Any = compiler.CompileResult
        saved = self._read().get((signature, target.codegen().magic_tuple()))
        return None if saved is None else result_type._rebuild(target, *saved)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep compiled code for later processes."""
        from numba.core import serialize

        if compiled.library.has_dynamic_globals:
            return
        key = (signature, compiled.library.codegen.magic_tuple())
        dumps: Callable[[Any], bytes] = serialize.dumps
        _write(self.name, dumps({**self._read(), key: compiled._reduce()}))

    def _read(self) -> dict[Any, Any]:
        for folder in _folders():
            # A file that another version wrote, or half of one, holds nothing of use.
            with suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError):
                found: dict[Any, Any] = pickle.loads((folder / self.name).read_bytes())
                return found
        return {}

    def enable(self) -> None:
        """Part of numba's protocol; the cache is always on."""

    def disable(self) -> None:
        """Part of numba's protocol; the cache is always on."""

    def flush(self) -> None:
        """Part of numba's protocol; files of other sources have other names."""


def _write(name: str, contents: bytes) -> None:
    """Write into the first folder that allows it, whole or not at all."""
    for folder in _folders():
        with suppress(OSError), _writing:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(contents)
            Path(file.name).replace(folder / name)
            return


def _folders() -> list[Path]:
    """Where compiled code may be kept, best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    personal = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    beside = Path(__file__).parent / "__pycache__"
    return [Path(chosen) / "unswayed"] if chosen else [beside, personal / "unswayed"]


def _file_name(loop: Callable[..., Any]) -> str:
    module = loop.__module__.rpartition(".")[2]
    return f"{module}.{loop.__name__}.{sys.implementation.cache_tag}.{_sources()}.kernel"


@cache
def _sources() -> str:
    """Sixteen digits for the text of all kernels and the version of numba."""
    from importlib.metadata import version

    texts = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    return sha256(b"".join([*texts, version("numba").encode()])).hexdigest()[:16]
