"""CF207: a list of integers made through a tensor.

## What it does
Finds `torch.arange(...).tolist()` with integers that are known while tracing, and writes `list(range(...))`.

## Why is this bad
`tolist` reads the tensor on the host, and the graph breaks (GB0033), though the list holds only what Python knew
before.

## Example
```python
reduce_axis = torch.arange(2, len(input.shape)).tolist()
```

## Use instead
```python
reduce_axis = list(range(2, len(input.shape)))
```

## Fix safety
Safe where it is proved that the numbers are integers and that the range does not go backwards: `arange` raises then,
and `range` is empty. `x.shape[1]` earlier in the function proves that `len(x.shape)` is at least 2. Where nothing
proves it, the number of dimensions is asked: `list(range(2, len(x.shape))) if len(x.shape) >= 2 else ...`, with what
was written behind the `else`. While Dynamo traces the number is fixed, and the other side is not looked at.

Graph breaks: GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_RESHAPING = frozenset({"squeeze_", "unsqueeze_", "resize_", "resize_as_", "set_"})
_INTEGERS = frozenset({"torch.int64", "torch.long", "torch.int32", "torch.int"})


class TensorRange(Rule):
    """List of integers made through a tensor."""

    code = "CF207"
    name = "tensor-range"
    summary = "torch.arange(...).tolist() of integers that are known while tracing"
    gb = ("GB0033",)
    hints = ("arange",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `tolist` on a new range."""
        for node in scope.of(ast.Call):
            made = listed(node, scope)
            if made is None:
                continue
            message = f"`{snippet(node)}` reads a tensor on the host, and the graph breaks"
            reason = _obstacle(node, made, scope)
            if reason is not None:
                yield self.declined(scope, node, message, reason)
                continue
            template = Template()
            numbers = ", ".join(template.use(a) for a in made.args)
            code = f"list(range({numbers}))"
            least = _to_ask(node, made, scope)
            if least is not None:
                whole, end = template.use(node), template.use(made.args[-1])
                code = f"{code} if {end} >= {least} else {whole}"
                code = code if _stands_alone(node, scope) else f"({code})"
            yield self.fixed(scope, node, message, Fix((scope.edit(node, code, **template.parts),)))


def listed(node: ast.Call, scope: Scope) -> ast.Call | None:
    """The call of `torch.arange` whose result a call makes a list of."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "tolist" or node.args or node.keywords:
        return None
    made = node.func.value
    if not isinstance(made, ast.Call) or scope.callee(made) != "torch.arange" or not 1 <= len(made.args) <= 2:
        return None
    for keyword in made.keywords:
        name = ast.unparse(keyword.value)
        integers = keyword.arg == "dtype" and (scope.value(keyword.value).ref or name) in _INTEGERS
        if keyword.arg != "device" and not integers:
            return None
    known = all(scope.value(a).is_(Kind.STATIC, Kind.SIZE) and scope.value(a).dtype == "int" for a in made.args)
    return made if known and not _asked_for(node, made, scope) else None


def _asked_for(node: ast.Call, made: ast.Call, scope: Scope) -> bool:
    """Whether it stands behind `... if len(x.shape) >= 2 else`, where it is there to raise."""
    around = scope.parents.get(node)
    if not isinstance(around, ast.IfExp) or around.orelse is not node or not isinstance(around.test, ast.Compare):
        return False
    return ast.unparse(around.test) == f"{ast.unparse(made.args[-1])} >= {ast.unparse(made.args[0])}"


def is_plain_device(node: ast.expr, scope: Scope) -> bool:
    """Whether a device that is not asked for any more is only read from something, and nothing happens by that."""
    does = scope.legality.effects.of(node, scope.facts)
    owner = scope.value(node.value) if isinstance(node, ast.Attribute) else None
    numbers = owner is not None and owner.is_(Kind.STATIC, Kind.SIZE, Kind.NONE)
    return does.repeatable and not numbers


def _obstacle(node: ast.Call, made: ast.Call, scope: Scope) -> str | None:
    if any(scope.local_name(name) or scope.names(name, stores=True) for name in ("list", "range")):
        return "`list` or `range` is another name here"
    device = next((k.value for k in made.keywords if k.arg == "device"), None)
    if device is not None and not is_plain_device(device, scope):
        return f"`{snippet(device)}` would not be asked for any more"
    first, end = _start(made, scope), made.args[-1]
    if first is not None and (_at_least(end, first, node, scope) or isinstance(_ranked(end, scope), ast.Name)):
        return None
    return f"`{snippet(end)}` is not proved to be at least the start: `arange` raises where it is less"


def _to_ask(node: ast.Call, made: ast.Call, scope: Scope) -> int | None:
    """The number of dimensions that is to be asked for; None where there are proved to be as many."""
    first = _start(made, scope)
    return None if first is None or _at_least(made.args[-1], first, node, scope) else first


def _start(made: ast.Call, scope: Scope) -> int | None:
    start = scope.value(made.args[0]).const if len(made.args) > 1 else None
    first = 0 if len(made.args) == 1 else start.value if start is not None else None
    return first if isinstance(first, int) else None


def _stands_alone(node: ast.Call, scope: Scope) -> bool:
    """Whether a conditional expression needs no parentheses in its place."""
    around = scope.parents.get(node)
    return isinstance(around, ast.Assign | ast.Return | ast.AnnAssign | ast.keyword) or (
        isinstance(around, ast.Call) and node in around.args
    )


def _at_least(end: ast.expr, least: int, node: ast.Call, scope: Scope) -> bool:
    """Whether a number is proved to be at least another one."""
    const = scope.value(end).const
    if const is not None:
        return isinstance(const.value, int) and const.value >= least
    tensor = _counted_dimensions(end, scope)
    if tensor is None:
        return least <= 0 and _is_size(end, scope)
    return least <= 0 or _dimensions(tensor, scope) >= least or _shown(tensor, least, node, scope)


def _is_size(node: ast.expr, scope: Scope) -> bool:
    """Whether a number is the size of a tensor, which is not negative: `x.shape[0]`, `x.size(0)`, `len(x)`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and _of_tensor(node.value, scope)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("size", "numel") and _of_tensor(node.func, scope)
    return isinstance(node, ast.Call) and scope.callee(node) == "len"


