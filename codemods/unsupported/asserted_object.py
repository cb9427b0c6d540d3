"""CF714: `assert` on a container, a module or another object.

## What it does
Finds asserts, without a text or with a constant one, whose condition is a list, tuple or dict of tensors or modules, a
module, or an object of another class: `assert tensors`, `assert self.layers, "no layers"`.

## Why is this bad
Dynamo takes such an assert for one on a tensor, and tries to make a tensor of what it asks (GB0055, GB0112). Of the
function that the assert stands in nothing is compiled, also what comes before it.

## Example
```python
def combine(features: list[torch.Tensor]):
    assert features, "no features"
    return torch.cat(features)
```

## Use instead
```python
def combine(features: list[torch.Tensor]):
    assert len(features) > 0, "no features"
    return torch.cat(features)
```

## Fix safety
Safe. A list is empty where its length is 0. Of a module, an object, and what may be None or an iterator, the truth is
asked by `if __debug__ and not ...: raise AssertionError(...)`, which is what an assert stands for, under `python -O`
too, and is traced. A condition that may be a tensor is left alone: Dynamo puts an assert on a tensor in the graph.

Graph breaks: GB0055, GB0112. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import CONTAINER, Kind, Value
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet

_SIZED = frozenset(f"torch.nn.{name}" for name in ("ModuleList", "ModuleDict", "Sequential"))
_OF_TORCH = ("torch.nn.", "torch.distributions.")
_BASES = ("object", "abc.", *_OF_TORCH)


class AssertedObject(Rule):
    """Assert on an object."""

    code = "CF714"
    name = "asserted-object"
    summary = "an assert on a container, a module or another object"
    gb = ("GB0055", "GB0112")
    hints = ("assert ",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Asserts that ask an object for its truth, with a message that Dynamo takes for a constant."""
        for node in scope.of(ast.Assert):
            if node.msg is not None and not isinstance(node.msg, ast.Constant):
                continue  # not taken for an assert on a tensor
            asked = node.test
            while isinstance(asked, ast.BoolOp):
                asked = asked.values[-1]
            value = scope.value(asked)
            if not _breaks(value, scope):
                continue
            message = f"`assert {snippet(node.test)}` asks an object for its truth: the function is not compiled"
            counted = value.kinds == CONTAINER and _has_length(asked, scope)
            if counted or (value.is_(Kind.OBJECT) and value.ref in _SIZED):
                edit = scope.edit(asked, "len({p0}) > 0", p0=asked)
            else:
                text, parts = ("{p1}", {"p1": node.msg}) if node.msg is not None else ("", {})
                condition = "{p0}" if isinstance(node.test, ast.Name | ast.Attribute | ast.Subscript) else "({p0})"
                lines = f"if __debug__ and not {condition}:\n    raise AssertionError({text})"
                edit = scope.edit(node, lines, p0=node.test, **parts)
            yield self.fixed(scope, node, message, Fix((edit,)))


def _has_length(node: ast.expr, scope: Scope) -> bool:
    """Whether a container is seen to be no iterator, which is true also where nothing comes of it."""
    if isinstance(node, _DISPLAYS):
        return True
    if not isinstance(node, ast.Name):
        return False
    stores = [scope.statement(name) for name in scope.names(node.id, stores=True)]
    if stores:
        return all(isinstance(s, ast.Assign | ast.AnnAssign) and isinstance(s.value, _DISPLAYS) for s in stores)
    given = scope.function.node.args
    if node.id in (arg.arg for arg in (given.vararg, given.kwarg) if arg is not None):
        return True
    found = next((a.annotation for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg == node.id), None)
    plain = found.value if isinstance(found, ast.Subscript) else found
    return plain is not None and ast.unparse(plain).rpartition(".")[2] in _LISTS


_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
_LISTS = frozenset({"list", "List", "tuple", "Tuple", "Sequence", "dict", "Dict", "Mapping", "set", "Set", "frozenset"})


def _breaks(value: Value, scope: Scope) -> bool:
    """Whether Dynamo takes no constant for the value, and it is surely no tensor."""
    if not value.certain or value.kinds - {Kind.OBJECT, Kind.CONTAINER, Kind.NONE}:
        return False
    if value.is_(Kind.OBJECT, Kind.NONE):
        return _is_traced_object(value, scope)
    items = value.elements if value.elements is not None else (value.element,) if value.element is not None else ()
    return any(
        Kind.TENSOR in item.kinds or (Kind.OBJECT in item.kinds and _is_traced_object(item, scope)) for item in items
    )


def _is_traced_object(value: Value, scope: Scope) -> bool:
    """Whether it is an instance of a class that Dynamo looks into, and no constant like a member of an enumeration."""
    if value.ref is None:
        return False
    if value.ref.startswith(_OF_TORCH):
        return True
    project = scope.legality.inference.project
    cls = project.resolve(value.ref)
    if not isinstance(cls, Class):
        return False
    return all(isinstance(base, Class) or base.startswith(_BASES) for base in project.ancestors(cls))
