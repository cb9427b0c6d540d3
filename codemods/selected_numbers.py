"""Numbers of Python that a fix selects as tensors: the constants, and what the uses of the result take."""

from __future__ import annotations

import ast
import struct
import sys
from collections.abc import Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.added_in_place import added_after
from compilefix.codemods.computed_truths import is_looked_up
from compilefix.codemods.copied_tensors import warns_of_copy
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_NUMBER_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_NUMBER_METHODS = frozenset({"mul", "div", "add", "sub", "mul_", "div_", "add_", "sub_", "true_divide", "multiply"})
_OF_NUMBERS = frozenset(
    {"range", "int", "float", "bool", "str", "repr", "format", "print", "isinstance", "type", "hash", "len", "round"}
)
_OF_SIZES = frozenset(
    {"zeros", "ones", "empty", "rand", "randn", "eye", "view", "reshape", "expand", "repeat", "unflatten", "split"}
    | {"chunk", "topk", "narrow", "transpose", "movedim", "squeeze", "unsqueeze", "select", "flip", "roll", "unfold"}
)
_NOT_EXACT = 0.1


def numbers(values: Sequence[Value]) -> list[bool | int | float] | None:
    """The constants, when all of the values are constant numbers of one type, or floats that are fixed while tracing.

    One of these that is not known counts as one that no tensor holds exactly.
    """
    if not all(v.is_(Kind.STATIC, Kind.SIZE) for v in values):
        return None
    unknown = [v for v in values if v.const is None]
    if unknown and not all(v.dtype == "float" and v.certain for v in values):
        return None
    found = [v.const.value if v.const is not None else _NOT_EXACT for v in values]
    if not all(isinstance(n, int | float) for n in found):
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
    added = next(added_after(uses, at, scope), None)
    if added is not None:
        reason = f"`{snippet(added)}` would change the tensor in place, where a number became another one"
        obstacles.append(Obstacle(reason))
    for use in uses:
        partner = _partner(use, scope)
        if partner is None and needs_number(use, scope):
            reason = f"line {use.lineno} needs the selected number as a Python number, and would read the tensor"
            obstacles.append(Obstacle(reason))
        elif partner is None:
            statement = scope.statement(use)
            obstacles.append(
                Obstacle(
                    f"line {statement.lineno} uses the selected number otherwise than in tensor arithmetic",
                    "number-to-tensor",
                )
            )
            if _rounds_otherwise(use, scope):
                reason = f"line {statement.lineno}: a power or quotient is rounded otherwise for a tensor"
                obstacles.append(Obstacle(reason, "float32-rounding"))
        else:
            partners.append(partner)
    if not (partners or obstacles):
        return "", [Obstacle("the selected number is not used")]
    if not all(exact(c) for c in constants):
        obstacles.append(
            Obstacle(
                "a number is not exact in half precision: as a tensor it is rounded before it is used",
                "float32-rounding",
            )
        )
    if not partners:
        return "", obstacles
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


def needs_number(use: ast.expr, scope: Scope) -> bool:
    """Whether a use needs a Python number: as a bound, size, level, key or text, or to decide what runs.

    `torch.tensor` takes a tensor too, and warns of it.
    """
    child: ast.AST = use
    for parent in scope.ancestors(use):
        if isinstance(parent, ast.Slice | ast.FormattedValue) or is_looked_up(child, parent):
            return True
        if isinstance(parent, ast.Subscript):
            return parent.slice is child and not scope.value(parent.value).may_be(Kind.TENSOR)
        if isinstance(parent, ast.keyword):
            call = scope.parents.get(parent)
            copied = isinstance(call, ast.Call) and warns_of_copy(child, call, scope)
            return copied or parent.arg in ("dim", "size", "k", "dims")
        if isinstance(parent, ast.Call):
            # A line that was carried to the boundary shows the number.
            shown = isinstance(parent.func, ast.Name) and parent.func.id == "emit"
            name = scope.callee(parent) or ""
            read = shown or _takes_numbers(name) or _of_library(name, scope) or warns_of_copy(child, parent, scope)
            return child is not parent.func and read
        if isinstance(parent, ast.BinOp) and any(_is_sequence(side, scope) for side in (parent.left, parent.right)):
            return True
        if isinstance(parent, ast.stmt) or not isinstance(parent, ast.BinOp | ast.UnaryOp):
            return isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is child
        child = parent
    return False


def _takes_numbers(name: str) -> bool:
    """Whether a function reads a tensor back, or shows another text: what comes with Python, and sizes."""
    if "." in name and name.partition(".")[0] in sys.stdlib_module_names:
        return True
    place, _, short = name.rpartition(".")
    return name in _OF_NUMBERS or (place in ("torch", "Tensor") and short in _OF_SIZES)


def _of_library(name: str, scope: Scope) -> bool:
    """Whether a function is one of a library that is neither torch nor part of the project: it may ask for a number."""
    package, _, inner = name.partition(".")
    outside = bool(inner) and package not in ("torch", "Tensor")
    return outside and isinstance(scope.legality.inference.project.resolve(name), str)


def _is_sequence(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).is_(Kind.CONTAINER) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _rounds_otherwise(use: ast.expr, scope: Scope) -> bool:
    """Whether a tensor takes a number in a way that rounds otherwise for another tensor: `x ** 3` multiplies."""
    parent = scope.parents.get(use)
    if isinstance(parent, ast.Call):
        return (scope.callee(parent) or "").rpartition(".")[2] in ("pow", "div", "true_divide")
    return isinstance(parent, ast.BinOp | ast.AugAssign) and isinstance(parent.op, ast.Pow | ast.Div)


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