def _of_tensor(node: ast.Attribute, scope: Scope) -> bool:
    return scope.value(node.value).is_tensor


def _counted_dimensions(node: ast.expr, scope: Scope) -> ast.Name | None:
    """`x` in `len(x.shape)`, `len(x.size())`, `x.dim()` and `x.ndim`, where `x` is a tensor."""
    found = _ranked(node, scope)
    return found if isinstance(found, ast.Name) and scope.value(found).is_tensor else None


def _ranked(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Whatever is asked for the number of its dimensions."""
    found: ast.expr | None = None
    if isinstance(node, ast.Call) and scope.callee(node) == "len" and len(node.args) == 1:
        shape = node.args[0]
        if isinstance(shape, ast.Call) and not shape.args and not shape.keywords:
            shape = shape.func
        if isinstance(shape, ast.Attribute) and shape.attr in ("shape", "size"):
            found = shape.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        found = node.func.value if node.func.attr in ("dim", "ndimension") else None
    elif isinstance(node, ast.Attribute) and node.attr == "ndim":
        found = node.value
    return found


def _dimensions(tensor: ast.Name, scope: Scope) -> int:
    return scope.value(tensor).rank or 0


def _shown(tensor: ast.Name, least: int, node: ast.Call, scope: Scope) -> bool:
    """Whether a statement that surely ran before asked the same tensor for a size that needs so many dimensions."""
    if scope.names(tensor.id, stores=True) and not _one_value(tensor, scope):
        return False
    if any(isinstance(c.func, ast.Attribute) and c.func.attr in _RESHAPING for c in scope.of(ast.Call)):
        return False
    statement: ast.AST = scope.statement(node)
    while isinstance(statement, ast.stmt):
        block = scope.block(statement)
        for earlier in block[: block.index(statement)] if statement in block else ():
            if isinstance(earlier, ast.Assign | ast.Expr | ast.AnnAssign) and any(
                _size_of(part, tensor.id, scope) >= least for part in _surely(earlier)
            ):
                return True
        statement = scope.parents.get(statement, scope.function.node)
        if statement is scope.function.node:
            return False
    return False


def _one_value(tensor: ast.Name, scope: Scope) -> bool:
    given = scope.function.takes(tensor.id)
    return not given and len(scope.names(tensor.id, stores=True)) == 1


def _surely(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated whenever it is."""
    pending: list[ast.AST] = [statement]
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, ast.BoolOp | ast.IfExp | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp):
            pending.extend(ast.iter_child_nodes(part))


def _size_of(part: ast.AST, name: str, scope: Scope) -> int:
    """How many dimensions `x.shape[i]` or `x.size(i)` needs; 0 for anything else."""
    index: ast.expr | None = None
    owner: ast.expr | None = None
    if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute) and part.value.attr == "shape":
        owner, index = part.value.value, part.slice
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "size":
        owner, index = part.func.value, part.args[0] if part.args else None
    if not isinstance(owner, ast.Name) or owner.id != name or index is None:
        return 0
    const = scope.value(index).const
    number = const.value if const is not None else None
    if not isinstance(number, int) or isinstance(index, ast.Slice):
        return 0
    return number + 1 if number >= 0 else -number
