"""CF706: `sorted` on tensors.

## What it does
Finds the builtin `sorted` over a tensor or an array, a list of tensors, or the items of a dict of tensors in compiled
code.

## Why is this bad
Python compares the tensors one by one, and each comparison must be known: the graph breaks (GB0207, GB0059). On a GPU
each waits for the device.

## Example
```python
low, high = sorted([x.min(), y.min()])
for name, feature in sorted(features.items()):
    ...
```

## Use instead
```python
low, high = torch.stack([x.min(), y.min()]).sort().values
for name, feature in sorted(features.items(), key=lambda item: item[0]):
    ...
```

## Fix safety
No two items of a dict have the same key, so that the keys alone decide their order: the key is safe. Two tensors may be
two keys and be equal all the same: a dict with such keys is declined. Tensors that are compared themselves have no fix:
with NaN among the values Python's order hangs on where they stand, and `torch.sort` puts NaN last; tensors of different
dtypes cannot be stacked. `min` and `max` of tensors do not break in torch 2.13 and are not reported.

Graph breaks: GB0207, GB0059. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal


class SortedTensors(Rule):
    """`sorted` on tensors."""

    code = "CF706"
    name = "sorted-tensors"
    summary = "the builtin sorted on tensors"
    gb = ("GB0207", "GB0059")
    hints = ("sorted",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `sorted` on tensors, without a key."""
        for node in scope.of(ast.Call):
            if scope.callee(node) != "sorted" or not node.args or any(k.arg == "key" for k in node.keywords):
                continue
            value = scope.value(node.args[0])
            if _items_of_tensors(node.args[0], scope):
                yield self._items(node, scope)
                continue
            if value.is_tensor:
                gb, advice = "GB0059", f"use `{snippet(node.args[0])}.sort().values`"
            elif value.element is not None and value.element.is_tensor:
                gb, advice = "GB0207", "use `torch.stack(...).sort().values`"
            elif value.is_(Kind.NDARRAY):
                message = f"`{snippet(node)}` compares the items of an array on the host and breaks the graph"
                reason = _array_instead(node, scope)
                yield self.declined(scope, node, message, reason, gb=("GB0059",))
                continue
            else:
                continue
            message = f"`{snippet(node)}` compares tensors on the host and breaks the graph"
            yield self.declined(scope, node, message, f"{advice}, which puts NaN last", gb=(gb,))

    def _items(self, node: ast.Call, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` sorts by tensors too, and breaks the graph"
        if len(node.args) > 1 or any(k.arg != "reverse" for k in node.keywords):
            return self.declined(scope, node, message, "sort by the keys", gb=("GB0207",))
        assert isinstance(node.args[0], ast.Call)
        if _has_tensor_keys(node.args[0].func, scope):
            reason = "the keys may be tensors, of which two may be equal: give them an order of their own"
            return self.declined(scope, node, message, reason, gb=("GB0207",))
        options = {f"p{place}": keyword for place, keyword in enumerate(node.keywords, 1)}
        text = "".join(f", {keyword.arg}={{{name}}}" for name, keyword in options.items())
        parts = {"p0": node.args[0], **{name: keyword.value for name, keyword in options.items()}}
        edit = scope.edit(node, f"sorted({{p0}}, key=lambda item: item[0]{text})", **parts)
        return self.fixed(scope, node, message, Fix((edit,), ()), gb=("GB0207",))


def _items_of_tensors(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the items of a dict that holds tensors."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "items":
        return False
    held = scope.value(node.func.value)
    return held.ref == "dict" and held.element is not None and held.element.is_tensor


def _has_tensor_keys(method: ast.expr, scope: Scope) -> bool:
    """Whether a dict is seen to have tensors as keys: by its annotation, where it is made, or where it is filled."""
    owner = method.value if isinstance(method, ast.Attribute) else method
    if isinstance(owner, ast.Dict | ast.DictComp):
        return _keyed_by_tensor(owner, scope)
    if not isinstance(owner, ast.Name):
        return False
    notes = [parameter.annotation for parameter in scope.function.parameters if parameter.arg == owner.id]
    notes += [s.annotation for s in scope.of(ast.AnnAssign) if ast.unparse(s.target) == owner.id]
    for note in (part for given in notes if given is not None for part in ast.walk(_read(given))):
        if isinstance(note, ast.Subscript) and isinstance(note.slice, ast.Tuple) and len(note.slice.elts) > 1:
            return "Tensor" in ast.unparse(note.slice.elts[0]) or "Parameter" in ast.unparse(note.slice.elts[0])
    made = (s.value for s in scope.of(ast.Assign) if any(ast.unparse(t) == owner.id for t in s.targets))
    filled = (n for n in scope.of(ast.Subscript) if isinstance(n.ctx, ast.Store) and ast.unparse(n.value) == owner.id)
    return any(_keyed_by_tensor(m, scope) for m in made) or any(
        Kind.TENSOR in scope.value(n.slice).kinds for n in filled
    )


def _read(note: ast.expr) -> ast.expr:
    """An annotation; one that stands in quotes is read as what it says."""
    if not isinstance(note, ast.Constant) or not isinstance(note.value, str):
        return note
    try:
        return ast.parse(note.value, mode="eval").body
    except SyntaxError:
        return note


def _keyed_by_tensor(made: ast.expr, scope: Scope) -> bool:
    keys = made.keys if isinstance(made, ast.Dict) else [made.key] if isinstance(made, ast.DictComp) else []
    return any(Kind.TENSOR in scope.value(key).kinds for key in keys if key is not None)


def _array_instead(node: ast.Call, scope: Scope) -> str:
    """What to write instead of a sorted array. A loop would read the items of that too."""
    around = scope.parents.get(node)
    if isinstance(around, ast.For | ast.comprehension) and around.iter is node:
        return (
            "the loop reads the items on the host as well: sort a list or a tuple of Python numbers, without an array"
        )
    turned = "[::-1]" if any(k.arg == "reverse" and not is_literal(k.value, False) for k in node.keywords) else ""
    return f"use `np.sort({snippet(node.args[0])}){turned}`, which puts NaN {'first' if turned else 'last'}"
