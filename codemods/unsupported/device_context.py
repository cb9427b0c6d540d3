"""CF705: a device as a context.

## What it does
Finds `with torch.device("cpu"):` and `with x.device:` in compiled code. The functions inside that make tensors get
`device=...`, and the `with` goes.

## Why is this bad
Dynamo does not know the context and ends the graph before and after it (GB0142).

## Example
```python
with x.device:
    steps = torch.arange(10)
```

## Use instead
```python
steps = torch.arange(10, device=x.device)
```

## Fix safety
Safe where the block holds, besides functions that make tensors, only operations of torch on tensors and plain Python.
Declined where it calls a module or a function, which may make tensors as well: give these the device.

Graph breaks: GB0142. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_MAKERS = frozenset(
    {"arange", "as_tensor", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint"}
    | {"randn", "randperm", "range", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros"}
    | {"bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"}
)
_PLAIN = frozenset(
    {"len", "range", "enumerate", "zip", "int", "float", "min", "max", "tuple", "list", "isinstance", "torch.device"}
)


class DeviceContext(Rule):
    """Device as a context."""

    code = "CF705"
    name = "device-context"
    summary = "a device as a context"
    gb = ("GB0142",)
    hints = ("with",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`with` statements over a single device."""
        for node in scope.of(ast.With):
            if len(node.items) != 1 or not _is_device(node.items[0].context_expr, scope):
                continue
            message = f"`with {snippet(node.items[0].context_expr)}` breaks the graph"
            reason = _obstacle(node, scope)
            if reason is not None:
                yield self.declined(scope, node.items[0].context_expr, message, reason)
            else:
                yield self.fixed(scope, node.items[0].context_expr, message, _fix(node, scope))


def _is_device(node: ast.expr, scope: Scope) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "device":
        value = scope.value(node.value)
        return value.is_tensor and value.certain
    return isinstance(node, ast.Call) and scope.callee(node) == "torch.device"


def _obstacle(node: ast.With, scope: Scope) -> str | None:
    item = node.items[0]
    if item.optional_vars is not None:
        return "the context has a name"
    names = {n.id for n in ast.walk(item.context_expr) if isinstance(n, ast.Name)}
    for part in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(part, ast.Name) and part.id in names and not isinstance(part.ctx, ast.Load):
            return f"the block assigns `{part.id}`, on which the device hangs"
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return "the block defines a function, which runs later"
        if isinstance(part, ast.Call) and "#" in scope.file.segment(part):
            return f"a comment stands in `{snippet(part)}`"
        if isinstance(part, ast.Call) and not _is_known(part, scope):
            return f"`{snippet(part)}` may make tensors too: give it the device"
    return None


def _is_known(call: ast.Call, scope: Scope) -> bool:
    """Whether a call makes tensors in a way that `device=` can be added to, or makes none."""
    name = scope.callee(call) or ""
    if _is_maker(call, scope):
        given = next((k.value for k in call.keywords if k.arg == "device"), None)
        if given is not None and (scope.value(given).is_unknown or Kind.NONE in scope.value(given).kinds):
            return False  # None stands for the device of the context
        return not any(isinstance(a, ast.Starred) for a in call.args) and all(k.arg for k in call.keywords)
    if name in _PLAIN or name.startswith("math."):
        return True
    if name.startswith("Tensor."):
        return torch_api.method(name.removeprefix("Tensor.")) is not None
    return torch_api.function(name) is not None and bool(call.args) and scope.value(call.args[0]).is_tensor


def _is_maker(call: ast.Call, scope: Scope) -> bool:
    owner, _, name = (scope.callee(call) or "").rpartition(".")
    return owner == "torch" and name in _MAKERS


def _fix(node: ast.With, scope: Scope) -> Fix:
    """First the makers get the device; in the next pass, where all have it, the block takes the place of the `with`."""
    device = scope.file.segment(node.items[0].context_expr)
    makers = [
        part
        for statement in node.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Call) and _is_maker(part, scope) and all(k.arg != "device" for k in part.keywords)
    ]
    edits: list[Edit] = []
    for call in _innermost(makers):
        code = scope.file.segment(call)[:-1].rstrip().rstrip(",")
        separator = ", " if call.args or call.keywords else ""
        text = f"{code}{separator}device={device})"
        edits.append(scope.edit(call, text.replace("{", "{{").replace("}", "}}")))
    if not edits:
        block = {f"s{i}": statement for i, statement in enumerate(node.body)}
        edits.append(scope.edit(node, "\n".join(f"{{{name}}}" for name in block), **block))
    return Fix(tuple(edits))


def _innermost(makers: list[ast.Call]) -> list[ast.Call]:
    return [m for m in makers if not any(other is not m and other in ast.walk(m) for other in makers)]
