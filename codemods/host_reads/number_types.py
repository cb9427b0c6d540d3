"""The type of a number that is read from a tensor, which code asks for where a type checker does not know it.

n = mask.sum().item()                  n = mask.sum()
assert isinstance(n, int)              assert not (n.is_floating_point() or n.is_complex())
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.values import replace
from compilefix.codemods.host_reads.number_flow import Flow
from compilefix.codemods.rule import Scope

_TYPES = {"bool": {"bool", "int"}, "int": {"int"}, "float": {"float"}, "complex": {"complex"}}
"""The types that a number of a tensor of some dtype has; a bool is an integer to Python."""
_OF_UNKNOWN = {
    frozenset({"int"}): "not ({0}.is_floating_point() or {0}.is_complex())",
    frozenset({"float"}): "{0}.is_floating_point()",
    frozenset({"int", "float"}): "not {0}.is_complex()",
}
_SUMS = ("Tensor.sum", "torch.sum")
_LOOSE = (ast.stmt, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Call)


@dataclass(frozen=True)
class AskedType:
    """A question for the type of a number, `isinstance(n, int)`, with the answer; None where the dtype is not known."""

    call: ast.Call
    types: frozenset[str]
    answer: bool | None


def asked_type(node: ast.expr, scope: Scope) -> AskedType | None:
    """The question for the type of a number that an expression stands in."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or scope.callee(call) != "isinstance" or call.keywords:
        return None
    if len(call.args) != 2 or call.args[0] is not node:
        return None
    listed = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
    types = frozenset(scope.value(part).ref or "" for part in listed)
    own = _TYPES.get(scope.value(node).dtype or "")
    if own is None:
        return AskedType(call, types, None) if types in _OF_UNKNOWN else None
    return AskedType(call, types, not types.isdisjoint(own)) if types <= _TYPES.keys() else None


def _asserts_sum(call: ast.Call, around: ast.AST | None, scope: Scope) -> bool:
    """Whether the statement behind the one that reads a sum asserts its type: a sum of integers is of dtype int64."""
    name = call.args[0]
    if not isinstance(around, ast.Assert) or around.test is not call or not isinstance(name, ast.Name):
        return False
    block = scope.block(around)
    before = block[block.index(around) - 1] if block[0] is not around else None
    if not isinstance(before, ast.Assign) or [ast.unparse(target) for target in before.targets] != [name.id]:
        return False
    read = before.value.func if isinstance(before.value, ast.Call) else None
    summed = read.value if isinstance(read, ast.Attribute) and read.attr == "item" else None
    return isinstance(summed, ast.Call) and scope.callee(summed) in _SUMS and not _gives_dtype(summed)


def _gives_dtype(call: ast.Call) -> bool:
    return any(k.arg not in ("dim", "keepdim", "input") for k in call.keywords)


def answer_type(asked: AskedType, node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Put the answer, or the same question for the dtype, in its place; of an `assert` that holds nothing is left."""
    around = scope.parents.get(asked.call)
    if asked.answer is None:
        flow.typed = True
        if asked.types == {"int"} and _asserts_sum(asked.call, around, scope):
            flow.read = replace(flow.read, dtype="int", dtype_id="int64")
        code = _OF_UNKNOWN[asked.types]
        if not isinstance(around, _LOOSE):
            code = f"({code})"
        flow.rewrites.append((asked.call, lambda render: code.format(render(node))))
    elif asked.answer and isinstance(around, ast.Assert) and around.test is asked.call:
        rest = "" if len(scope.block(around)) > 1 else "pass"
        flow.rewrites.append((around, lambda _: rest))
    else:
        text = str(asked.answer)
        flow.rewrites.append((asked.call, lambda _: text))
