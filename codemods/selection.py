"""Turning a branch on a tensor into `torch.where`: the condition, the selected value, and what stands in the way."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_NUMBER_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_NUMBER_METHODS = frozenset({"mul", "div", "add", "sub", "mul_", "div_", "add_", "sub_", "true_divide", "multiply"})


@dataclass
class Template:
    """Code under construction: text with placeholders, the nodes that these stand for, and the open obstacles."""

    parts: dict[str, ast.AST] = field(default_factory=dict)
    obstacles: list[Obstacle] = field(default_factory=list)

    def use(self, node: ast.AST, *, operand: bool = False) -> str:
        """A placeholder for a node; `operand` asks for parentheses where the node is no atom."""
        name = f"p{len(self.parts)}"
        self.parts[name] = node
        return f"({{{name}}})" if operand and not isinstance(node, _ATOMS) else f"{{{name}}}"

    def refuse(self, obstacles: Iterable[Obstacle]) -> None:
        """Note what stands in the way."""
        self.obstacles.extend(o for o in obstacles if o not in self.obstacles)

    @property
    def broken(self) -> str | None:
        """The condition that no assumption can heal."""
        return next((o.reason for o in self.obstacles if o.assumption is None), None)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user must vouch for."""
        return tuple(dict.fromkeys(o.assumption for o in self.obstacles if o.assumption is not None))


def is_tensor_test(test: ast.expr, scope: Scope) -> bool:
    """Whether Python asks a tensor for its truth when it evaluates this condition."""
    return bool(tensor_tests(test, scope))


