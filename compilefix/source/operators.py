"""How operators are written, and which comparison says the same with its sides changed, or the opposite."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

SYMBOLS: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        ast.Add: "+",
        ast.Sub: "-",
        ast.Mult: "*",
        ast.Div: "/",
        ast.FloorDiv: "//",
        ast.Mod: "%",
        ast.Pow: "**",
        ast.MatMult: "@",
        ast.BitAnd: "&",
        ast.BitOr: "|",
        ast.BitXor: "^",
        ast.LShift: "<<",
        ast.RShift: ">>",
    }
)
"""The text of each operator with two operands."""

COMPARISONS: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
)
"""The text of the comparisons that tensors have as well."""

TURNED: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}
)
"""`a < b` is `b > a`."""

OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Lt: ast.GtE, ast.LtE: ast.Gt}
)
"""`not a < b` is `a >= b`, but for NaN."""
