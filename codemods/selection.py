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
_CASTS = ("float", "int", "bool")
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
    def reasons(self) -> tuple[str, ...]:
        """What could not be proved."""
        return tuple(dict.fromkeys(o.reason for o in self.obstacles))

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
    if isinstance(test, ast.Compare):
        operands = [test.left, *test.comparators]
        if (len(test.ops) > 1 and any(scope.value(o).is_tensor for o in operands)) or any(
            read_of(o, scope) for o in operands
        ):
            return [test]
    return [test] if scope.value(test).is_tensor or read_of(test, scope) is not None else []


def read_of(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The tensor whose value a call reads as one number: `t.item()`, `float(t)`, `int(t)`, `bool(t)`."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return node.func.value if scope.value(node.func.value).is_tensor else None
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in _CASTS
        and scope.callee(node) == node.func.id
        and len(node.args) == 1
    ):
        return node.args[0] if scope.value(node.args[0]).is_tensor else None
    return None


def decides(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is (part of) the test of a statement or conditional expression, and nothing else."""
    child = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is child
        compares = isinstance(parent, ast.Compare) and len(parent.ops) == 1 and child is node
        negates = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        if not (compares or negates or isinstance(parent, ast.BoolOp)):
            return False
        child = parent
    return False


def split_static(test: ast.expr, scope: Scope) -> tuple[list[ast.expr], list[ast.expr]]:
    """The conjuncts of a condition that Dynamo evaluates when it traces, and those that are tensors.

    A fixed conjunct that stands behind a tensor is evaluated before it after the rewrite: see `order_kept`.
    """
    conjuncts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    fixed = [c for c in conjuncts if not is_tensor_test(c, scope)]
    return fixed, [c for c in conjuncts if is_tensor_test(c, scope)]


def order_kept(test: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether the fixed conjuncts may be evaluated before the tensors."""
    fixed, tests = split_static(test, scope)
    if not tests or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return
    first = test.values.index(tests[0])
    for part in fixed:
        if test.values.index(part) > first:
            if not scope.value(part).is_static:
                yield Obstacle(f"`{ast.unparse(part)}` stands behind a tensor and is not known to be fixed")
            yield from scope.legality.both_evaluated([part], scope.facts)
            yield Obstacle(
                f"`{ast.unparse(part)}` stands behind a tensor, which could fail, and would not be computed "
                "where that is false",
                "branches-total",
            )


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
    source = read_of(test, scope)
    if source is not None:
        return _truth_of_read(test, source, scope, template, operand=operand)
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and any(read_of(o, scope) for o in (test.left, test.comparators[0]))
    ):
        return _compared_reads(test, scope, template, operand=operand)
    if not value.is_tensor:
        if isinstance(test, ast.Compare) and len(test.ops) > 1:
            template.refuse([Obstacle("a chained comparison of tensors is not rewritten")])
        else:
            template.refuse(
                [
                    Obstacle(
                        f"`{ast.unparse(test)}` is not proved to be a tensor, and mixes with tensors in one condition"
                    )
                ]
            )
        return None
    template.refuse(scope.legality.condition(test, scope.facts))
    reshape = ".reshape(())" if value.rank != 0 else ""
    if any(token.startswith(("param:", "self.", "global.")) for token in value.storage) and value.dtype == "bool":
        reshape += ".clone()"  # torch.where keeps its condition for the backward pass
    if value.dtype == "bool":
        return template.use(test, operand=operand or bool(reshape)) + reshape
    code = f"{template.use(test, operand=True)}{reshape} != 0"
    return f"({code})" if operand else code


def _truth_of_read(test: ast.expr, source: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str | None:
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "int"
        and scope.value(source).dtype not in ("int", "bool")
    ):
        template.refuse([Obstacle("`int()` truncates, and the tensor is not proved to be of an integer dtype")])
        return None
    return _boolean(source, scope, template, operand=operand)


def _compared_reads(test: ast.Compare, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """A comparison of numbers that were read from tensors, as a comparison of the tensors.

    Python compares in double precision. Against a number that is not exact in half precision so must the tensor.
    """
    sides = [test.left, test.comparators[0]]
    symbol = _COMPARISONS.get(type(test.ops[0]))
    if symbol is None:
        template.refuse([Obstacle(f"`{ast.unparse(test)}` is no plain comparison")])
        return None
    reads = [source for side in sides if (source := read_of(side, scope)) is not None]
    convert = _common_precision(
        [scope.value(r).dtype for r in reads], [scope.value(s) for s in sides if read_of(s, scope) is None], template
    )
    codes: list[str] = []
    for side in sides:
        source = read_of(side, scope)
        value = scope.value(side)
        if source is None:
            if not value.is_(Kind.STATIC, Kind.SIZE) and not value.is_scalar_tensor:
                template.refuse([Obstacle(f"`{ast.unparse(side)}` is not proved to be a number")])
            codes.append(template.use(side, operand=True))
            continue
        read = scope.value(source)
        cast = side.func.id if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) else "item"
        if (cast == "int" and read.dtype not in ("int", "bool")) or cast == "bool":
            template.refuse([Obstacle(f"`{cast}()` changes the number that is compared")])
        template.refuse(scope.legality.condition(source, scope.facts))
        code = template.use(source, operand=True) + (".reshape(())" if read.rank != 0 else "")
        codes.append(code + convert)
    return f"({codes[0]} {symbol} {codes[1]})" if operand else f"{codes[0]} {symbol} {codes[1]}"


