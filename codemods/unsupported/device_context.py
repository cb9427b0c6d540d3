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
Declined where it calls a module or a function, which may make tensors as well: give these the device. So may a
property, an iterator or an operator of what is not known, and the caller of a generator. Declined, too, where asking
for the device calls something, and where a name that is no device would be found out later.

Graph breaks: GB0142. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet

_MAKERS = frozenset(
    {"arange", "as_tensor", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint"}
    | {"randn", "randperm", "range", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros"}
    | {"bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"}
    | {"empty_permuted", "empty_strided", "sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor"}
    | {"sparse_bsr_tensor", "sparse_bsc_tensor", "sparse_compressed_tensor"}
)
_NAMED = ast.Name | ast.Attribute
_KNOWN = (Kind.TENSOR, Kind.NUMBER, Kind.SIZE, Kind.STATIC, Kind.CONTAINER, Kind.NONE)
_DEVICE = re.compile(r"(cpu|cuda|meta|mps|xpu)(:\d{1,2})?")
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
    device = item.context_expr
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(device) if isinstance(n, _NAMED)}
    if not _is_plain(device, scope):
        return f"`{snippet(device)}` does more than name a device, and would do it again"
    if not _is_surely_device(device) and not _begins_with_maker(node, scope):
        return f"`{snippet(device)}` may be no device, which would be found out later or not at all"
    parts = [part for statement in node.body for part in ast.walk(statement)]
    # Python does not evaluate the annotations of local names.
    said = {n for part in parts if isinstance(part, ast.AnnAssign) for n in ast.walk(part.annotation)}
    for part in (part for part in parts if part not in said):
        if isinstance(part, _NAMED) and not isinstance(part.ctx, ast.Load):
            name = part.id if isinstance(part, ast.Name) else part.attr
            if name in names:
                return f"the block assigns `{name}`, on which the device hangs"
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return "the block defines a function, which runs later"
        if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await):
            return "the block hands on to its caller, for whom the device holds as well"
        own = next((n for n in _run_by(part) if not scope.value(n).is_(*_KNOWN)), None)
        own = part if isinstance(part, ast.Attribute) and _is_property(part, scope) else own
        if own is not None and not (isinstance(own, ast.Call) and scope.callee(own) in _PLAIN):
            return f"`{snippet(own)}` may run code that makes tensors too: give it the device"
        if isinstance(part, ast.Call) and "#" in scope.file.segment(part):
            return f"a comment stands in `{snippet(part)}`"
        if isinstance(part, ast.Call) and not _is_known(part, scope):
            return f"`{snippet(part)}` may make tensors too: give it the device"
    return None


def _is_plain(device: ast.expr, scope: Scope) -> bool:
    """Whether a device is made of names, attributes that run no code, and constants."""
    parts = [*device.args, *(k.value for k in device.keywords)] if isinstance(device, ast.Call) else [device]
    for part in (n for given in parts for n in ast.walk(given)):
        if isinstance(part, ast.Attribute) and _is_property(part, scope):
            return False
        if not isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.expr_context):
            return False
    return True


def _is_surely_device(device: ast.expr) -> bool:
    """Whether asking for a device raises nothing: a tensor has one, and of texts those of torch are known."""
    if not isinstance(device, ast.Call):
        return True
    given = [*device.args, *(k.value for k in device.keywords)]
    values = [g.value for g in given if isinstance(g, ast.Constant)]
    return len(given) == len(values) == 1 and isinstance(values[0], str) and _DEVICE.fullmatch(values[0]) is not None


def _begins_with_maker(node: ast.With, scope: Scope) -> bool:
    """Whether the first statement makes a tensor before it does anything else."""
    first = node.body[0]
    value = first.value if isinstance(first, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) else None
    if not isinstance(value, ast.Call) or not _is_maker(value, scope):
        return False
    given = [*value.args, *(k.value for k in value.keywords if k.arg != "device")]
    return all(scope.value(g).is_(*_KNOWN) and not any(isinstance(n, ast.Call) for n in ast.walk(g)) for g in given)


def _run_by(part: ast.AST) -> list[ast.expr]:
    """The parts of an expression or statement that run code of their own where they are no plain values."""
    if isinstance(part, ast.BinOp):
        return [part.left, part.right]
    if isinstance(part, ast.AugAssign):
        return [part.target, part.value]
    if isinstance(part, ast.Compare):
        return [] if all(isinstance(op, ast.Is | ast.IsNot) for op in part.ops) else [part.left, *part.comparators]
    if isinstance(part, ast.For | ast.comprehension):
        return [part.iter]
    if isinstance(part, ast.UnaryOp):
        return [part.operand]
    if isinstance(part, ast.BoolOp):
        return part.values
    if isinstance(part, ast.If | ast.While | ast.IfExp | ast.Assert):
        return [part.test]
    if isinstance(part, ast.Subscript | ast.FormattedValue | ast.Starred):
        return [part.value]
    if isinstance(part, ast.With):
        return [item.context_expr for item in part.items]
    unpacked = isinstance(part, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in part.targets)
    return [part.value] if isinstance(part, ast.Assign) and unpacked else []


def _is_property(node: ast.Attribute, scope: Scope) -> bool:
    """Whether reading an attribute may run code, as far as the class of the object is known, or is not."""
    owner = scope.value(node.value)
    if not isinstance(node.ctx, ast.Load) or not owner.may_be(Kind.OBJECT):
        return False
    if owner.ref is None:
        return True
    project = scope.legality.inference.project
    cls = project.resolve(owner.ref)
    if not isinstance(cls, Class):
        return not owner.ref.startswith("torch.")
    method = project.method(cls, node.attr)
    own = any(project.method(cls, name) is not None for name in ("__getattr__", "__getattribute__"))
    return own or (method is not None and method.is_property)


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
