"""A function of the file that is scripted where compiled code runs: compiling takes the function itself.

`torch.jit.script(f)` becomes `f if torch.compiler.is_compiling() else torch.jit.script(f)`: nothing changes for code
that runs without compiling.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import names_in

_PLAIN = frozenset({"int", "float", "bool", "str"})
_MADE = frozenset(
    f"torch.{name}"
    for name in (
        *("tensor", "scalar_tensor", "full", "zeros", "ones", "empty", "eye", "rand", "randn"),
        *("linspace", "logspace", "arange"),
    )
)
_READS = frozenset({"item", "tolist", "nonzero", "int", "float", "bool"})


def why_scripted(node: ast.Call, scope: Scope) -> str | None:
    """Why compiled code cannot take the function itself in place of what scripts it; None if it can."""
    function = _defined(node, scope)
    if function is None:
        return "compile the function itself: what is scripted is not traced"
    if function.decorator_list:
        return f"`{function.name}` has a decorator: compile the function itself"
    if (other := _differs(function, scope)) is not None:
        return (
            f"`{snippet(other)}` on line {getattr(other, 'lineno', 0)} is another thing in TorchScript than in Python"
        )
    if (read := _asks_values(function)) is not None:
        return f"`{snippet(read)}` on line {getattr(read, 'lineno', 0)} may break the graph in its place"
    if not _only_called(node, scope):
        return "what is scripted may be used in other ways than a call: compile the function itself"
    return None


def _defined(node: ast.Call, scope: Scope) -> ast.FunctionDef | None:
    """The one definition of the function that is scripted, in the function round the call or in the file."""
    name = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not isinstance(name, ast.Name):
        return None
    inside = scope.function.node
    given = {part.arg for part in ast.walk(inside) if isinstance(part, ast.arg)}
    if name.id in given or scope.names(name.id, stores=True):
        return None
    defined = [n for n in ast.walk(inside) if n is not inside and isinstance(n, ast.FunctionDef) and n.name == name.id]
    if defined:
        own = any(defined[0] is one for one in _statements(inside.body))  # and not of a function further in
        return _single(name.id, defined, inside) if own else None
    if scope.function.parent is not None:
        return None  # the function round this one may bind the name
    defined = [one for one in scope.file.tree.body if isinstance(one, ast.FunctionDef) and one.name == name.id]
    return _single(name.id, defined, scope.file.tree)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of the blocks in it, without those of functions and classes."""
    for one in body:
        yield one
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(one, block, []))


def _single(name: str, found: list[ast.FunctionDef], place: ast.AST) -> ast.FunctionDef | None:
    """The definition, where nothing else in the place gives its name a value."""
    stored = any(
        (isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.Global | ast.Nonlocal) and name in n.names)
        or (isinstance(n, ast.ClassDef) and n.name == name)
        or (isinstance(n, ast.ExceptHandler) and n.name == name)
        or (isinstance(n, ast.alias) and (n.asname or n.name) == name)
        for n in ast.walk(place)
    )
    return found[0] if len(found) == 1 and not stored else None


def _differs(function: ast.FunctionDef, scope: Scope) -> ast.AST | None:
    """What is another thing in TorchScript: it has one type of exception, prints itself, and may be asked for."""
    for node in ast.walk(function):
        if isinstance(node, ast.Raise | ast.Assert):
            return node
        name = scope.function.module.qualified(node.func) or "" if isinstance(node, ast.Call) else ""
        if name in ("print", "builtins.print") or name.startswith("torch.jit."):
            return node
        if name in _MADE and not any(keyword.arg == "dtype" for keyword in getattr(node, "keywords", ())):
            return node  # it does not heed a default dtype, and fills with integers where it is given a bool
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _of_tensor(node, function, scope):
            return node  # of two integers it makes a float or overflows
    return None


def _asks_values(function: ast.FunctionDef) -> ast.AST | None:
    """What may need the values of tensors: loops and branches, but for those that numbers and texts decide."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    plain = {one.arg for one in arguments if one.annotation is not None and ast.unparse(one.annotation) in _PLAIN}
    for node in ast.walk(function):
        if isinstance(node, ast.While):
            return node
        if isinstance(node, ast.If | ast.IfExp):
            names = names_in(node.test)
            if names - plain:
                return node.test
        if isinstance(node, ast.Call) and last_name(node.func) in _READS:
            return node
    return None


def _of_tensor(node: ast.BinOp, function: ast.FunctionDef, scope: Scope) -> bool:
    """Whether one side is a tensor. What a scripted function is given is one, where nothing else is said."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    given = {one.arg for one in arguments if one.annotation is None or "Tensor" in ast.unparse(one.annotation)}
    sides = (node.left, node.right)
    return any(scope.value(side).is_tensor or (isinstance(side, ast.Name) and side.id in given) for side in sides)


def _only_called(node: ast.Call, scope: Scope) -> bool:
    """Whether what a call gives is called or returned, at once or under a name."""
    parent = scope.parents.get(node)
    if not isinstance(parent, ast.Assign):
        return _called_or_returned(node, scope)
    target = parent.targets[0] if len(parent.targets) == 1 else None
    if not isinstance(target, ast.Name) or len(scope.names(target.id, stores=True)) != 1:
        return False
    shared = any(
        isinstance(n, ast.Global | ast.Nonlocal) and target.id in n.names for n in ast.walk(scope.function.node)
    )
    uses = [
        n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == target.id and n is not target
    ]
    return not shared and all(_called_or_returned(use, scope) for use in uses)


def _called_or_returned(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Return) or (isinstance(parent, ast.Call) and parent.func is node)
