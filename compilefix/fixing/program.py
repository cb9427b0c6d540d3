"""Runs a program as Python itself would, with changed sources served from memory: a script, or a module as with `-m`.

This file is the whole of what stands between the interpreter and the program. It is started as a script of its own, so
that the program finds a fresh interpreter, its own `sys.argv` and `sys.path`, and its own `__main__`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import linecache
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True)
class Served:
    """A changed file: its text, the dotted name where it has no file on disk, and its fixes for the summary."""

    path: str
    text: str
    new_module: str | None
    fixes: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """What to run: the words after `python` (`["-m", "package", ...]` or `["script.py", ...]`), and what is served."""

    words: tuple[str, ...]
    served: tuple[Served, ...]
    summary: bool

    def to_json(self) -> str:
        """The program as JSON text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Program:
        """The program that `to_json` wrote."""
        data = json.loads(text)
        served = tuple(Served(**{**item, "fixes": tuple(item["fixes"])}) for item in data["served"])
        return Program(tuple(data["words"]), served, data["summary"])


def command(request: Path) -> list[str]:
    """The command line that runs the program in the file `request`, which is removed when the program starts."""
    return [sys.executable, str(Path(__file__).resolve()), str(request)]


def run(program: Program) -> None:
    """Install the overlay and run the program. Ends as the program ends, with what it raises."""
    with _importable(_PACKAGE_PARENT):
        from compilefix.fixing.overlay import install

    overlay = install(
        {Path(item.path): item.text for item in program.served if item.new_module is None},
        {item.new_module: (Path(item.path), item.text) for item in program.served if item.new_module is not None},
    )
    loaded: set[str] = set()
    if program.summary:
        # Registered first, so that it runs after all that the program registers.
        atexit.register(lambda: _summarize(program, loaded | {_file_of(name) for name in overlay.served}))
    try:
        if program.words[0] == "-m":
            _run_module(program.words[1], program.words[2:])
        else:
            _run_script(program.words, {item.path: item.text for item in program.served}, loaded)
    except (Exception, KeyboardInterrupt):
        # The interpreter ends the process as it does for any program; only what it shows begins with the program.
        sys.excepthook = _Hook(sys.excepthook)
        raise


def _run_script(words: Sequence[str], texts: Mapping[str, str], loaded: set[str]) -> None:
    path = str(Path(words[0]).absolute())
    real = os.path.realpath(path)
    sys.argv = list(words)
    _begin_path_with(str(Path(real).parent))
    text = texts.get(real)
    main = _fresh_main(path)
    if text is not None:
        loaded.add(real)
        # No modification time: linecache then keeps the text that runs, whatever is on disk.
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    code: CodeType = compile(Path(path).read_bytes() if text is None else text, path, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def _run_module(name: str, rest: Sequence[str]) -> None:
    sys.argv = ["-m", *rest]
    _begin_path_with(str(Path.cwd()))
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _begin_path_with(folder: str) -> None:
    # With `python -P` or PYTHONSAFEPATH there is no such entry.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _fresh_main(path: str) -> ModuleType:
    """The module `__main__` as Python makes it for a script."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=path, __cached__=None, __builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = main
    return main


class _Hook:
    """The hook for exceptions that nobody caught, without the frames of this file."""

    def __init__(self, hook: Callable[..., object]) -> None:
        self._hook = hook

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
            trace = trace.tb_next
        self._hook(kind, error.with_traceback(trace), trace)


def _summarize(program: Program, loaded: set[str]) -> None:
    """Say on stderr which fixes ran, and which files with fixes were never loaded."""
    lines = []
    ran = [item for item in program.served if item.fixes and item.path in loaded]
    fixes = sum(len(item.fixes) for item in ran)
    lines.append(f"compilefix: ran with {fixes} {'fix' if fixes == 1 else 'fixes'}, served from memory")
    for item in program.served:
        if item.fixes:
            state = "" if item.path in loaded else " (not imported)"
            lines.append(f"  {_shown(item.path)}{state}: {', '.join(item.fixes)}")
    with contextlib.suppress(OSError, ValueError):
        print("\n".join(lines), file=sys.stderr, flush=True)


def _file_of(module: str) -> str:
    return os.path.realpath(getattr(sys.modules.get(module), "__file__", None) or "")


def _shown(path: str) -> str:
    with contextlib.suppress(ValueError, OSError):
        return Path(path).relative_to(Path.cwd()).as_posix()
    return path


@contextlib.contextmanager
def _importable(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def main() -> None:
    """Run the program whose request is the file named on the command line."""
    request = Path(sys.argv[1])
    text = request.read_text(encoding="utf-8")
    request.unlink()
    run(Program.from_json(text))


if __name__ == "__main__":
    main()