def _common_precision(reads: Sequence[str | None], others: Sequence[Value], template: Template) -> str:
    """The conversion that makes tensors compare as the Python numbers did: integers exactly, floats in double."""
    constants = [v.const.value for v in others if v.const is not None]
    small = len(constants) == len(others) == 1 and exact(constants[0]) and 0 <= constants[0] <= 127  # type: ignore[operator]
    if small:
        return ""  # every dtype holds it
    kinds = {*reads, *(v.dtype for v in others)}
    if kinds <= {"int", "bool"}:
        return ".long()"
    if kinds == {"float"} or (kinds == {"float", "int"} and set(reads) == {"float"} and len(constants) == len(others)):
        return "" if constants and all(exact(c) for c in constants) else ".double()"
    template.refuse(
        [
            Obstacle(
                "integers and floats are compared: above 2**53 a tensor rounds where Python does not",
                "float32-rounding",
            )
        ]
    )
    return ".double()"


_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


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


def number_conversion(
    uses: Sequence[ast.expr], constants: Sequence[bool | int | float], scope: Scope, at: ast.AST
) -> tuple[str, list[Obstacle]]:
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
            obstacles.append(
                Obstacle(
                    f"line {statement.lineno} uses the selected number otherwise than in tensor arithmetic",
                    "number-to-tensor",
                )
            )
        else:
            partners.append(partner)
    if not partners:
        return "", obstacles or [Obstacle("the selected number is not used")]
    if not all(exact(c) for c in constants):
        obstacles.append(
            Obstacle(
                "a constant is not exact in half precision: as a tensor it is rounded before it is used",
                "float32-rounding",
            )
        )
    if all(scope.value(p).dimensioned for p in partners):
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
    obstacles.append(
        Obstacle(
            f"`{ast.unparse(first)}` is not proved to have a dimension: without one, the result's dtype would widen",
            "number-to-tensor",
        )
    )
    return "", obstacles


def _partner(use: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that a number is combined with, when that is all that happens to it."""
    parent = scope.parents.get(use)
    other: ast.expr | None = None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.right if parent.left is use else parent.left
        if isinstance(parent.op, ast.Div) and parent.left is use:
            return None  # torch divides a number by a tensor through the reciprocal, which rounds otherwise
    elif isinstance(parent, ast.AugAssign) and parent.value is use and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.target
    elif (
        isinstance(parent, ast.Call)
        and use in parent.args
        and len(parent.args) == 1
        and not parent.keywords
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in _NUMBER_METHODS
    ):
        other = parent.func.value
    if other is None or not scope.value(other).is_tensor or not scope.value(other).certain:
        return None
    return other


def exact(number: object) -> bool:
    """Whether a constant is a number that is the same in float16, bfloat16 and float32."""
    if not isinstance(number, int | float):
        return False
    value = float(number)
    try:
        half = struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        return False
    bits = struct.unpack("I", struct.pack("f", value))[0]
    return bool(half == value and bits & 0xFFFF == 0)


def selected(
    then: ast.expr | None,
    orelse: ast.expr | None,
    values: tuple[Value, Value],
    scope: Scope,
    at: ast.AST,
    kept: str | None = None,
) -> Iterator[Obstacle]:
    """What stands in the way of computing both sides and selecting one. `kept`: the name that a missing side keeps."""
    sides = [side for side in (then, orelse) if side is not None]
    yield from scope.legality.both_evaluated(sides, scope.facts)
    yield from scope.legality.same_type(*values)
    for side in sides:
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr == "contiguous":
            yield Obstacle("one side is laid out anew in memory, and a later `view` depends on it", "same-shape-dtype")
    yield from scope.legality.gradients(then, orelse, values, scope.facts, frozenset({kept}) if kept else frozenset())
    yield from scope.legality.saved(sides, scope.statement(at), scope.facts)
    if _grad_mode_changed(scope, at):
        for arm, value in zip((then, orelse), values, strict=True):
            if value.leaves and (arm is None or isinstance(arm, ast.Name | ast.Attribute | ast.Subscript)):
                yield Obstacle("no gradient is recorded here: the selected tensor would lose the one that it has")


def _grad_mode_changed(scope: Scope, at: ast.AST) -> bool:
    names = ("no_grad", "inference_mode", "set_grad_enabled")
    calls = [item.context_expr for a in scope.ancestors(at) if isinstance(a, ast.With) for item in a.items]
    around = [(scope.callee(call) or "").rpartition(".")[2] for call in calls]
    return any(name in names for name in (*around, *(d.rpartition(".")[2] for d in scope.function.decorators)))
