"""What is made once and kept: `if self.table is None: self.table = ...`, and what stands behind such a question."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.source.definitions import Function
from compilefix.source.syntax import asks_for_something, conjuncts
from compilefix.source.tree import walk

_STORES = frozenset({"copy_", "fill_", "update", "setdefault", "append", "add", "__setitem__"})


def makes_once(
    test: ast.expr, block: list[ast.stmt], function: Function, calls: Iterable[tuple[ast.AST, Function]]
) -> bool:
    """Whether a block makes something that a test takes for missing, and that is kept from then on.

    `calls` are the calls in the function, with what they call: a method may make it.
    """
    if any(_ends_itself(part, block, function) for part in conjuncts(test)):
        return True
    kept_there = [kept for kept in missing(test) if _is_kept(kept, function)]
    if not kept_there:
        return False
    inside = {part for statement in block for part in walk(statement)}
    texts = {ast.unparse(kept) for kept in kept_there}
    if any(_stored(node) & texts for node in function.nodes if node not in inside):
        return False  # another value in each call, or none again
    if any(_stored(node) & texts for node in inside):
        return True
    called = [callee for node, callee in calls if node in inside and callee.cls is not None]
    return any(_stored(node) & texts for callee in called for node in callee.nodes)


def _ends_itself(flag: ast.expr, block: list[ast.stmt], function: Function) -> bool:
    """Whether a block runs where a flag is on, and switches it off for good: `if self.first: self.first = False`."""
    if not isinstance(flag, ast.Attribute | ast.Name) or not _is_kept(flag, function):
        return False
    text = ast.unparse(flag)
    ends = [
        statement
        for statement in block
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and not statement.value.value
        and any(ast.unparse(target) == text for target in statement.targets)
    ]
    inside = {part for statement in ends for part in walk(statement)}
    return bool(ends) and not any(text in _stored(node) for node in function.nodes if node not in inside)


def missing(test: ast.expr) -> Iterator[ast.expr]:
    """What a test takes for missing: `x is None`, `not x`, `x is False`, `k not in x`, `not hasattr(o, "x")`."""
    if isinstance(test, ast.BoolOp):
        found = [list(missing(part)) for part in test.values]
        if isinstance(test.op, ast.And):
            yield from (kept for part in found for kept in part)
        elif found[0]:
            # `self.table is None or self.table.shape[0] < n`: the rest asks whether it is large enough.
            name = ast.unparse(found[0][0])
            if all(part or name in ast.unparse(value) for part, value in zip(found, test.values, strict=True)):
                yield found[0][0]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        asked = test.operand
        if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name) and asked.func.id == "hasattr":
            owner, attribute = asked.args if len(asked.args) == 2 else (None, None)
            if isinstance(attribute, ast.Constant) and isinstance(owner, ast.Name):
                yield ast.Attribute(owner, str(attribute.value), ast.Load())
        elif isinstance(asked, ast.Attribute | ast.Name):
            yield asked
        elif isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.ops[0], ast.In):
            yield asked.comparators[0]
        elif isinstance(asked, ast.Compare) and asks_for_something(asked):
            yield asked.left
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        operator, other = test.ops[0], test.comparators[0]
        nothing = isinstance(other, ast.Constant) and not other.value
        if nothing and isinstance(operator, ast.Is | ast.Eq):
            yield test.left
        elif isinstance(operator, ast.NotIn):
            yield other


def refills(branch: ast.If, block: list[ast.stmt], function: Function) -> bool:
    """Whether a block makes anew what is kept for another size or sort of input, and notes for which it is kept now.

    `if n == self.n: table = self.table`, `else: table = self.table = ...; self.n = n`. What is compiled holds for one
    `n` alone, so that the block runs once for each time that it is compiled.
    """
    same = block is branch.orelse
    either = isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.Or)
    parts = (
        branch.test.values if either and not same and isinstance(branch.test, ast.BoolOp) else conjuncts(branch.test)
    )
    # Where each of them decides alone, none may ask for what changes from call to call.
    if (same or either) and not all(_asks_for_sort(part, function) or [*missing(part)] for part in parts):
        return False
    stores = [(ast.unparse(t), s.value) for s in block if isinstance(s, ast.Assign) for t in s.targets]
    kept = {text for text, _ in stores if _is_kept(ast.parse(text, mode="eval").body, function)}
    for part in parts:
        if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], ast.Eq if same else ast.NotEq):
            continue
        sides = [ast.unparse(side) for side in (part.left, part.comparators[0])]
        for key, given in (sides, sides[::-1]):
            noted = any(text == key and ast.unparse(value) == given for text, value in stores)
            if noted and key in kept and len(kept) > 1 and _asks_for_sort(part, function):
                return True
    return False


_SORTS = frozenset({"shape", "size", "ndim", "dim", "numel", "dtype", "device", "type", "layout"})


def _asks_for_sort(test: ast.expr, function: Function) -> bool:
    """Whether a test compares with the size, dtype or device of something, or with a name that got it of that."""
    if not isinstance(test, ast.Compare):
        return False
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    given = [
        node.value
        for node in function.of(ast.Assign)
        if any(isinstance(n, ast.Name) and n.id in names for target in node.targets for n in ast.walk(target))
    ]
    parts = [part for root in (test, *given) for part in ast.walk(root)]
    asked = any(isinstance(n, ast.Attribute) and n.attr in _SORTS for n in parts)
    return asked or any(isinstance(n, ast.Name) and n.id == "len" for n in parts)


def notes_once(branch: ast.If, function: Function) -> bool:
    """Whether a block that runs where a global flag is off switches it on: `if not _inited: _inited = True`."""
    shared = {name for node in function.of(ast.Global) for name in node.names}
    return any(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        and any(isinstance(target, ast.Name) and target.id in shared for target in statement.targets)
        for statement in branch.body
    )


def _is_kept(kept: ast.expr, function: Function) -> bool:
    """Whether something outlives the call: an attribute of the object, or a global of the file."""
    if isinstance(kept, ast.Name):
        shared = any(kept.id in node.names for node in function.of(ast.Global))
        return shared or (kept.id in function.module.assigns and kept.id not in function.bound)
    if not isinstance(kept, ast.Attribute) or function.cls is None:
        return False
    own = next((parameter.arg for parameter in function.parameters), None)
    while isinstance(kept, ast.Attribute):
        kept = kept.value
    return isinstance(kept, ast.Name) and kept.id in (own, function.cls.node.name)


def _stored(node: ast.AST) -> frozenset[str]:
    """The texts of what a node gives another value, or puts something into."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _STORES:
                return frozenset({ast.unparse(_holder(node.func.value))})
            if node.func.attr == "register_buffer" and node.args:
                return _attribute_named(node.func.value, node.args[0])
        elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            return _attribute_named(node.args[0], node.args[1])
        return frozenset()
    if isinstance(node, ast.Attribute | ast.Name | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return frozenset({ast.unparse(_holder(node))})
    return frozenset()


def _attribute_named(owner: ast.expr, name: ast.expr) -> frozenset[str]:
    text = name.value if isinstance(name, ast.Constant) else None
    return frozenset({f"{ast.unparse(owner)}.{text}"} if isinstance(text, str) else ())


def _holder(node: ast.expr) -> ast.expr:
    """What holds the place that a value is put into: `self.tables` of `self.tables[key]`, `x` of `x.data`."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
        node = node.value
    return node
