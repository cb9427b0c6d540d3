"""A pytest plugin that compiles what tests call of a package, and writes for each test where Dynamo broke the graph.

    python -m pytest -p compiled_plugin --compiled PACKAGE_FOLDER --breaks FILE

Each call in the code of the tests whose callee is a module, a function or a method of the package is made compiled
(backend `eager`). Nothing of the package is replaced: the calls are found in the syntax trees of the tests, so that
only the outermost call is compiled, as a user would do it. Where fixes have put the helper of the compile boundary into
the package, what is compiled is wrapped in it, as the finding advises. Dynamo forgets all between two tests.

One JSON object for each test: `test`, `error` (what its failure says), `timed_out`, `compiled` (how many calls),
`sites` and `skipped`, whose paths are those of the package.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import inspect
import json
import signal
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
import torch

from compilefix.measuring.breaks import BreakCollector

_CALL = "__compiled_call__"
_FRAMES = ("super", "locals", "globals", "vars", "dir", "eval", "exec")  # these look at who calls them
_TEST_FOLDERS = ("test", "tests", "testing", "unittests")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption("--compiled", type=Path, required=True, help="the folder of the package")
    parser.addoption("--breaks", type=Path, required=True, help="where the breaks of each test are written")
    parser.addoption("--parameters", type=int, default=0, help="how many sets of parameters of a test run; 0: all")
    parser.addoption("--test-seconds", type=float, default=60.0, help="after which a test is stopped")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin with an empty file, before any module of the tests is imported."""
    options = early_config.known_args_namespace
    torch._dynamo.config.recompile_limit = 64
    torch._dynamo.config.accumulated_recompile_limit = 4096
    package = options.compiled.resolve()
    options.breaks.write_text("", encoding="utf-8")
    compiler = _Compiler(package)
    sys.modules["compiled_call"] = types.ModuleType("compiled_call")
    setattr(sys.modules["compiled_call"], _CALL, compiler.call)
    # Before the finder that pytest has put first, which rewrites asserts.
    sys.meta_path.insert(0, _Finder(package, Path.cwd().resolve()))
    early_config.pluginmanager.register(_Recorder(compiler, package, options.breaks, options.test_seconds))


