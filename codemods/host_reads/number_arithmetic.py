"""CF201: a number read from a tensor and used in tensor arithmetic.

## What it does
Finds `.item()`, `float()`, `int()` and `bool()` of a tensor where the number ends in arithmetic or a comparison with a
tensor or in a `clamp` bound, and uses the tensor itself. Python arithmetic on the way (`min`,
`max`, `+`, `-`, `*`, `/` with numbers) becomes arithmetic on a tensor without dimensions.

## Why is this bad
The graph ends where the number is read (GB0124), and on a GPU the program waits for the device at every call.

## Example
```python
temperature = max(self.log_temperature.exp().item(), 1.0)
logits = logits / temperature
```

## Use instead
```python
temperature = self.log_temperature.exp().detach().clamp(min=1.0)
logits = logits / temperature
```

## Fix safety
A number carries no gradient, so the tensor is detached unless its dtype has none. Safe where the tensor is used beside
a floating tensor that has dimensions, so that the result keeps its dtype; a tensor with more than one element is
refused as before, by `reshape(())`, with another message. Python computes in double precision, so arithmetic on the
way is done on `.double()`; beside a float16 or bfloat16 tensor the number is rounded once to that precision on a GPU.
`int()` truncates and stays a read unless the tensor is of an integer dtype. A division of numbers by zero raises
ZeroDivisionError and gives inf or NaN as a tensor (`math-errors`).

Graph breaks: GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, decides, exact, read_of
from compilefix.source.snippets import snippet

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_CLAMPS = frozenset(
    {
        "clamp",
        "clip",
        "clamp_",
        "clamp_min",
        "clamp_max",
        "torch.clamp",
        "torch.clip",
        "torch.clamp_min",
        "torch.clamp_max",
    }
)


@dataclass
class _Flow:
    """Where a number goes: the Python arithmetic on the way, the calls to rewrite, and what stands in the way."""

    arithmetic: bool = False
    bounds: list[ast.Call] = field(default_factory=list)
    clamps: list[ast.Call] = field(default_factory=list)
    swaps: list[ast.BinOp] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)

    def refuse(self, reason: str, assumption: str | None = None) -> None:
        self.obstacles.append(Obstacle(reason, assumption))


class NumberArithmetic(Rule):
    """Number read from a tensor, used with tensors."""

    code = "CF201"
    name = "number-from-tensor"
    summary = "number read from a tensor for arithmetic, comparison or clamping"
    gb = ("GB0124",)
    hints = ("item", "float(", "int(", "bool(")
    assumptions = ("condition-one-element", "number-to-tensor", "float32-rounding", "math-errors", "branches-total")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of one number, wherever it goes."""
        for node in scope.nodes:
            if isinstance(node, ast.Call):
                source = read_of(node, scope)
                # What only decides an `if` belongs to the rule for that `if`.
                if source is not None and not decides(node, scope):
                    yield self._judge(node, source, scope)

    def _judge(self, node: ast.Call, source: ast.expr, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` reads a tensor's value on the host and breaks the graph"
        flow = _Flow()
        template = Template()
        _follow(node, source, scope, flow)
        template.refuse(flow.obstacles)
        code = _as_tensor(node, source, flow.arithmetic, scope, template)
        if template.broken is not None:
            return self.declined(scope, node, message, template.broken)
        edits = _edits(node, code, template, flow, scope)
        return self.fixed(scope, node, message, Fix(edits, (), template.assumptions, template.reasons))


def _as_tensor(node: ast.Call, source: ast.expr, arithmetic: bool, scope: Scope, template: Template) -> str:
    """Code for the tensor that stands for the number."""
    value = scope.value(source)
    cast = node.func.id if isinstance(node.func, ast.Name) else "item"
    code = template.use(source, operand=True)
    if not value.certain:
        template.refuse([Obstacle(f"`{snippet(source)}` is not proved to be a tensor", "branches-total")])
    if cast == "int" and value.dtype not in ("int", "bool"):
        template.refuse([Obstacle("`int()` truncates, and the tensor is not proved to be of an integer dtype")])
    if value.dtype not in ("int", "bool") and value.leaves:
        code += ".detach()"
    if _shared(source, scope):
        # The number was read once; the tensor would follow later writes into its memory.
        code += ".clone()"
    if value.rank != 0:
        template.refuse(
            [
                Obstacle(
                    f"`{snippet(source)}` is not proved to be without dimensions: "
                    "with more than one element another error is raised",
                    "condition-one-element",
                )
            ]
        )
        code += ".reshape(())"
    if cast == "bool":
        return code if value.dtype == "bool" else f"({code} != 0)"
    if arithmetic:
        return code + ".double()"
    if cast == "float" and value.dtype in ("int", "bool"):
        return code + ".double()"
    if cast == "int" and value.dtype == "bool":
        return code + ".long()"
    return code


def _shared(source: ast.expr, scope: Scope) -> bool:
    """Whether somebody else can write into the memory of the tensor that is read."""
    storage = scope.value(source).storage
    if not storage or any(token.startswith(("param:", "self.", "global.")) for token in storage):
        return True
    return scope.legality.writer(storage, (), scope.facts) is not None


def _follow(node: ast.expr, source: ast.expr, scope: Scope, flow: _Flow) -> None:
    """Follow a number from where it is read or computed to every place where it meets a tensor."""
    parent = scope.parents.get(node)
    read = scope.value(source)
    if (
        isinstance(parent, ast.Assign)
        and parent.value is node
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        _follow_name(parent.targets[0].id, source, scope, flow)
    elif decides(node, scope):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")
    elif (
        isinstance(parent, ast.Compare)
        and len(parent.ops) == 1
        and not isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
    ):
        _compared(parent.comparators[0] if parent.left is node else parent.left, read.dtype, parent, scope, flow)
    elif isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
        other = parent.right if parent.left is node else parent.left
        if scope.value(other).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER):
            flow.arithmetic = True
            if isinstance(parent.op, ast.Div) and not _nonzero(parent.right, scope):
                flow.refuse(
                    f"`{snippet(parent)}` may divide by zero, which raises for numbers and not for tensors",
                    "math-errors",
                )
            _follow(parent, source, scope, flow)
        else:
            _met(other, read.dtype, scope, flow)
            if isinstance(parent.op, ast.Add | ast.Mult) and parent.left is node:
                # `number * x` keeps the number's precision beside a half tensor, as `x * tensor` does and `tensor * x`
                # does not.
                if isinstance(parent.right, ast.Name | ast.Attribute):
                    flow.swaps.append(parent)
                else:
                    flow.refuse(
                        f"`{snippet(parent)}` would round the number to the precision of a half tensor",
                        "float32-rounding",
                    )
            if isinstance(parent.op, ast.Div) and parent.left is node:
                flow.refuse(
                    f"`{snippet(parent)}`: "
                    "torch divides a number by a tensor through the reciprocal, which rounds otherwise",
                    "float32-rounding",
                )
    elif isinstance(parent, ast.AugAssign) and parent.value is node and isinstance(parent.op, _ARITHMETIC):
        _met(parent.target, read.dtype, scope, flow)
    elif isinstance(parent, ast.Call) and _is_bound(parent, node, scope):
        flow.bounds.append(parent)
        constant = scope.value(parent.args[1]).const
        flow.arithmetic = flow.arithmetic or constant is None or not exact(constant.value)
        _follow(parent, source, scope, flow)
    elif (clamp := _clamp(node, scope)) is not None:
        call, tensor = clamp
        if len([k for k in call.keywords if k.arg in ("min", "max")]) > 1:
            flow.clamps.append(call)
        if scope.value(tensor).dtype_id is None or scope.value(tensor).dtype_id != read.dtype_id:
            flow.refuse(
                f"a bound that does not fit the dtype of `{snippet(tensor)}` raises as a number and not as a tensor",
                "number-to-tensor",
            )
        _met(tensor, read.dtype, scope, flow)
    elif _in_log(node, scope):
        flow.refuse("the number is only printed or logged: it goes where the line goes (see the finding for that call)")
    elif isinstance(parent, ast.Return | ast.Yield | ast.Dict | ast.Tuple | ast.List | ast.Assign | ast.AnnAssign):
        flow.refuse("the number leaves the arithmetic of this function: it is returned or stored as a Python number")
    else:
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")


def _follow_name(name: str, source: ast.expr, scope: Scope, flow: _Flow) -> None:
    loads = scope.names(name)
    everywhere = [
        n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if not loads or len(everywhere) != len(loads):
        flow.refuse(f"`{name}` is not used, or is used in a nested function")
        return
    if len(scope.names(name, stores=True)) != 1:
        flow.refuse(f"`{name}` is assigned in several places")
        return
    for load in loads:
        _follow(load, source, scope, flow)


def _met(other: ast.expr, dtype: str | None, scope: Scope, flow: _Flow) -> None:
    """The number meets what should be a tensor: does the result keep its dtype?"""
    value = scope.value(other)
    if not value.is_tensor or not value.certain:
        flow.refuse(f"`{snippet(other)}` is not proved to be a tensor")
    elif value.dtype in ("int", "bool"):
        flow.refuse(
            f"`{snippet(other)}` is of an integer dtype: the result's dtype would follow the tensor that was read"
        )
    elif value.dtype != "float" or not value.dimensioned or dtype is None or dtype == "complex":
        flow.refuse(
            f"`{snippet(other)}` is not proved to be a floating tensor with "
            f"dimensions: the result's dtype could change",
            "number-to-tensor",
        )


def _compared(other: ast.expr, dtype: str | None, parent: ast.Compare, scope: Scope, flow: _Flow) -> None:
    if scope.value(other).may_be(Kind.TENSOR):
        _met(other, dtype, scope, flow)
        return
    flow.refuse(f"the result of `{snippet(parent)}` is used as a Python bool")


def _nonzero(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.const is not None and isinstance(value.const.value, int | float) and value.const.value != 0


def _is_bound(call: ast.Call, node: ast.expr, scope: Scope) -> bool:
    """Whether a call is `max(number, constant)` or `min(number, constant)`.

    The number comes first: Python's `max(nan, 1.0)` is NaN as clamp's is, and `max(1.0, nan)` is 1.0.
    """
    if scope.callee(call) not in ("min", "max") or len(call.args) != 2 or call.keywords or call.args[0] is not node:
        return False
    value = scope.value(call.args[1])
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("int", "float")


def _clamp(node: ast.expr, scope: Scope) -> tuple[ast.Call, ast.expr] | None:
    """The clamp call that a number is a bound of, and the tensor that is clamped."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return None
    name = (scope.callee(call) or "").removeprefix("Tensor.")
    if name not in _CLAMPS or (
        not isinstance(parent, ast.keyword)
        and (len(call.args) > (2 if name.startswith("torch.") else 1) or call.keywords)
    ):
        return None
    if name.startswith("torch."):
        return (call, call.args[0]) if call.args and call.args[0] is not node else None
    return (call, call.func.value) if isinstance(call.func, ast.Attribute) else None


def _in_log(node: ast.AST, scope: Scope) -> bool:
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        name = scope.callee(parent) or ""
        if name == "print" or name.startswith(("logging.", "warnings.")):
            return True
    return False


def _edits(node: ast.Call, code: str, template: Template, flow: _Flow, scope: Scope) -> tuple[Edit, ...]:
    """One edit for the read, and one for each `min`/`max` or clamp that must change with it; nested ones as one."""
    codes: dict[ast.AST, str] = {node: code}
    outer: list[ast.expr] = []
    for call in flow.bounds:
        bound = "min" if scope.callee(call) == "max" else "max"
        inner = _render(call.args[0], codes, template)
        codes[call] = f"{inner}.clamp({bound}={template.use(call.args[1])})"
        outer.append(call)
    for call in flow.clamps:
        tensor = call.args[0] if call.args else call.func.value  # type: ignore[attr-defined]
        method = "clamp_" if isinstance(call.func, ast.Attribute) and call.func.attr == "clamp_" else "clamp"
        chained = template.use(tensor, operand=True)
        for name in ("min", "max"):
            for keyword in call.keywords:
                if keyword.arg == name:
                    chained += f".{method}({name}={_render(keyword.value, codes, template)})"
        codes[call] = chained
        outer.append(call)
    for product in flow.swaps:
        symbol = "*" if isinstance(product.op, ast.Mult) else "+"
        codes[product] = f"{template.use(product.right)} {symbol} {_render(product.left, codes, template)}"
        outer.append(product)
    tops = [n for n in [node, *outer] if not any(n is not o and n in set(ast.walk(o)) for o in outer)]
    return tuple(scope.edit(top, codes[top], **_used(codes[top], template)) for top in tops)


def _render(node: ast.expr, codes: dict[ast.AST, str], template: Template) -> str:
    """Code for an expression in which some nodes have new code, as an operand."""
    if node in codes:
        return codes[node]
    if isinstance(node, ast.BinOp) and any(n in codes for n in ast.walk(node)):
        symbol = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(node.op)]
        return f"({_render(node.left, codes, template)} {symbol} {_render(node.right, codes, template)})"
    return template.use(node, operand=True)


def _used(code: str, template: Template) -> dict[str, ast.AST]:
    return {name: part for name, part in template.parts.items() if f"{{{name}}}" in code}
