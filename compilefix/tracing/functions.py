"""Puts what Dynamo tells of the parts of a function down to the function itself.

After a graph break Dynamo goes on in a function of its own for the rest, named after the first and the line. In the
source all are one function, and a guard that fails in each of them has one cause.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache

from compilefix.tracing.model import Place, Trace, TracedRecompile
from compilefix.tracing.payloads import guard_kind


def folded(trace: Trace, tree: Callable[[str], ast.Module | None]) -> Trace:
    """The trace with the recompiles of all parts of a function put together. `tree` gives the syntax tree of a file.

    What stands in a file that is not here is left as it is.
    """

    @cache
    def functions(path: str) -> Mapping[int, tuple[int, str]]:
        parsed = tree(path)
        return {} if parsed is None else functions_by_line(parsed)

    def whole(place: Place) -> Place:
        line, name = functions(place.path).get(place.line, (place.line, place.function))
        return replace(place, line=line, function=name)

    groups: dict[tuple[str, int, str, str], TracedRecompile] = {}
    for recompile in trace.recompiles:
        moved = replace(recompile, place=whole(recompile.place), part=recompile.part or recompile.place.line)
        key = (moved.place.path, moved.place.line, moved.place.function, guard_kind(moved.reason))
        known = groups.get(key)
        groups[key] = moved if known is None else _together(known, moved)
    breaks = tuple(replace(site, place=_named(site.place, functions(site.place.path))) for site in trace.breaks)
    return replace(trace, breaks=breaks, recompiles=tuple(sorted(groups.values(), key=_cost)))


def _together(first: TracedRecompile, second: TracedRecompile) -> TracedRecompile:
    return replace(
        first,
        cause=first.cause or second.cause,
        count=first.count + second.count,
        frames=first.frames + second.frames,
        compile_s=round(first.compile_s + second.compile_s, 6),
        limit=first.limit or second.limit,
    )


def _cost(recompile: TracedRecompile) -> tuple[float, int, str, int, str]:
    return (-recompile.compile_s, -recompile.count, recompile.place.path, recompile.place.line, recompile.reason)


def _named(place: Place, functions: Mapping[int, tuple[int, str]]) -> Place:
    known = functions.get(place.line)
    return place if known is None else replace(place, function=known[1])


def functions_by_line(tree: ast.Module) -> Mapping[int, tuple[int, str]]:
    """By line, the first line and the qualified name of the innermost function that holds it."""
    found: dict[int, tuple[int, str]] = {}
    pending: list[tuple[Iterable[ast.AST], str]] = [(ast.iter_child_nodes(tree), "")]
    while pending:
        nodes, prefix = pending.pop()
        for node in nodes:
            inner = prefix
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                name = f"{prefix}{node.name}"
                for line in range(first, (node.end_lineno or node.lineno) + 1):
                    # Outer functions come first, so that the inner ones write over them.
                    found[line] = (first, name)
                inner = f"{name}."
            elif isinstance(node, ast.ClassDef):
                inner = f"{prefix}{node.name}."
            pending.append((ast.iter_child_nodes(node), inner))
    return found
