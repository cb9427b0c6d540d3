"""A derivative that stays finite on the side that is not taken: its operand is replaced there.

`torch.where(c, torch.sqrt(x), y)` computes the root on the other side too. Where that is infinite or NaN, the gradient
of zero that comes back becomes NaN (measured in rewrites-measured.md and in tests/codemods/test_double_where.py).
`torch.where(c, torch.sqrt(torch.where(c, x, 1.0)), y)` has the same values, and the gradient of zero stays zero.

An index goes the same way: `if i == last: y = x[i]`, `else: y = x[i + 1]` would read behind the end on the last turn.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from compilefix.analysis.values import Kind
from compilefix.codemods.gradient_mode import records_none
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.tree import elements_of, names_in

_AT = {
    1.0: "sqrt rsqrt log log2 log10 log1p reciprocal exp exp2 expm1 square sin cos tan sinh cosh tanh asinh arcsinh "
    "sigmoid erf erfc softplus gelu silu logsigmoid norm vector_norm softmax log_softmax logsumexp lgamma",
    0.0: "asin arcsin acos arccos atanh arctanh",
    2.0: "acosh arccosh",
}
SAFE_POINTS: Mapping[str, float] = {name: point for point, names in _AT.items() for name in names.split()}
"""Where functions of one tensor have a finite derivative: what their operand becomes on the other side."""
_KEEP_INTEGERS = frozenset(
    {"square", "norm", "vector_norm", "softmax", "log_softmax", "softplus", "gelu", "silu", "logsigmoid"}
)
"""Of these, functions that keep integers, or refuse them. All others give a floating result for a tensor of any dtype,
the same as for `torch.where(c, x, 1.0)` (tests/codemods/test_double_where.py)."""
_DIVIDING = frozenset({"div", "divide", "true_divide", "floor_divide", "remainder", "fmod"})
_TAKEN = "compilefix_taken"


def finite_sides(sides: Collection[ast.expr | None], scope: Scope) -> frozenset[ast.expr]:
    """The sides whose derivative is not finite everywhere, or whose index may be none there, and that can be mended."""
    return frozenset(side for side in sides if side is not None and _replaced(side, scope))


def taken(tests: Sequence[str], index: int) -> tuple[str, bool]:
    """When a chain of selections takes its side `index`: where the code given holds, or where it does not.

    `tests` are the codes of boolean tensors; the side behind them all is taken where none holds.
    """
    if index == len(tests):
        return " | ".join(_operand(test) for test in tests) if index > 1 else tests[0], False
    if index == 0:
        return tests[0], True
    return " & ".join([_operand(tests[index]), *(f"~{_operand(test)}" for test in tests[:index])]), True


def _operand(code: str) -> str:
    return code if code.isidentifier() else f"({code})"


def double_where(given: Given, when: tuple[str, bool], scope: Scope, template: Template) -> str:
    """The code of one of `finite_sides`, which is taken `when` a condition holds, or where it does not."""
    test, holds = when
    made = _copied(given.node, _replaced(given.node, scope), holds, torch_name(scope))
    code = template.code(Given(made, given.inlined, built=True))
    return code.replace(_TAKEN, test)


def _replaced(node: ast.expr, scope: Scope) -> dict[ast.expr, float | None]:
    """The operands to replace and by what, None for ones of their dtype; none where that would not be enough."""
    found: dict[ast.expr, float | None] = {}
    none = records_none(scope, node)
    culprits = () if none else tuple(scope.legality.derivatives.culprits(node, scope.facts))
    # Products of sums alone are not worth what they would read like: only an infinite factor makes a zero NaN there.
    sums = not all(isinstance(culprit, ast.BinOp) and isinstance(culprit.op, ast.Mult) for culprit in culprits)
    for culprit in culprits:
        operands, promotes = _operands(culprit, scope), _promotes(culprit, scope)
        divisor = divisor_of(culprit, scope) if isinstance(culprit, ast.BinOp) else None
        for operand, safe in operands.items():
            if operand is divisor and not isinstance(operand, ast.Starred) and scope.value(operand).is_tensor:
                # Of any dtype: a quotient with the integer has the dtype that it has with booleans or floats.
                found[operand] = safe if scope.value(operand).dtype == "float" else 1
            elif _is_replaceable(operand, safe, promotes, sums, scope):
                found[operand] = _safe(operand, safe, promotes, scope)
            else:
                return {}
        if not operands:
            return {}
    return found | dict.fromkeys(_indices(node, scope), 0) | dict.fromkeys(_integer_divisors(node, scope), 1)


def divisor_of(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What an expression divides by: `a / b`, `a // b`, `a % b`, `torch.div(a, b)`, `a.div(other=b)` and their kin."""
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) else None
    if not isinstance(node, ast.Call):
        return None
    owner, _, name = (scope.callee(node) or "").rpartition(".")
    place = {"torch": 1, "Tensor": 0}.get(owner)
    if place is None or name not in _DIVIDING:
        return None
    if len(node.args) <= place:
        return next((keyword.value for keyword in node.keywords if keyword.arg == "other"), None)
    return None if any(isinstance(a, ast.Starred) for a in node.args) else node.args[place]