def tensor_tests(test: ast.expr, scope: Scope) -> list[ast.expr]:
    """The parts of a condition whose truth is read from a tensor."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return tensor_tests(test.operand, scope)
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in tensor_tests(value, scope)]
    value = scope.value(test)
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        operands = [test.left, *test.comparators]
        return [test] if any(scope.value(o).is_tensor for o in operands) else []
    return [test] if value.is_tensor else []


def split_static(test: ast.expr, scope: Scope) -> tuple[list[ast.expr], list[ast.expr]]:
    """The conjuncts of a condition that Dynamo evaluates when it traces, and those that are tensors."""
    conjuncts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    fixed = [c for c in conjuncts if not is_tensor_test(c, scope)]
    return fixed, [c for c in conjuncts if is_tensor_test(c, scope)]


def condition(tests: Sequence[ast.expr], scope: Scope, template: Template) -> str | None:
    """Code for the conjunction of tests as one boolean tensor; None where it cannot be written as one."""
    return _joined(tests, "&", scope, template)


def _joined(tests: Sequence[ast.expr], symbol: str, scope: Scope, template: Template) -> str | None:
    codes: list[str] = []
    for index, test in enumerate(tests):
        if index:
            template.refuse(scope.legality.both_evaluated([test], scope.facts))
        code = _boolean(test, scope, template, operand=len(tests) > 1)
        if code is None:
            return None
        codes.append(code)
    return f" {symbol} ".join(codes)


def _boolean(test: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str | None:
    if isinstance(test, ast.BoolOp):
        symbol = "&" if isinstance(test.op, ast.And) else "|"
        code = _joined(test.values, symbol, scope, template)
        return None if code is None else f"({code})" if operand else code
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = scope.value(test.operand)
        if value.is_tensor and not isinstance(test.operand, ast.Compare) and value.dtype != "bool":
            template.refuse(scope.legality.condition(test.operand, scope.facts))
            return f"({template.use(test.operand, operand=True)} == 0)"
        inner = _boolean(test.operand, scope, template, operand=True)
        return None if inner is None else f"~{inner}"
    value = scope.value(test)
    if not value.is_tensor:
        if isinstance(test, ast.Compare) and len(test.ops) > 1:
            template.refuse([Obstacle("a chained comparison of tensors is not rewritten")])
        else:
            template.refuse([Obstacle(f"`{ast.unparse(test)}` is not proved to be a tensor, and mixes with tensors in one condition")])
        return None
    template.refuse(scope.legality.condition(test, scope.facts))
    reshape = ".reshape(())" if value.rank != 0 else ""
    if value.dtype == "bool":
        return template.use(test, operand=operand or bool(reshape)) + reshape
    code = f"{template.use(test, operand=True)}{reshape} != 0"
    return f"({code})" if operand else code


def where(scope: Scope) -> str:
    """How this file writes `torch.where`."""
    return f"{torch_name(scope)}.where"


def torch_name(scope: Scope) -> str:
    """The local name of torch; a fix that uses it must list `imports(scope)`."""
    return scope.local_name("torch") or "torch"


def imports(scope: Scope) -> tuple[str, ...]:
    """The import that `torch_name` needs."""
    return () if scope.local_name("torch") else ("torch",)


def numbers(values: Sequence[Value]) -> list[bool | int | float] | None:
    """The constants, when all of the values are constant numbers of one type."""
    found = [v.const.value for v in values if v.const is not None]
    if len(found) != len(values) or not all(isinstance(n, int | float) for n in found):
        return None
    if len({type(n) for n in found}) != 1 or isinstance(found[0], bool):
        return None
    return [n for n in found if isinstance(n, int | float)]


def number_conversion(uses: Sequence[ast.expr], constants: Sequence[bool | int | float], scope: Scope, at: ast.AST) -> tuple[str, list[Obstacle]]:
    """What to append to `torch.where(c, 0.5, 1.0)` so that every use gives the same tensor, and what is not proved.

    A tensor without dimensions acts like a Python number beside a tensor that has dimensions. Beside one that may have
    none it would widen the result, so it takes that tensor's dtype.
    """
    obstacles: list[Obstacle] = []
    partners: list[ast.expr] = []
    for use in uses:
        partner = _partner(use, scope)
        if partner is None:
            statement = scope.statement(use)
            obstacles.append(Obstacle(f"line {statement.lineno} uses the selected number otherwise than in tensor arithmetic", "number-to-tensor"))
        else:
            partners.append(partner)
    if not partners:
        return "", obstacles or [Obstacle("the selected number is not used")]
    if not all(_exact(c) for c in constants):
        obstacles.append(Obstacle("a constant is not exact in half precision: as a tensor it is rounded before it is used", "float32-rounding"))
    ranks = [scope.value(p).rank for p in partners]
    if all(r is not None and r > 0 for r in ranks):
        return "", obstacles
    first = partners[0]
    value = scope.value(first)
    env = scope.facts.env_before.get(scope.statement(at), {})
    known = (
        isinstance(first, ast.Name)
        and first.id in env
        and env[first.id].dtype_id is not None
        and all(scope.value(p).dtype_id == env[first.id].dtype_id for p in partners)
    )
    if known and value.dtype == "float" and isinstance(first, ast.Name):
        return f".to({first.id}.dtype)", obstacles
    obstacles.append(Obstacle(f"`{ast.unparse(first)}` is not proved to have a dimension: without one, the result's dtype would widen", "number-to-tensor"))
    return "", obstacles


def _partner(use: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that a number is combined with, when that is all that happens to it."""
    parent = scope.parents.get(use)
    other: ast.expr | None = None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.right if parent.left is use else parent.left
        if isinstance(parent.op, ast.Div) and parent.left is use:
            other = parent.right
    elif isinstance(parent, ast.AugAssign) and parent.value is use and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.target
    elif isinstance(parent, ast.Call) and use in parent.args and len(parent.args) == 1 and not parent.keywords:
        if isinstance(parent.func, ast.Attribute) and parent.func.attr in _NUMBER_METHODS:
            other = parent.func.value
    if other is None or not scope.value(other).is_tensor or not scope.value(other).certain:
        return None
    return other


def _exact(number: bool | int | float) -> bool:
    """Whether a number is the same in float16, bfloat16 and float32."""
    value = float(number)
    try:
        half = struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        return False
    bits = struct.unpack("I", struct.pack("f", value))[0]
    return bool(half == value and bits & 0xFFFF == 0)


def selected(
    then: ast.expr | None, orelse: ast.expr | None, values: tuple[Value, Value], scope: Scope
) -> Iterator[Obstacle]:
    """What stands in the way of computing both sides and selecting one."""
    sides = [side for side in (then, orelse) if side is not None]
    yield from scope.legality.both_evaluated(sides, scope.facts)
    yield from scope.legality.same_type(*values)
    yield from scope.legality.gradients(then, orelse, values, scope.facts)


def is_number(value: Value) -> bool:
    """Whether a value is a Python number that does not come from a tensor."""
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("bool", "int", "float")
