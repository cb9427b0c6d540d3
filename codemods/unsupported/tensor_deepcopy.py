"""CF701: `copy.deepcopy` of a tensor.

## What it does
Finds `copy.deepcopy` and `copy.copy` of a tensor in compiled code, and writes `.clone()` for a deep copy. It finds deep
copies of modules, too.

## Why is this bad
Dynamo does not trace into `copy` with a tensor: the graph breaks (GB4198, GB0208 for `copy.copy`), also where the
tensor stands in a list or dict, or with a module (GB4198, GB0008 for one without parameters). Copies of lists, dicts
and numbers are no problem.

## Example
```python
kept = copy.deepcopy(mask)
```

## Use instead
```python
kept = mask.clone()
```

## Fix safety
Safe where the tensor cannot require a gradient (integers, booleans, detached tensors, results computed without
parameters), and was computed or made by the function. Else under `no-gradient`: the deep copy of a leaf is a leaf of
its own that requires a gradient; of any other tensor with a gradient, `deepcopy` raises an error, which is then gone.
And under `no-aliasing`: the clone of an expanded tensor has memory for each element, where a write into the deep copy
changes several, and the clone of one that is not contiguous has other strides, which `view` may take then. What the
function expands is declined, and so is a copy of what may be a parameter that is asked for its class.

No fix for `copy.copy`, whose result shares the memory, for a module, and where it is not known that a tensor is copied.

Graph breaks: GB4198, GB0008, GB0208. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet

_OF_TENSORS = frozenset({"data", "grad", "requires_grad"})


class TensorDeepcopy(Rule):
    """Copy of a tensor or module by the module `copy`."""

    code = "CF701"
    name = "tensor-deepcopy"
    summary = "copy.deepcopy of a tensor"
    gb = ("GB4198", "GB0008", "GB0208")
    hints = ("copy",)
    assumptions = ("no-gradient", "no-aliasing")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `copy.deepcopy` and `copy.copy` on tensors."""
        for node in scope.of(ast.Call):
            name = scope.callee(node)
            if name not in ("copy.deepcopy", "copy.copy") or len(node.args) != 1 or node.keywords:
                continue
            value = scope.value(node.args[0])
            if name == "copy.deepcopy" and value.is_(Kind.CONTAINER) and _holds_tensors(value):
                message = (
                    f"`{snippet(node)}`: Dynamo does not trace the copy of the tensors in it, and the graph breaks"
                )
                kind = "{key: value.clone() for ...}" if value.ref == "dict" else "[item.clone() for ...]"
                yield self.declined(scope, node, message, f"copy the tensors themselves: `{kind}`", gb=("GB4198",))
            if name == "copy.deepcopy" and _is_module(value, scope):
                message = f"`{snippet(node)}`: Dynamo does not trace the copy of a module, and the graph breaks"
                reason = "copy the module where the compiled code is called, or set it aside in `__init__`"
                yield self.declined(scope, node, message, reason, gb=("GB4198", "GB0008"))
            if not value.is_tensor or (name == "copy.copy" and not value.certain):
                continue  # what may be a dictionary as well is told as CF708
            message = f"`{snippet(node)}`: Dynamo does not trace the copy of a tensor, and the graph breaks"
            if name == "copy.copy":
                reason = "the copy shares the tensor's memory: use the tensor itself, or `.view_as` for a new object"
                yield self.declined(scope, node, message, reason, gb=("GB0208",))
            elif not value.certain:
                reason = f"`{snippet(node.args[0])}` is not proved to be a tensor; of one, use `.clone()`"
                yield self.declined(scope, node, message, reason, gb=("GB4198",))
            elif (marked := _marked(node.args[0], scope)) is not None:
                reason = f"`{snippet(marked)}` is kept on the tensor, and a deep copy has it too"
                yield self.declined(scope, node, message, reason, gb=("GB4198",))
            elif (asked := _class_asked(node, scope)) is not None:
                reason = (
                    f"`{snippet(asked)}` asks for the class of the copy, which of a parameter is one, and no clone is"
                )
                yield self.declined(scope, node, message, reason, gb=("GB4198",))
            elif overlaps(node.args[0], scope):
                reason = f"elements of `{snippet(node.args[0])}` share memory, also in a deep copy and not in a clone"
                yield self.declined(scope, node, message, reason, gb=("GB4198",))
            else:
                yield self.fixed(scope, node, message, _clone(node, scope), gb=("GB4198",))


