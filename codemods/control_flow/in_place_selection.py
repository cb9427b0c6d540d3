"""A write in place in a branch, as a write that is always made and changes nothing on the other side."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.in_place import OUTSIDE, written_always
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.control_flow.branches import keeps_type
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Given, Template, where
from compilefix.source.snippets import snippet

_METHODS = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}
_RANKS = {"bool": 0, "int": 1, "float": 2}


@dataclass(frozen=True)
class _Write:
    """`memory` becomes `memory <operator> operand`, or the operand alone where there is no operator."""

    memory: ast.expr
    operand: ast.expr
    operator: ast.operator | None


def selected_write(statement: ast.stmt, around: ast.If, condition: str, scope: Scope, template: Template) -> str | None:
    """The statement that writes always; None where it is not of this kind, or an obstacle stands in the way."""
    write = _write(statement, scope)
    if write is None or not scope.value(write.memory).is_tensor:
        return None
    memory, operand = scope.value(write.memory), scope.value(write.operand)
    template.refuse(scope.legality.both_evaluated([write.memory, write.operand], scope.facts))
    template.refuse(_fits(write, memory, operand, scope))
    template.refuse(_gradients(write, statement, around, scope))
    target = template.use(write.memory)
    if write.operator is None and operand.const is not None:
        return f"{target}.masked_fill_({condition}, {template.use(write.operand)})"
    value = template.use(write.operand)
    if write.operator is not None:
        built = ast.BinOp(write.memory, write.operator, write.operand)
        ast.copy_location(built, statement)
        value = template.code(Given(built, built=True))
    return f"{target}.copy_({where(scope)}({condition}, {value}, {target}))"


def _write(statement: ast.stmt, scope: Scope) -> _Write | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name | ast.Attribute):
        known = isinstance(statement.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        if not known:
            return None
        read = copy.copy(statement.target)
        read.ctx = ast.Load()
        scope.facts.values[read] = scope.value(statement.target)
        return _Write(read, statement.value, statement.op)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    memory, method = call.func.value, call.func.attr
    if not isinstance(memory, ast.Name | ast.Attribute) or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return None
    if method in ("copy_", "fill_"):
        return _Write(memory, call.args[0], None)
    return _Write(memory, call.args[0], _METHODS[method]()) if method in _METHODS else None


def _fits(write: _Write, memory: Value, operand: Value, scope: Scope) -> Iterator[Obstacle]:
    """Whether selecting between the new and the old value gives the dtype and shape of the memory."""
    shown = snippet(write.memory)
    if not memory.certain:
        yield Obstacle(f"`{shown}` is not proved to be a tensor", "branches-total")
    if write.operator is not None:
        divides = isinstance(write.operator, ast.Div)
        if not keeps_type(memory, [write.operand], scope, divides=divides):
            yield Obstacle(f"the new value of `{shown}` is not proved to have its shape and dtype", "same-shape-dtype")
        return
    ranks = (_RANKS.get(memory.dtype or "", -1), _RANKS.get(operand.dtype or "", 3))
    if ranks[1] > ranks[0]:
        yield Obstacle(f"what is written into `{shown}` is not proved to fit its dtype")
    if operand.const is None and not (operand.is_tensor and operand.certain):
        yield Obstacle(f"what is written into `{shown}` is not proved to be a tensor")
    elif operand.const is None and operand.rank != 0 and not _same_shape(operand, memory):
        yield Obstacle(f"what is written into `{shown}` is not proved to have its shape", "same-shape-dtype")


def _same_shape(first: Value, second: Value) -> bool:
    return first.shape_id is not None and first.shape_id == second.shape_id


def _gradients(write: _Write, statement: ast.stmt, around: ast.If, scope: Scope) -> Iterator[Obstacle]:
    memory, operand = scope.value(write.memory), scope.value(write.operand)
    if operand.leaves:
        yield Obstacle(f"a gradient flows into `{snippet(write.memory)}`")
    if not _is_buffer(write.memory, scope):
        if memory.leaves and not memory.origin:
            yield Obstacle(f"a gradient flows through `{snippet(write.memory)}`")
        yield from written_always(memory, statement, around, scope.facts)
    elif _read_elsewhere(write.memory, around, scope):
        yield Obstacle(
            f"`{snippet(statement)}` writes into a buffer that the backward pass of other code may need", "no-aliasing"
        )


def _is_buffer(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a registered buffer of the class: no parameter, so nothing trains it."""
    cls = scope.function.cls
    if cls is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    if not any(token.startswith(OUTSIDE) for token in scope.value(node).storage):
        return False
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "register_buffer"
        and _names(call.args[:1]) == [node.attr]
        for call in ast.walk(cls.node)
    )


def _names(nodes: Sequence[ast.expr]) -> list[object]:
    return [n.value for n in nodes if isinstance(n, ast.Constant)]


def _read_elsewhere(node: ast.expr, around: ast.If, scope: Scope) -> bool:
    """Whether the file reads an attribute of this name outside the branch."""
    assert isinstance(node, ast.Attribute)
    lines = range(around.lineno, (around.end_lineno or 0) + 1)
    return any(
        isinstance(n, ast.Attribute) and n.attr == node.attr and n.lineno not in lines
        for n in ast.walk(scope.file.tree)
    )
