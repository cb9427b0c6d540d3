"""Comparisons of numbers that were read from tensors, as comparisons of the tensors."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, exact, read_of

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def compared_reads(test: ast.Compare, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """A comparison of numbers that were read from tensors, as a comparison of the tensors.

    Python compares in double precision. Against a number that is not exact in half precision so must the tensor.
    """
    sides = [test.left, test.comparators[0]]
    symbol = COMPARISONS.get(type(test.ops[0]))
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
