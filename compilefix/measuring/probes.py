"""Which sides of changed conditions, and which changed statements, the inputs reached.

Both texts of a file are run once more, eager, with each condition and statement that the other text does not have in
the same function reported to a counter. Only text inside a line is added, so line numbers stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

HOOK = "__compilefix_probe__"
RUN = "run "
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete, ast.Assert)
_SHOWN = 80
_COMPILING = "is_compiling"
_COMPILED_FROM_SOURCE = frozenset({"script", "script_method", "njit", "jit"})
Seen = Literal["condition", "statement", "scripted"]
"""What is counted: a condition, a statement, or a function in which nothing can be, since a decorator such as
`torch.jit.script` compiles it from its source and knows nothing of probes."""


@dataclass(frozen=True)
class Probe:
    """A condition of which both sides should be seen, or a statement that should be run. Columns from 0, in bytes.

    A changed function of which nothing can be seen has one probe, which is never reached.
    """

    path: str
    line: int
    column: int
    end: tuple[int, int]
    text: str
    kind: Seen

    @property
    def key(self) -> str:
        """The name under which it is counted; that of a statement begins with RUN."""
        kind = "" if self.kind == "condition" else RUN
        return f"{kind}{self.path}:{self.line}:{self.column}-{self.end[0]}:{self.end[1]}"


class ProbeCounts:
    """Counts by probe how often it was true and false. Install it before the workload is imported."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}

    def install(self) -> None:
        """Makes the counter reachable from probed source."""
        setattr(builtins, HOOK, self._seen)

    def _seen(self, key: str, value: Any) -> Any:
        true, false = self.counts.get(key, (0, 0))
        self.counts[key] = (true + 1, false) if value else (true, false + 1)
        return value


def probed(source: str, other: str, path: str) -> tuple[str, tuple[Probe, ...]]:
    """The source with probes at what `other` does not have, and the probes, by place.

    Source that does not parse comes back as it is.
    """
    try:
        here, there = ast.parse(source), ast.parse(other)
    except (SyntaxError, ValueError):
        return source, ()
    known = {name: Counter(key for key, _ in _parts(function)) for name, function in _functions(there)}
    asks = {name: _asks(function) for name, function in _functions(there)}
    marks: list[tuple[int, int, int, str]] = []
    probes: list[Probe] = []
    for name, function in _functions(here):
        kept = known.get(name, Counter())
        decorator = _scripted(function)
        if decorator is not None:
            if kept != Counter(key for key, _ in _parts(function)):
                place, end = (function.lineno, function.col_offset), (function.lineno, function.col_offset)
                probes.append(Probe(path, *place, end, f"@{ast.unparse(decorator)} {name}", "scripted"))
            continue
        if _asks(function) != asks.get(name, 0):
            # What compiled code no longer looks at may stand there word for word.
            kept = Counter({key: count for key, count in kept.items() if key.startswith("statement ")})
        for order, (key, node) in enumerate(_parts(function)):
            if kept[key] > 0:
                kept[key] -= 1
                continue
            if _COMPILING in key or node.end_lineno is None or node.end_col_offset is None:
                continue
            statement = isinstance(node, ast.stmt)
            end = (node.end_lineno, node.end_col_offset)
            kind: Seen = "statement" if statement else "condition"
            probe = Probe(path, node.lineno, node.col_offset, end, _shown(node), kind)
            probes.append(probe)
            if statement:
                marks.append((node.lineno, node.col_offset, -1, f"{HOOK}({probe.key!r}, True); "))
            else:
                marks.append((node.lineno, node.col_offset, order, f"{HOOK}({probe.key!r}, ("))
                marks.append((*end, -2, "))"))
    return _marked(source, marks), tuple(sorted(probes, key=lambda probe: (probe.line, probe.column)))


def _scripted(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """The decorator that compiles a function from its source, if it has one."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] in _COMPILED_FROM_SOURCE:
            return decorator
    return None


def _asks(function: ast.AST) -> int:
    """How often a function asks whether it is being compiled."""
    return ast.dump(function).count(_COMPILING)


def _marked(source: str, marks: list[tuple[int, int, int, str]]) -> str:
    lines = [line.encode("utf-8") for line in io.StringIO(source, newline="")]
    # From the back, so that positions before stay true; of several at one place the outer one goes in last.
    for line, column, _, text in sorted(marks, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + text.encode() + lines[line - 1][column:]
    return b"".join(lines).decode("utf-8")


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{prefix}{node.name}"
            if isinstance(node, _FUNCTIONS):
                yield name, node
            yield from _functions(node, f"{name}.")
        else:
            yield from _functions(node, prefix)


def _parts(function: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """The conditions and simple statements of a function, outer ones first, with a key that ignores their place."""
    body = list(getattr(function, "body", ()))
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    queue: list[ast.AST] = body
    while queue:
        node = queue.pop(0)
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.JoinedStr)):
            continue
        if isinstance(node, _SIMPLE) and not (isinstance(node, ast.AnnAssign) and node.value is None):
            yield f"statement {ast.dump(node)}", node
        for test in _conditions(node):
            yield f"condition {ast.dump(test)}", test
        queue += ast.iter_child_nodes(node)


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    tests: list[ast.expr] = []
    if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        tests = [node.test]
    elif isinstance(node, ast.BoolOp):
        tests = node.values
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    yield from (test for test in tests if not isinstance(test, (ast.Constant, ast.Starred)))


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node).splitlines()[0]
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
