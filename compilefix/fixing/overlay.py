"""Serves changed sources from memory: an import hook under which Python runs a patch set without a file being touched.

The files on disk, installed packages included, stay as they are. `inspect.getsource`, tracebacks, the debugger and
Dynamo see the text that runs. Bytecode of a served file is neither read from nor written to `__pycache__`.
"""

from __future__ import annotations

import importlib
import io
import linecache
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType, TracebackType


class OverlayError(Exception):
    """Modules that would be served are imported already, so that it is too late; the message names them."""


def install(
    sources: Mapping[Path, str],
    new_modules: Mapping[str, tuple[Path, str]] | None = None,
) -> Overlay:
    """Serve `sources` (text by file) to all imports from now on.

    `new_modules` holds modules that have no file: by dotted name the path that they would have, and their text. The
    overlay is active on return, and until `uninstall()` or the end of a `with` block.

    Raises OverlayError when a module that would be served is imported already: code that holds it would go on with the
    old one. Install the overlay first, in a fresh process where that is not possible.
    """
    overlay = Overlay(sources, new_modules or {})
    overlay.install()
    return overlay


class Overlay(MetaPathFinder):
    """The finder that `install` puts in front of all others."""

    def __init__(self, sources: Mapping[Path, str], new_modules: Mapping[str, tuple[Path, str]]) -> None:
        self._sources = {os.path.realpath(path): text for path, text in sources.items()}
        self._new = {name: (os.path.abspath(path), text) for name, (path, text) in new_modules.items()}
        self._loaded: set[str] = set()
        self._cached: set[str] = set()
        self._asking = threading.local()

    def __enter__(self) -> Overlay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()

    @property
    def served(self) -> frozenset[str]:
        """The names of the modules that were loaded from memory so far."""
        return frozenset(self._loaded)

    def install(self) -> None:
        """Put the overlay in front of the other finders. Raises OverlayError as the function `install` does."""
        imported = sorted(name for name, module in sys.modules.items() if name in self._new or self._is_served(module))
        if imported:
            raise OverlayError(f"imported before the overlay was installed: {', '.join(imported)}")
        importlib.invalidate_caches()
        sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Take the overlay out, and forget the modules that it served, so that an import gets them from disk again."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in self._loaded:
            if isinstance(getattr(sys.modules.get(name), "__loader__", None), _ServedLoader):
                del sys.modules[name]
        for filename in self._cached:
            linecache.cache.pop(filename, None)
        self._loaded.clear()
        self._cached.clear()

    def load_file(self, path: Path, name: str) -> ModuleType:
        """Load a file by its path as module `name`, from memory where the overlay has it, and put it in sys.modules.

        For code that is not imported by name, such as a workload. Raises ImportError when the path is no Python file,
        and whatever the code itself raises.
        """
        filename = os.path.abspath(path)
        text = self._sources.get(os.path.realpath(filename))
        loader = None if text is None else _ServedLoader(name, filename, text, self)
        spec = spec_from_file_location(name, filename, loader=loader)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path}: is not a Python file", name=name, path=str(path))
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a served module, or None for all others, which leaves them to the finders behind."""
        new = self._new.get(fullname) or self._new_in(fullname, path)
        if new is not None:
            return self._spec(fullname, *new, None)
        active: set[str] = self._asking.__dict__.setdefault("names", set())
        if fullname in active:
            return None
        active.add(fullname)
        try:
            spec = self._ask_others(fullname, path, target)
        finally:
            active.discard(fullname)
        if spec is None or spec.loader is None or not spec.has_location or spec.origin is None:
            return None
        served = self._sources.get(os.path.realpath(spec.origin))
        return None if served is None else self._spec(fullname, spec.origin, served, spec.submodule_search_locations)

    def _new_in(self, fullname: str, folders: Sequence[str] | None) -> tuple[str, str] | None:
        """A new module that stands in a package whose own name was not known."""
        name = f"{fullname.rpartition('.')[2]}.py"
        wanted = {os.path.join(os.path.abspath(folder), name) for folder in folders or ()}
        return next((new for new in self._new.values() if new[0] in wanted), None)

    def _ask_others(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
            if spec is not None:
                return spec
        return None

    def _spec(self, name: str, filename: str, text: str, locations: Sequence[str] | None) -> ModuleSpec | None:
        loader = _ServedLoader(name, filename, text, self)
        places = None if locations is None else list(locations)
        if places is None and os.path.basename(filename) == "__init__.py":
            places = [os.path.dirname(filename)]
        spec = spec_from_file_location(name, filename, loader=loader, submodule_search_locations=places)
        if spec is not None:
            spec.cached = None
        return spec

    def _is_served(self, module: object) -> bool:
        filename = getattr(module, "__file__", None)
        return isinstance(filename, str) and os.path.realpath(filename) in self._sources

    def _began(self, name: str, filename: str, text: str) -> None:
        """Record that a module is about to run, and show its text to whoever asks for source lines."""
        self._loaded.add(name)
        self._cached.add(filename)
        lines = io.StringIO(text, newline=None).readlines()
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        # No modification time: linecache.checkcache then leaves the entry alone, whatever is on disk.
        linecache.cache[filename] = (len(text), None, lines, filename)


class _ServedLoader(SourceFileLoader):
    """Loads one module from memory; resources and data files of its package still come from disk."""

    def __init__(self, fullname: str, path: str, text: str, overlay: Overlay) -> None:
        super().__init__(fullname, path)
        self._text = text
        self._overlay = overlay

    def get_source(self, fullname: str) -> str:
        return io.StringIO(self._text, newline=None).read()

    def get_code(self, fullname: str) -> CodeType:
        # Not the inherited way, which would take and leave bytecode in __pycache__.
        self._overlay._began(fullname, self.path, self._text)
        code: CodeType = compile(self._text, self.path, "exec", dont_inherit=True)
        return code

    def get_data(self, path: str) -> bytes:
        if os.path.abspath(path) == os.path.abspath(self.path):
            return self._text.encode()
        return super().get_data(path)