class _Finder(importlib.abc.MetaPathFinder):
    """Loads the modules of the tests with their calls rewritten."""

    def __init__(self, package: Path, checkout: Path) -> None:
        self._package, self._checkout = package, checkout

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The usual one, with a loader that rewrites, for what is part of the tests."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not self._is_test(Path(spec.origin or "")):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec

    def _is_test(self, file: Path) -> bool:
        file = file.resolve()
        if not file.is_relative_to(self._checkout):
            return False
        in_package = file.is_relative_to(self._package)
        return not in_package or any(part in _TEST_FOLDERS for part in file.relative_to(self._package).parts)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        """Never from a cache, which holds the code as it was."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        """The code with its calls rewritten."""
        tree = _Calls().visit(ast.parse(data, str(path)))
        place = next((i for i, s in enumerate(tree.body) if not _stays_first(s)), len(tree.body))
        tree.body.insert(place, ast.parse(f"from compiled_call import {_CALL}").body[0])
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True, optimize=_optimize)


def _stays_first(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Calls(ast.NodeTransformer):
    """`f(x)` becomes `__compiled_call__(f, x)` in the bodies of functions, but for the modules that tests define."""

    def __init__(self) -> None:
        self._in_function = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators and defaults are evaluated outside."""
        outer, self._in_function = self._in_function, True
        node.body = [self.visit(statement) for statement in node.body]
        self._in_function = outer
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """What has a `forward` runs compiled itself."""
        if any(isinstance(s, ast.FunctionDef) and s.name in ("forward", "__call__") for s in node.body):
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Calls the dispatcher with what was called and its arguments."""
        self.generic_visit(node)
        if not self._in_function or (isinstance(node.func, ast.Name) and node.func.id in _FRAMES):
            return node
        name = ast.copy_location(ast.Name(_CALL, ast.Load()), node.func)
        return ast.copy_location(ast.Call(name, [node.func, *node.args], node.keywords), node)


class _Compiler:
    """Compiles what belongs to the package when the outermost call of it is made."""

    def __init__(self, package: Path) -> None:
        self.calls = 0
        self._package = package
        self._name = package.name
        self._running = False
        self._compiled: dict[int, tuple[Any, Callable[..., Any]]] = {}

    def forget(self) -> None:
        """Begin anew."""
        self.calls = 0
        self._compiled.clear()
        torch._dynamo.reset()

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function, compiled if it is of the package."""
        if torch.compiler.is_compiling() or self._running:
            return function(*args, **kwargs)
        if function is torch.autograd.gradcheck or function is torch.autograd.gradgradcheck:
            return function(functools.partial(self.call, args[0]), *args[1:], **kwargs) if args else function(**kwargs)
        if (target := self._target(function)) is None:
            return function(*args, **kwargs)
        self._running = True
        self.calls += 1
        try:
            return self._of(function, target)(*args, **kwargs)
        finally:
            self._running = False

    def _target(self, function: Any) -> Callable[..., Any] | None:
        """What is to be compiled for a callee; None where it is nothing of the package."""
        if isinstance(function, torch.nn.Module):
            own = not type(function).__module__.startswith("torch.")
            return type(function).__call__.__get__(function) if own else None
        if isinstance(function, types.MethodType):
            within = self._is_own(function.__func__) and not isinstance(function.__self__, type)
        elif isinstance(function, types.FunctionType):
            within = self._is_own(function)
        elif not isinstance(function, type) and self._is_named(type(function).__module__):
            called = inspect.getattr_static(type(function), "__call__", None)
            return called.__get__(function) if isinstance(called, types.FunctionType) else None
        else:
            return None
        return function if within else None

    def _is_own(self, function: Any) -> bool:
        inner = inspect.unwrap(function)
        if inspect.isgeneratorfunction(inner) or inspect.iscoroutinefunction(inner):
            return False
        return self._is_named(getattr(function, "__module__", None) or "")

    def _is_named(self, module: str) -> bool:
        first, *rest = module.split(".")
        return first == self._name and not any(part in _TEST_FOLDERS for part in rest)

    def _of(self, function: Any, target: Callable[..., Any]) -> Callable[..., Any]:
        # A bound method is a new object each time: the module or instance and the function tell which it is.
        known = (id(getattr(target, "__self__", None)), id(getattr(target, "__func__", target)))
        key = hash(known)
        if key not in self._compiled:
            compiled: Any = torch.compile(target, backend="eager")
            for boundary in self._boundaries():
                compiled = boundary(compiled)
            self._compiled[key] = (function, compiled)
        return self._compiled[key][1]

    @functools.cache  # noqa: B019
    def _boundaries(self) -> tuple[Any, ...]:
        found = []
        for file in sorted(self._package.rglob("_compile_boundary*.py")):
            parts = file.relative_to(self._package.parent).with_suffix("").parts
            found.append(importlib.import_module(".".join(parts)).boundary)
        return tuple(found)


class _Recorder:
    def __init__(self, compiler: _Compiler, package: Path, path: Path, seconds: float) -> None:
        self._compiler, self._package, self._path, self._seconds = compiler, package, path, seconds
        self._seen: dict[str, Any] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Compiling takes long: of a test with many sets of parameters a few may be enough."""
        wanted, kept = config.getoption("--parameters"), Counter[str]()
        for item in list(items) if wanted else []:
            name = item.nodeid.partition("[")[0]
            kept[name] += 1
            if kept[name] > wanted:
                items.remove(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Collect while a test runs, and write what was collected."""
        self._seen = {"test": item.nodeid, "error": "", "timed_out": False}
        self._compiler.forget()
        before = signal.signal(signal.SIGALRM, self._stop)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        with BreakCollector() as collector:
            yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        self._seen["compiled"] = self._compiler.calls
        self._seen["sites"] = [
            [path, site.line, site.gb, site.reason, site.function, site.source]
            for site in collector.break_sites
            if (path := self._within(site.path)) is not None
        ]
        self._seen["skipped"] = [
            [path, event.line, event.reason, event.function]
            for event in collector.skipped_frames
            if (path := self._within(event.path)) is not None
        ]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self._seen) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a failure says."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash is not None else str(report.longrepr)
            self._seen["error"] = text[:600]

    def _stop(self, *_: Any) -> None:
        self._seen["timed_out"] = True
        raise TimeoutError(f"the test took more than {self._seconds:.0f} s")

    def _within(self, path: str) -> str | None:
        file = Path(path)
        return file.relative_to(self._package).as_posix() if file.is_relative_to(self._package) else None