def _is_module(value: Value, scope: Scope) -> bool:
    """Whether a module is copied, as far as an annotation or the class that it is made of tells."""
    if not value.is_(Kind.OBJECT, Kind.NONE) or value.ref is None:
        return False
    project = scope.legality.inference.project
    cls = project.resolve(value.ref)
    return project.is_module_class(cls) if isinstance(cls, Class) else value.ref.startswith("torch.nn.")


def _holds_tensors(value: Value) -> bool:
    """Whether an item of a list, tuple or dict may be a tensor, as far as is known."""
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return any(Kind.TENSOR in part.kinds for part in parts)


def _marked(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Something of Python that the function keeps on a tensor: `mask.kind = "causal"`."""
    name = ast.unparse(node)
    stores = (n for n in scope.of(ast.Attribute) if not isinstance(n.ctx, ast.Load) and n.attr not in _OF_TENSORS)
    sets = (c for c in scope.of(ast.Call) if scope.callee(c) == "setattr" and c.args)
    marks = [(n.value, n) for n in stores] + [(c.args[0], c) for c in sets]
    return next((mark for owner, mark in marks if ast.unparse(owner) == name), None)


def _class_asked(node: ast.Call, scope: Scope) -> ast.Call | None:
    """What asks for the class of a copy that may be one of a parameter: `isinstance(w, nn.Parameter)`, `type(w)`."""
    value, statement = scope.value(node.args[0]), scope.parents.get(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if not value.leaves or value.dtype in ("bool", "int"):
        return None
    names = {ast.unparse(target) for target in targets}
    for call in scope.of(ast.Call):
        callee, copied = scope.callee(call), call.args[0] if call.args else None
        if copied is None or not (copied is node or ast.unparse(copied) in names):
            continue
        if callee == "type" or (callee == "isinstance" and "Parameter" in ast.unparse(call.args[-1])):
            return call
    return None


def _clone(node: ast.Call, scope: Scope) -> Fix:
    template = Template()
    tensor = template.use(node.args[0], operand=True)
    value, shown = scope.value(node.args[0]), snippet(node.args[0])
    code = f"{tensor}.clone()"
    if value.dtype not in ("bool", "int") and value.leaves:
        template.refuse([Obstacle(f"`{shown}` may require a gradient, and its deep copy too", "no-gradient")])
        code = f"{tensor}.detach().clone()"
    if not _has_own_elements(node.args[0], scope):
        reason = f"elements of `{shown}` may share memory, or lie apart, as those of a deep copy then do"
        template.refuse([Obstacle(reason, "no-aliasing")])
    return Fix((scope.edit(node, code, **template.parts),), (), template.assumptions, template.reasons)


def _has_own_elements(node: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is seen to be new: then its elements fill its memory, each with a place of its own."""
    if isinstance(node, ast.BinOp | ast.Compare | ast.UnaryOp):
        return True
    if isinstance(node, ast.Name):
        made = scope.only_value(node.id)
        given = scope.function.takes(node.id)
        return not given and made is not None and _has_own_elements(made, scope)
    name = (scope.callee(node) or "") if isinstance(node, ast.Call) else ""
    method = name.startswith("Tensor.")
    api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
    if api is None or api.view or api.maybe_view or api.mutates or name.endswith("_strided"):
        return False
    return api.pointwise or name == "Tensor.clone" or api.rank in ("0", "arg")
