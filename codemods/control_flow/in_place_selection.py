"""A write in place in a branch, as a write that is always made and changes nothing on the other side."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.in_place import OUTSIDE, written_always
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import UNKNOWN, Value
from compilefix.codemods.control_flow.branches import keeps_type
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import ATOMS, Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import unpacks

_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_METHODS = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}
_BITS = frozenset(f"{kind}_{name}_" for kind in ("logical", "bitwise") for name in ("and", "or", "xor", "not"))
_CHAINED = _BITS | {*_METHODS, "lerp_", "clamp_", "clamp_min_", "clamp_max_", "neg_", "abs_", "nan_to_num_"}
_RANKS = {"bool": 0, "int": 1, "float": 2}


@dataclass(frozen=True)
class _Write:
    """What is written into `memory`: `operand`, with an `operator` between the two, or what calls make of it.

    calls: the methods that write in place one after the other, as in `m.mul_(0.9).add_(x)`. copied: whether `copy_`
    does it, which takes only a tensor.
    """

    memory: ast.expr
    operand: ast.expr | None
    operator: ast.operator | None
    calls: tuple[ast.Call, ...] = ()
    copied: bool = False

    @property
    def operands(self) -> list[ast.expr]:
        """All that is read beside the memory."""
        given = [a for call in self.calls for a in (*call.args, *(k.value for k in call.keywords))]
        return [*([self.operand] if self.operand is not None else []), *given]


def selected_write(
    statement: ast.stmt,
    around: ast.If,
    condition: str,
    scope: Scope,
    template: Template,
    code: Callable[[ast.expr], str] | None = None,
) -> str | None:
    """The statement that writes always; None where it is not of this kind, or an obstacle stands in the way.

    `code` writes the parts of the statement, where they are not to be written as they stand in the file.
    """
    code = code or template.use
    write = _write(statement, scope)
    if write is None or not scope.value(write.memory).is_tensor:
        return None
    template.refuse(scope.legality.both_evaluated([write.memory, *write.operands], scope.facts))
    template.refuse(_fits(write, scope))
    template.refuse(_gradients(write, statement, around, scope))
    target = code(write.memory)
    if write.calls:
        value = target
        for call in write.calls:
            assert isinstance(call.func, ast.Attribute)
            given = [code(a) for a in call.args] + [f"{k.arg}={code(k.value)}" for k in call.keywords]
            value += f".{call.func.attr.removesuffix('_')}({', '.join(given)})"
        return f"{target}.copy_({where(scope)}({condition}, {value}, {target}))"
    assert write.operand is not None
    value = code(write.operand)
    if write.operator is None and scope.value(write.operand).const is not None:
        return f"{target}.masked_fill_({condition}, {value})"
    if write.operator is not None:
        value = value if isinstance(write.operand, ATOMS) else f"({value})"
        value = f"{target} {_SYMBOLS[type(write.operator)]} {value}"
    elif write.copied and scope.value(write.operand).rank != 0 and on_default_device(write.operand, scope):
        # `copy_` takes a tensor from the CPU into one on a GPU, and `where` does not.
        value = f"{value if isinstance(write.operand, ATOMS) else f'({value})'}.to({target})"
    return f"{target}.copy_({where(scope)}({condition}, {value}, {target}))"


def _write(statement: ast.stmt, scope: Scope) -> _Write | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name | ast.Attribute):
        if type(statement.op) not in _SYMBOLS:
            return None
        read = copy.copy(statement.target)
        read.ctx = ast.Load()
        scope.facts.values[read] = scope.value(statement.target)
        return _Write(read, statement.value, statement.op)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    memory, method = call.func.value, call.func.attr
    plain = not call.keywords and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)
    if plain and isinstance(memory, ast.Name | ast.Attribute):
        if method in ("copy_", "fill_"):
            return _Write(memory, call.args[0], None, copied=method == "copy_")
        if method in _METHODS:
            return _Write(memory, call.args[0], _METHODS[method]())
    return _chain(call)


def _chain(call: ast.Call) -> _Write | None:
    """`m.mul_(0.9).add_(x, alpha=0.1)`: each method gives back the memory that it writes into."""
    calls: list[ast.Call] = []
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        starred = unpacks(node)
        if node.func.attr not in _CHAINED or starred:
            return None
        calls.insert(0, node)
        node = node.func.value
    return _Write(node, None, None, tuple(calls)) if isinstance(node, ast.Name | ast.Attribute) and calls else None


def _fits(write: _Write, scope: Scope) -> Iterator[Obstacle]:
    """Whether selecting between the new and the old value gives the dtype and shape of the memory."""
    memory, shown = scope.value(write.memory), snippet(write.memory)
    if not memory.certain:
        yield Obstacle(f"`{shown}` is not proved to be a tensor", "is-tensor")
    if write.operator is not None or write.calls:
        divides = isinstance(write.operator, ast.Div) or bool(write.calls)
        if not keeps_type(memory, write.operands, scope, divides=divides):
            yield Obstacle(f"the new value of `{shown}` is not proved to have its shape and dtype", "same-shape-dtype")
        return
    assert write.operand is not None
    operand = scope.value(write.operand)
    ranks = (_RANKS.get(memory.dtype or "", -1), _RANKS.get(operand.dtype or "", 3))
    if ranks[1] > ranks[0]:
        known = memory.dtype is not None and operand.dtype is not None
        yield Obstacle(
            f"what is written into `{shown}` is not proved to fit its dtype", None if known else "same-shape-dtype"
        )
    if operand.const is None and not (operand.is_tensor and operand.certain):
        taken = operand.is_tensor or (write.copied and operand.kinds == UNKNOWN.kinds)  # no other can be copied
        reason = f"what is written into `{shown}` is not proved to be a tensor"
        yield Obstacle(reason, "branches-total" if taken else None)
        if taken and not operand.is_tensor:
            yield Obstacle(f"what is written into `{shown}` is not proved to have its shape", "same-shape-dtype")
    elif operand.const is None and operand.rank != 0 and not _same_shape(operand, memory):
        yield Obstacle(f"what is written into `{shown}` is not proved to have its shape", "same-shape-dtype")


def _same_shape(first: Value, second: Value) -> bool:
    return first.shape_id is not None and first.shape_id == second.shape_id


def _gradients(write: _Write, statement: ast.stmt, around: ast.If, scope: Scope) -> Iterator[Obstacle]:
    if isinstance(write.memory, ast.Attribute) and write.memory.attr == "data":
        return  # no backward pass sees what is written into `.data`
    memory = scope.value(write.memory)
    if any(scope.value(operand).leaves for operand in write.operands):
        yield Obstacle(f"a gradient flows into `{snippet(write.memory)}` on either side then", "no-gradient")
        yield from _zeros_back(write, scope)
    if not _is_buffer(write.memory, scope):
        if memory.leaves and not memory.origin:
            yield Obstacle(f"a gradient flows through `{snippet(write.memory)}`")
        yield from written_always(memory, statement, around, scope.facts)
    elif _read_elsewhere(write.memory, around, scope):
        yield Obstacle(
            f"`{snippet(statement)}` writes into a buffer that the backward pass of other code may need", "no-aliasing"
        )


def _zeros_back(write: _Write, scope: Scope) -> Iterator[Obstacle]:
    """Whether the gradient that flows back to what is written is zero, and was None, where nothing was written."""
    memory = scope.value(write.memory)
    for operand in write.operands:
        value = scope.value(operand)
        if value.leaves:
            yield from scope.legality.derivatives.gradients(operand, None, (value, memory), scope.facts)
            if not all(_adds(call, scope) for call in write.calls) or isinstance(write.operator, ast.Mult | ast.Div):
                reason = f"the derivative by `{snippet(operand)}` is not finite for every value"
                yield Obstacle(f"{reason}: where nothing was written it could give NaN", "finite-derivative")


def _adds(call: ast.Call, scope: Scope) -> bool:
    """Whether a method adds, or works with written numbers alone: a gradient of zero stays zero on its way back."""
    assert isinstance(call.func, ast.Attribute)
    given = [k.value for k in call.keywords]
    given += [] if call.func.attr in ("add_", "sub_") else call.args
    return all(scope.value(part).const is not None for part in given)


def _is_buffer(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a registered buffer of the class: no parameter, so nothing trains it."""
    cls = scope.function.cls
    if cls is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    if not any(token.startswith(OUTSIDE) for token in scope.value(node).storage):
        return False
    return any(_makes_buffer(n, node.attr) for n in ast.walk(cls.node))


def _makes_buffer(node: ast.AST, name: str) -> bool:
    """Whether code is `self.register_buffer("name", ...)` or `self.name = nn.Buffer(...)`."""
    if isinstance(node, ast.Assign):
        made = isinstance(node.value, ast.Call) and ast.unparse(node.value.func).rpartition(".")[2] == "Buffer"
        return made and any(isinstance(t, ast.Attribute) and t.attr == name for t in node.targets)
    registers = (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer"
    )
    return registers and isinstance(node, ast.Call) and _names(node.args[:1]) == [name]


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
