"""`torch.equal(a, b)` and `torch.allclose(a, b)` as tensors of one bool."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import Value, may_share
from compilefix.analysis.written_memory import is_outside
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

# What reads and computes nothing: it may be written twice.
_READ = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_WHOLE = ("torch.equal", "Tensor.equal", "torch.allclose", "Tensor.allclose")


def compares_whole(test: ast.expr, scope: Scope) -> bool:
    """`torch.equal` and `torch.allclose`, which compare tensors and return a Python bool."""
    return isinstance(test, ast.Call) and scope.callee(test) in _WHOLE and all(a is not None for a in _pair(test))


def whole_comparison(test: ast.Call, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """`torch.equal(a, b)` compares shapes first; `torch.allclose` is `isclose(...).all()` by definition."""
    first, second = (node for node in _pair(test) if node is not None)
    function = (scope.callee(test) or "").rpartition(".")[2]
    sides = (scope.value(first), scope.value(second))
    if not all(side.is_tensor and side.certain for side in sides):
        template.refuse([Obstacle(f"`{snippet(test)}` is not proved to compare tensors", "is-tensor")])
    if function == "equal":
        itself = isinstance(first, ast.Name) and ast.dump(first) == ast.dump(second)
        if not itself and (sides[0].dtype_id is None or sides[0].dtype_id != sides[1].dtype_id):
            reason = f"the tensors in `{snippet(test)}` are not proved to have the same dtype, and else may raise"
            template.refuse([Obstacle(reason, "same-shape-dtype")])
        template.refuse(_same_nan(first, second, sides, itself=itself))
        if itself or (sides[0].shape_id is not None and sides[0].shape_id == sides[1].shape_id):
            return f"({template.use(first, operand=True)} == {template.use(second, operand=True)}).all()"
        reason = f"the tensors in `{snippet(test)}` are not proved to be on one device, and of other shapes may raise"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
        (one, given), (two, other) = _once(first, "left", scope, template), _once(second, "right", scope, template)
        code = f"({one} == {two}).all() if {given}.shape == {other}.shape else {one}.new_zeros(()).bool()"
        return f"({code})" if operand else code
    if not isinstance(test.func, ast.Attribute) or any(k.arg is None for k in test.keywords):
        template.refuse([Obstacle(f"`{snippet(test)}` is not written as `torch.allclose` with its arguments")])
        return None
    arguments = [template.use(a) for a in test.args] + [f"{k.arg}={template.use(k.value)}" for k in test.keywords]
    return f"{template.use(test.func.value)}.isclose({', '.join(arguments)}).all()"


def _same_nan(first: ast.expr, second: ast.expr, sides: Sequence[Value], *, itself: bool) -> Iterator[Obstacle]:
    """Whether `torch.equal` may be given one tensor twice: on a GPU that is True with NaN in it (torch 2.11, H100)."""
    if any(side.dtype in ("int", "bool") for side in sides):
        return
    if itself:
        yield Obstacle(f"on a GPU `{snippet(first)}` equals itself with NaN in it; ask `isnan` for that")
    elif may_share(*map(memory_of, sides)) or all(map(is_outside, sides)):
        reason = f"`{snippet(first)}` and `{snippet(second)}` may be one tensor, which on a GPU equals itself with NaN"
        yield Obstacle(reason, "no-aliasing")


def _pair(call: ast.Call) -> list[ast.expr | None]:
    """The two tensors that `torch.equal(a, b)` or `a.equal(b)` compares."""
    tensors = [a for a in call.args if not isinstance(a, ast.Starred)]
    if isinstance(call.func, ast.Attribute) and not (len(tensors) > 1 and call.func.attr == "equal"):
        value = call.func.value
        if not (isinstance(value, ast.Name) and value.id == "torch"):
            tensors = [value, *tensors]
    return [tensors[0], tensors[1]] if len(tensors) > 1 else [None, None]


def _once(node: ast.expr, wanted: str, scope: Scope, template: Template) -> tuple[str, str]:
    """A tensor behind the question for its shape, and in that question: what is computed gets a name there."""
    read = all(isinstance(part, _READ) for part in ast.walk(node))
    # `:=` is not allowed everywhere in a comprehension.
    if read or any(isinstance(around, ast.comprehension | _COMPREHENSIONS) for around in scope.ancestors(node)):
        template.refuse(scope.legality.computed_again(node, scope.facts))
        code = template.use(node, operand=True)
        return code, code
    name = free_name(wanted, scope)
    return name, f"({name} := {template.use(node)})"