def _integer_divisors(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """The integers that are divided by: a zero raises an error on a CPU. Behind a branch, those that it names."""
    asked = _asked(node, scope)
    for part in ast.walk(node):
        divisor = divisor_of(part, scope) if isinstance(part, ast.expr) and part in scope.parents else None
        if divisor is None or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)):
            continue
        names = names_in(divisor)
        if scope.value(divisor).dtype != "float" and _keeps_dtype(divisor, scope):
            yield from [] if asked and asked.isdisjoint(names) else [divisor]


def _keeps_dtype(divisor: ast.expr, scope: Scope) -> bool:
    """Whether a divisor that is one on the other side leaves the dtype of the result: it is no tensor of booleans."""
    value = scope.value(divisor)
    return value.is_tensor and (value.dtype in ("int", "float") or (value.dtype is None and value.rank == 0))


def _indices(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """The integer tensors that pick items and that the condition may be about: computed ones, and those it names."""
    asked: set[str] = set()
    for part in ast.walk(node):
        if not isinstance(part, ast.Subscript) or not isinstance(part.ctx, ast.Load):
            continue
        asked = asked or _with_origins(_asked(node, scope), scope)
        for index in elements_of(part.slice):
            value = scope.value(index)
            if not value.is_tensor or not value.certain or value.dtype != "int":
                continue
            names = _with_origins(names_in(index), scope)
            if isinstance(index, ast.BinOp) or not asked.isdisjoint(names):
                yield index


def _with_origins(names: Collection[str], scope: Scope) -> set[str]:
    """Names, and the tensors that they are computed of: a mask, of its first true place and of their number."""
    values = (value for name in names if (value := scope.only_value(name)) is not None)
    parts = (part for value in values for part in ast.walk(value) if isinstance(part, ast.Name))
    return {*names, *(part.id for part in parts if scope.value(part).is_tensor)}


def _asked(node: ast.expr, scope: Scope) -> set[str]:
    """The names in the conditions that an expression stands behind, also where a condition has a name of its own."""
    tests = [p.test for p in scope.ancestors(node) if isinstance(p, ast.If | ast.IfExp)]
    stores = [scope.names(test.id, stores=True) for test in tests if isinstance(test, ast.Name)]
    given = [scope.parents.get(store[0]) for store in stores if len(store) == 1]
    tests += [one.value for one in given if isinstance(one, ast.Assign)]
    return names_in(*tests)


def _operands(culprit: ast.expr, scope: Scope) -> dict[ast.expr, float]:
    if isinstance(culprit, ast.BinOp):
        if isinstance(culprit.op, ast.Div):
            return {culprit.left if scope.value(culprit.right).is_(Kind.STATIC) else culprit.right: 1.0}
        if isinstance(culprit.op, ast.FloorDiv | ast.Mod):
            return {culprit.right: 1.0} if _keeps_dtype(culprit.right, scope) else {}
        if isinstance(culprit.op, ast.Mult):
            sides = (culprit.left, culprit.right)
            # A number beside the tensor needs no change: what it makes of the gradient ends at the inner `where`.
            return {s: 1.0 for s in sides if not scope.value(s).is_(Kind.STATIC)}
        if isinstance(culprit.op, ast.Pow) and scope.value(culprit.right).const is not None:
            return {culprit.left: 1.0}
        return {}
    if not isinstance(culprit, ast.Call):
        return {}
    name = scope.callee(culprit) or ""
    short = name.rpartition(".")[2]
    known = name.startswith(("Tensor.", "torch."))
    if known and short in SAFE_POINTS:
        method = name.startswith("Tensor.")
        operand = (
            culprit.func.value if method and isinstance(culprit.func, ast.Attribute) else next(iter(culprit.args), None)
        )
        others = [*culprit.args[0 if method else 1 :], *(keyword.value for keyword in culprit.keywords)]
        if operand is not None and not any(scope.value(other).leaves for other in others):
            return {operand: SAFE_POINTS[short]}
    return {}


def _promotes(culprit: ast.expr, scope: Scope) -> bool:
    """Whether it is a function of one tensor that makes floating numbers of integers."""
    short = (scope.callee(culprit) or "").rpartition(".")[2] if isinstance(culprit, ast.Call) else ""
    return short in SAFE_POINTS and short not in _KEEP_INTEGERS


def _is_replaceable(node: ast.expr, safe: float, promotes: bool, sums: bool, scope: Scope) -> bool:
    """Whether a tensor of the same dtype can stand in its place, or one of a dtype that gives the same result."""
    value = scope.value(node)
    if isinstance(node, ast.Starred) or not value.is_tensor:
        return False
    return (
        promotes
        or value.dtype == "float"
        or (safe == 1.0 and (_is_written_twice(node, sums=sums) or value.dtype == "int"))
    )


def _is_written_twice(node: ast.expr, *, sums: bool = True) -> bool:
    """Whether an operand can stand in `torch.ones_like`, too: a name, or sums and products of names and numbers."""
    if sums and isinstance(node, ast.BinOp):
        plain = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
        return plain and all(isinstance(s, ast.Constant) or _is_written_twice(s) for s in (node.left, node.right))
    return isinstance(node, ast.Name)


def _safe(node: ast.expr, safe: float, promotes: bool, scope: Scope) -> float | None:
    """The number in its place: one that does not change the dtype of the result, else None."""
    dtype = scope.value(node).dtype
    if promotes or dtype == "float":
        return safe
    return 1 if dtype == "int" and not _is_written_twice(node) else None


def _copied(node: ast.expr, replaced: Mapping[ast.expr, float | None], holds: bool, torch: str) -> ast.expr:
    """The expression with its operands replaced; what is not changed are the nodes themselves."""
    copied = node
    if any(operand in replaced for operand in ast.walk(node) if operand is not node):
        fields: dict[str, Any] = {n: _field(value, replaced, holds, torch) for n, value in ast.iter_fields(node)}
        copied = type(node)(**fields)
    return _selected(copied, replaced[node], holds, torch) if node in replaced else copied


def _field(value: object, replaced: Mapping[ast.expr, float | None], holds: bool, torch: str) -> object:
    if isinstance(value, list):
        return [_field(item, replaced, holds, torch) for item in value]
    if isinstance(value, ast.keyword):
        return ast.keyword(value.arg, _copied(value.value, replaced, holds, torch))
    return _copied(value, replaced, holds, torch) if isinstance(value, ast.expr) else value


def _selected(operand: ast.expr, safe: float | None, holds: bool, torch: str) -> ast.Call:
    other = _call(torch, "ones_like", [operand]) if safe is None else ast.Constant(safe)
    sides = [operand, other] if holds else [other, operand]
    return _call(torch, "where", [ast.Name(_TAKEN, ast.Load()), *sides])


def _call(torch: str, name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(torch, ast.Load()), name, ast.Load()), arguments, [])
