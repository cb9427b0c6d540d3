"""Which items of dictionaries are counts: `batch["size"]` of `range(batch["size"])`.

Batches are dictionaries of tensors and of a few numbers beside them. What such an item is used for tells which it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.source.definitions import Function
from compilefix.source.module import Module
from compilefix.source.syntax import last_name

_SIZES = frozenset(
    {"view", "reshape", "expand", "repeat", "zeros", "ones", "empty", "rand", "randn", "arange", "range"}
    | {"new_zeros", "new_ones", "new_empty"}
)
"""Calls of which all arguments by position are sizes, or numbers of turns."""
_SIZES_FIRST = frozenset({"full", "new_full"})
_COUNTS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def counted_keys(module: Module) -> frozenset[str]:
    """The keys under which a module gets what it uses as a size or as a number of turns, or computes these with."""
    return frozenset(key for function in module.all_functions for key in _counted(function))


def _counted(function: Function) -> Iterator[str]:
    if not any(_key(node) is not None for node in function.of(ast.Subscript)):
        return
    named = {
        target.id: key
        for node in function.of(ast.Assign)
        if isinstance(target := node.targets[0], ast.Name)
        and function.stores[target.id] == [target]
        and (key := _key(node.value)) is not None
    }
    for size in _sizes(function):
        for part in _parts(size):
            key = named.get(part.id) if isinstance(part, ast.Name) else _key(part)
            if key is not None:
                yield key


def _sizes(function: Function) -> Iterator[ast.expr]:
    for node in function.of(ast.Call):
        name = last_name(node.func)
        given = node.args if name in _SIZES else node.args[:1] if name in _SIZES_FIRST else []
        for size in given:
            yield from size.elts if isinstance(size, ast.Tuple | ast.List) else [size]


def _parts(size: ast.expr) -> Iterator[ast.expr]:
    """What a size is computed of with whole numbers: `n` and `d["m"]` of `n * d["m"]`."""
    if isinstance(size, ast.BinOp) and isinstance(size.op, _COUNTS):
        yield from _parts(size.left)
        yield from _parts(size.right)
    else:
        yield size


def _key(node: ast.expr) -> str | None:
    """The text by which an item is read, None for any other expression."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    return node.slice.value if isinstance(node.slice.value, str) else None
