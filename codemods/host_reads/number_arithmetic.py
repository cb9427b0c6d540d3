"""CF201: a number read from a tensor and used in tensor arithmetic.

## What it does
Finds `.item()`, `float()`, `int()` and `bool()` of a tensor where the number goes into arithmetic or a comparison with a
tensor, into `clamp` bounds, or into the truth of an `if`, and uses the tensor itself.

## Why is this bad
The graph ends where the number is read (GB0124), and on a GPU the program waits for the device at every call.

## Example
```python
x = x * self.log_scale.exp().item()
```

## Use instead
```python
x = x * self.log_scale.exp().detach()
```

## Fix safety
A number carries no gradient, so the tensor is detached unless its dtype has none. Safe where the tensor has one element
(`reshape(())` where its rank is not known), and the other operand is a floating tensor that has dimensions, so that the
result keeps its dtype. `int()` truncates and stays a read unless the tensor is of an integer dtype. In float16 and
bfloat16 the arithmetic is done in the tensor's precision and not in double: a chain of Python arithmetic on the number
is rewritten only under `float32-rounding`.

Graph breaks: GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template

_CASTS = ("float", "int", "bool")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_CLAMPS = frozenset({"clamp", "clip", "clamp_", "clamp_min", "clamp_max", "torch.clamp", "torch.clip", "torch.clamp_min", "torch.clamp_max"})


class NumberArithmetic(Rule):
    """Number read from a tensor, used with tensors."""

    code = "CF201"
    name = "number-from-tensor"
    summary = "number read from a tensor for arithmetic, comparison or clamping"
    gb = ("GB0124",)
    hints = ("item", "float(", "int(", "bool(")
    assumptions = ("condition-one-element", "number-to-tensor", "float32-rounding", "gradient-zeros", "branches-total")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of one number, wherever it goes."""
        for node in scope.nodes:
            if isinstance(node, ast.Call):
                source = read_of(node, scope)
                if source is not None:
                    yield self._judge(node, source, scope)

    def _judge(self, node: ast.Call, source: ast.expr, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node)}` reads a tensor's value on the host and breaks the graph"
        template = Template()
        uses = _uses(node, scope)
        if uses is None:
            return self.declined(scope, node, message, "the number leaves the arithmetic of this function: it is returned, stored or passed on")
        for use in uses:
            self._use(use, node, source, scope, template)
        code = self._tensor(node, source, scope, template)
        if template.broken is not None:
            return self.declined(scope, node, message, template.broken)
        edit = scope.edit(node, code, **template.parts)
        return self.fixed(scope, node, message, Fix((edit,), (), template.assumptions))

    def _tensor(self, node: ast.Call, source: ast.expr, scope: Scope, template: Template) -> str:
        value = scope.value(source)
        name = node.func.id if isinstance(node.func, ast.Name) else "item"
        code = template.use(source, operand=True)
        if not value.certain:
            template.refuse([Obstacle(f"`{ast.unparse(source)}` is not proved to be a tensor", "branches-total")])
        if name == "int" and value.dtype not in ("int", "bool"):
            template.refuse([Obstacle("`int()` truncates, and the tensor is not proved to be of an integer dtype")])
        if name == "float" and value.dtype in ("int", "bool") or name == "int" and value.dtype == "bool":
            code += ".float()" if name == "float" else ".long()"
        if value.dtype not in ("int", "bool"):
            code += ".detach()"
        if value.rank != 0:
            if value.rank is not None:
                template.refuse([Obstacle("a tensor with dimensions is read as one number", "condition-one-element")])
            code += ".reshape(())"
        if name == "bool" and value.dtype != "bool":
            code = f"({code} != 0)"
        return code

    def _use(self, use: ast.expr, node: ast.Call, source: ast.expr, scope: Scope, template: Template) -> None:
        """What stands in the way of a tensor at one place where the number is used."""
        parent = scope.parents.get(use)
        read = scope.value(source)
        if isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is use:
            if isinstance(node.func, ast.Name) and node.func.id == "bool" or read.dtype is not None:
                return
        if isinstance(parent, ast.BoolOp | ast.UnaryOp) and self._in_test(parent, scope) and (isinstance(parent, ast.BoolOp) or isinstance(parent.op, ast.Not)):
            return
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and not isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            other = parent.comparators[0] if parent.left is use else parent.left
            self._compared(other, read.dtype, parent, scope, template)
            return
        partner: ast.expr | None = None
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
            partner = parent.right if parent.left is use else parent.left
        elif isinstance(parent, ast.AugAssign) and parent.value is use and isinstance(parent.op, _ARITHMETIC):
            partner = parent.target
        elif (call := _clamp(use, scope)) is not None:
            partner = call
        if partner is None:
            template.refuse([Obstacle(f"line {use.lineno}: the number is used as a Python number in `{_short(parent)}`")])
            return
        value = scope.value(partner)
        if value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER):
            template.refuse([Obstacle(f"`{_short(parent)}` computes with Python numbers in double precision")])
        elif not value.is_tensor or not value.certain:
            template.refuse([Obstacle(f"`{_short(partner)}` is not proved to be a tensor")])
        elif value.dtype == "float" and (value.rank or 0) > 0 and read.dtype in ("float", "int", "bool"):
            return
        elif value.dtype_id is not None and value.dtype_id == read.dtype_id and value.dtype == "float":
            return
        elif value.dtype in ("int", "bool"):
            template.refuse([Obstacle(f"`{_short(partner)}` is of an integer dtype: the result's dtype would follow the tensor that was read")])
        else:
            what = "a floating tensor with dimensions"
            template.refuse([Obstacle(f"`{_short(partner)}` is not proved to be {what}: the result's dtype could change", "number-to-tensor")])

    def _compared(self, other: ast.expr, dtype: str | None, parent: ast.Compare, scope: Scope, template: Template) -> None:
        value = scope.value(other)
        if value.is_tensor and value.certain:
            return
        statement_test = self._in_test(parent, scope)
        if not statement_test:
            template.refuse([Obstacle(f"the result of `{_short(parent)}` is used as a Python bool")])
        elif value.const is not None and isinstance(value.const.value, int | float):
            return
        elif value.is_(Kind.STATIC, Kind.SIZE):
            template.refuse([Obstacle(f"`{_short(other)}` may not be exact in the tensor's precision", "float32-rounding")])
        else:
            template.refuse([Obstacle(f"`{_short(other)}` is not proved to be a number or a tensor")])

    def _in_test(self, node: ast.AST, scope: Scope) -> bool:
        child = node
        for parent in scope.ancestors(node):
            if isinstance(parent, ast.If | ast.While | ast.IfExp):
                return parent.test is child
            if not isinstance(parent, ast.BoolOp | ast.UnaryOp | ast.Compare):
                return False
            child = parent
        return False


def read_of(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The tensor whose value a call reads as one number: `t.item()`, `float(t)`."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        value = scope.value(node.func.value)
        return node.func.value if value.is_tensor else None
    if isinstance(node.func, ast.Name) and node.func.id in _CASTS and scope.callee(node) == node.func.id and len(node.args) == 1:
        return node.args[0] if scope.value(node.args[0]).is_tensor else None
    return None


def _uses(node: ast.Call, scope: Scope) -> list[ast.expr] | None:
    """Where the number is used: at the read itself, or wherever the name that it is bound to is read."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        nested = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        loads = scope.names(name)
        return list(loads) if loads and len(nested) == len(loads) and len(scope.names(name, stores=True)) == 1 else None
    if isinstance(parent, ast.Return | ast.Yield | ast.Dict | ast.Tuple | ast.List | ast.Assign | ast.AnnAssign):
        return None
    return [node]


def _clamp(use: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that is clamped, when the number is a bound of a clamp."""
    parent = scope.parents.get(use)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return None
    name = (scope.callee(call) or "").removeprefix("Tensor.")
    if name not in _CLAMPS:
        return None
    bounds = [a for a in (*call.args[1 if name.startswith("torch.") else 0 :], *(k.value for k in call.keywords if k.arg in ("min", "max")))]
    # clamp takes either numbers or tensors, not one of each.
    if any(b is not use and not scope.value(b).is_tensor for b in bounds):
        return None
    return call.args[0] if name.startswith("torch.") and call.args else call.func.value if isinstance(call.func, ast.Attribute) else None


def _short(node: ast.AST | None) -> str:
    text = "" if node is None else ast.unparse(node).splitlines()[0]
    return text if len(text) <= 60 else text[:57] + "..."
