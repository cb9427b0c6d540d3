"""Code of which PyTorch 2.13 returns wrong results, once one graph holds all of it.

Where a graph writes values that get a gradient into memory that it is given (`self.keys[:, :n] = keys`), and adds to a
tensor that an object or a dict holds by `+=` (`self.position += n`), the results come out in wrong places, without an
error, with aot_eager and inductor (`tests/codemods/test_misplaced_results.py`). `self.position.add_(n)` works. A fix
that removes a break between the two would bring that about, so that it writes the method, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from compilefix.analysis.values import Kind
from compilefix.analysis.written_memory import is_outside
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.gradient_mode import records_none
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_METHODS: Mapping[type[ast.operator], str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_"}


def in_right_places(finding: Finding, scope: Scope) -> Finding:
    """The finding; where its fix would bring that about, it writes `add_` too, which is the same, or there is none."""
    fix = finding.fix
    if fix is None or finding.effect != "break":
        return finding
    added = [node for node in scope.of(ast.AugAssign) if _is_held(node.target, scope)]
    write = _with_gradient(scope) if added else None
    if write is None:
        return finding
    edits = [_as_method(node, fix, scope) for node in added]
    if any(edit is None for edit in edits):
        beside = f"`{snippet(added[0])}` and `{snippet(write)}`, which has a gradient"
        reason = f"PyTorch 2.13 returns wrong results where one graph holds {beside}: write the first as a method"
        return replace(finding, fix=None, declined=reason)
    return replace(finding, fix=replace(fix, edits=(*fix.edits, *(edit for edit in edits if edit is not None))))


def _as_method(node: ast.AugAssign, fix: Fix, scope: Scope) -> Edit | None:
    """The edit that writes `x.n.add_(1)` for `x.n += 1`; None where that may be another thing, or is rewritten."""
    method, target = _METHODS.get(type(node.op)), node.target
    cls = scope.function.cls
    attribute = target.attr if isinstance(target, ast.Attribute) else None
    stored = attribute is not None and cls is not None and scope.legality.inference.project.method(cls, attribute)
    # With an array of NumPy `+=` gives an array, and the method raises.
    fits = scope.value(node.value).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.TENSOR)
    if method is None or stored or not fits or not scope.value(target).certain or not _is_plain(target):
        return None
    if any(edit.target.overlaps(scope.span(node)) for edit in fix.edits):
        return None
    return scope.edit(node, f"{{target}}.{method}({{value}})", target=target, value=node.value)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression names an object, so that it may be looked up once more or less."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_plain(node.value)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_plain(node.value))


def _with_gradient(scope: Scope) -> ast.AST | None:
    """A write of values that get a gradient into memory that was there before."""
    for node, values in _writes(scope):
        if any(scope.value(value).leaves for value in values) and not records_none(scope, node):
            return node
    return None


def _is_held(target: ast.expr, scope: Scope) -> bool:
    return isinstance(target, ast.Attribute | ast.Subscript) and _is_item(target) and scope.value(target).is_tensor


def _is_item(target: ast.Attribute | ast.Subscript) -> bool:
    """Not a part of a tensor, which is written into where it stands: an attribute, or what a dict holds by a name."""
    if isinstance(target, ast.Attribute):
        return True
    return isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)


def _writes(scope: Scope) -> Iterator[tuple[ast.AST, list[ast.expr]]]:
    """The writes into memory that was there before the function was called, with what may be written."""
    for statement in scope.of(ast.Assign):
        parts = [target for target in statement.targets if isinstance(target, ast.Subscript)]
        if any(scope.value(part.value).is_tensor and is_outside(scope.value(part.value)) for part in parts):
            yield statement, [statement.value]
    for call in scope.of(ast.Call):
        name = (scope.callee(call) or "").rpartition(".")[2]
        if isinstance(call.func, ast.Attribute) and name.endswith("_") and not name.startswith("_"):
            value = scope.value(call.func.value)
            if value.is_tensor and is_outside(value):
                yield call, [*call.args, *(keyword.value for keyword in call.keywords)]
