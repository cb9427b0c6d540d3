"""How many elements a mask selects: the expressions that ask for it, and whether a tensor may be the answer."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.computed_truths import computed_with, shown_in
from compilefix.codemods.control_flow.validation_call import takes_tensor
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.dynamic_shapes.true_places import listing_call
from compilefix.codemods.finding import Edit
from compilefix.codemods.kept_branches import kept_in
from compilefix.codemods.number_reads import decides
from compilefix.codemods.rule import Scope
from compilefix.source.operators import OPPOSITE
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target

_PAIR = 2
_OPPOSITE = {**OPPOSITE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_WIDE = frozenset({"float", "float32", "float64", "double", "long", "int64"})


def indices_of(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The boolean tensor whose true places an expression lists: `m.nonzero()`, `torch.where(m)[0]`."""
    first = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
    call = listing_call(node.value if isinstance(node, ast.Subscript) and first else node, scope)
    if call is None or call[1] != first:
        return None
    value = scope.value(call[0])
    return call[0] if (is_mask(call[0], scope) or value.is_tensor) and value.rank != 0 else None


def count_uses(node: ast.expr, scope: Scope, *, raised: bool = False, made: bool = False) -> Iterator[Obstacle]:
    """Whether a count may be a tensor where it is used: in arithmetic and comparisons.

    `raised` says that `raised_instead` writes the asserts, `made` that it writes the tensors that are made of a count.
    """
    parent = scope.parents.get(node)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
        and parent.value is node
    ):
        name = parent.targets[0].id
        for use in scope.names(name):
            yield from _count_use(use, scope, raised, made)
        others = [n for n in scope.names(name, stores=True) if n is not parent.targets[0]]
        instead = [_stands_for_zero(other, parent, scope) for other in others]
        if not all(isinstance(number, int | float) for number in instead):
            yield Obstacle(f"`{name}` gets another value elsewhere")
        elif any(isinstance(number, float) for number in instead) and not all(map(_divides(scope), scope.names(name))):
            yield Obstacle(f"`{name}` is a float where there is nothing, and does more than divide")
        return
    yield from _count_use(node, scope, raised, made)


def _stands_for_zero(name: ast.Name, count: ast.Assign, scope: Scope) -> int | float | None:
    """The number that a name of a count gets behind it, where there is none: `if n == 0: n = 1`."""
    statement = scope.parents.get(name)
    test = scope.parents.get(statement) if isinstance(statement, ast.Assign) else None
    if not isinstance(test, ast.If) or test.body != [statement] or test.orelse:
        return None
    assert isinstance(statement, ast.Assign)
    block = scope.block(count)
    number = statement.value.value if isinstance(statement.value, ast.Constant) else None
    whole = (isinstance(number, float) and number.is_integer()) or type(number) is int
    behind = ast.unparse(test.test) == f"{name.id} == 0" and test in block[block.index(count) :]
    return number if whole and behind and isinstance(number, int | float) else None


def _divides(scope: Scope) -> Callable[[ast.Name], bool]:
    """What tells whether a name is compared with a number, or divides something."""

    def tell(name: ast.Name) -> bool:
        parent = scope.parents.get(name)
        divides = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is name
        return divides or isinstance(parent, ast.Compare)

    return tell


def whole_instead(node: ast.expr, scope: Scope) -> Iterator[Edit]:
    """Whole numbers in place of floats that a count is given where there is nothing: both sides are integers then."""
    statement = scope.parents.get(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(statement, ast.Assign) and isinstance(target, ast.Name):
        for other in scope.names(target.id, stores=True):
            number = None if other is target else _stands_for_zero(other, statement, scope)
            given = scope.parents.get(other)
            if isinstance(number, float) and isinstance(given, ast.Assign):
                yield scope.edit(given.value, str(int(number)))


def deciding_branch(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether a count decides an `if` that no rule takes out: the graph would break there, where it broke before."""
    parent = scope.parents.get(node)
    target = single_target(parent)
    uses = scope.names(target.id) if isinstance(target, ast.Name) else [node]
    for use in (use for use in uses if decides(use, scope)):
        branch = next((a for a in scope.ancestors(use) if isinstance(a, ast.stmt | ast.IfExp)), use)
        if (kept := kept_in(branch, scope)) is not None:
            asked = snippet(scope.parents[use])
            yield Obstacle(f"the count decides `{asked}`, which stays a branch: `{snippet(kept)}`")


def _count_use(node: ast.expr, scope: Scope, raised: bool, made: bool) -> Iterator[Obstacle]:
    parent = scope.parents.get(node)
    while isinstance(parent, ast.Tuple) and isinstance(scope.statement(node), ast.Return):
        parent = scope.parents.get(parent)
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        partner = scope.value(other)
        arithmetic = isinstance(parent.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        if arithmetic and partner.is_tensor and partner.certain and partner.dtype == "float" and partner.dimensioned:
            if partner.dtype_id not in ("float32", "float64"):
                yield Obstacle(
                    f"beside a half precision `{snippet(other)}` a GPU rounds a count above 2048 first",
                    "float32-rounding",
                )
            return
        yield Obstacle("the count was a Python number, and becomes a tensor", "number-to-tensor")
        if not partner.is_tensor:
            yield from _beside_number(parent, node, scope)
            yield from _count_use(parent, scope, raised, made)
        return
    if made and (anew := made_of_count(node, scope)) is not None:
        yield from anew.obstacles
        return
    if isinstance(parent, ast.Call) and (bound := _bounded(node, parent, scope)) is not None:
        yield Obstacle("the count was a Python number, and becomes a tensor", "number-to-tensor")
        if scope.value(bound).dtype != "int":
            yield Obstacle(f"`{snippet(parent)}` is computed in float32 then", "float32-rounding")
        yield from count_uses(parent, scope, raised=raised, made=made)
        return
    if plain_assert(node, scope) is not None and not raised:
        yield Obstacle("with a tensor the assert would stand in the graph, and raise RuntimeError")
    elif isinstance(
        parent, ast.Assert | ast.Compare | ast.Return | ast.BoolOp | ast.If | ast.IfExp | ast.While | ast.UnaryOp
    ):
        yield Obstacle("the count was a Python number, and becomes a tensor", "number-to-tensor")
        truth = isinstance(parent, ast.Compare) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
        if truth and isinstance(parent, ast.expr) and (computed := computed_with(parent, scope)) is not None:
            yield Obstacle(f"`{snippet(computed)}` takes a bool for a number or a key, and a tensor otherwise")
        if truth and isinstance(parent, ast.expr) and (shown := shown_in(parent, scope)) is not None:
            yield Obstacle(f"`{snippet(shown)}` shows a bool, and the text of a tensor is another")
        if truth and isinstance(parent, ast.expr) and (asking := _given_to(parent, scope)) is not None:
            yield Obstacle(f"`{snippet(asking.func)}` is given a truth, and may ask a tensor for it")
    elif (
        isinstance(parent, ast.FormattedValue)
        and parent.conversion == -1
        and any(isinstance(a, ast.Raise) for a in scope.ancestors(node))
    ):
        return  # a tensor without dimensions is shown as the number, but not by `str` and `repr`
    else:
        yield Obstacle(f"the count is needed as a Python number in `{snippet(parent) if parent else ''}`")


def _given_to(truth: ast.expr, scope: Scope) -> ast.Call | None:
    """The function that is given a truth, and may ask for it: `torch._check` refuses tensors, others break there."""
    parent = scope.parents.get(truth)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is truth:
        return None
    name = scope.callee(call) or ""
    if name.startswith(("torch.", "Tensor.")) and not name.startswith("torch._check"):
        return None
    return None if takes_tensor(truth, call, scope) else call


def _bounded(node: ast.expr, call: ast.Call, scope: Scope) -> ast.expr | None:
    """The number in `max(count, 1)` or `min(count, 4)`, which Dynamo computes of a tensor too."""
    others = [argument for argument in call.args if argument is not node]
    if scope.callee(call) not in ("max", "min") or len(call.args) != _PAIR or len(others) != 1 or call.keywords:
        return None
    value = scope.value(others[0])
    return others[0] if value.is_(Kind.STATIC) and value.dtype in ("int", "float") else None


@dataclass(frozen=True)
class MadeOfCount:
    """A tensor made of a count: `torch.tensor(len(rows), dtype=torch.float)`. converted: what makes a tensor that."""

    call: ast.Call
    converted: str
    obstacles: tuple[Obstacle, ...]


def made_of_count(node: ast.expr, scope: Scope) -> MadeOfCount | None:
    """The call that makes a tensor of a count, where the count may be converted as a tensor."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or call.args != [node]:
        return None
    name, options = scope.callee(call) or "", {k.arg: ast.unparse(k.value) for k in call.keywords}
    other = Obstacle("a count that the dtype does not hold raises, and as a tensor it does not", "same-shape-dtype")
    if name == "Tensor.new_tensor" and not options and isinstance(call.func, ast.Attribute):
        base = call.func.value
        found = () if scope.value(base).dtype_id in ("float32", "float64", "int64") else (other,)
        return MadeOfCount(call, f".to({ast.unparse(base)})", found) if isinstance(base, ast.Name) else None
    if name not in ("torch.tensor", "torch.as_tensor") or not set(options) <= {"dtype", "device"}:
        return None
    if any(mark in text for text in options.values() for mark in "{}("):
        return None
    found = () if options.get("dtype", "int64").rpartition(".")[2] in _WIDE else (other,)
    if "device" not in options:
        found = (*found, Obstacle("the tensor was made on the default device", "number-to-tensor"))
    given = ", ".join(f"{name}={text}" for name, text in options.items())
    return MadeOfCount(call, f".to({given})" if given else "", found)


def _beside_number(node: ast.BinOp, count: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether arithmetic of a count with a number gives the same of a tensor of integers: torch divides in float32."""
    other = node.right if node.left is count else node.left
    value = scope.value(other)
    number = value.const.value if value.const is not None else None
    divides = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    fails = divides and (other is node.left or not isinstance(number, int | float) or number == 0)
    whole = value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int" and number is None
    if other is node.right and whole and isinstance(node.op, ast.FloorDiv | ast.Mod):
        reason = f"`{snippet(node)}` may divide by zero, which raises another error for tensors"
        yield Obstacle(reason, "math-errors")
    elif fails or not (divides or isinstance(node.op, ast.Add | ast.Sub | ast.Mult)):
        yield Obstacle(f"`{snippet(node)}` raises for other numbers than a tensor does")
    elif isinstance(node.op, ast.Div) or value.dtype != "int":
        yield Obstacle(f"`{snippet(node)}` is computed in float32 then", "float32-rounding")


def names_of(asked: ast.expr, scope: Scope) -> list[ast.Name]:
    """The reads of the name that a number is given."""
    statement = scope.parents.get(asked)
    target = single_target(statement)
    return scope.names(target.id) if isinstance(target, ast.Name) else []


def plain_assert(node: ast.expr, scope: Scope) -> ast.Assert | None:
    """The assert with a constant message that asks for an expression: Dynamo puts one on a tensor in the graph."""
    statement = scope.statement(node)
    if not isinstance(statement, ast.Assert) or not any(part is node for part in ast.walk(statement.test)):
        return None
    return statement if statement.msg is None or isinstance(statement.msg, ast.Constant) else None


def raised_instead(asked: Mapping[ast.expr, str], scope: Scope) -> list[Edit]:
    """Other code for expressions; an assert on one becomes an `if` that raises, which keeps the exception.

    A tensor that is made of one is one that is converted.
    """
    edits: list[Edit] = []
    written: set[ast.Assert] = set()
    for node, code in asked.items():
        statement = plain_assert(node, scope)
        if (anew := made_of_count(node, scope)) is not None:
            edits.append(scope.edit(anew.call, f"{code or ast.unparse(node)}{anew.converted}"))
        elif statement is None:
            edits += [scope.edit(node, code)] if code else []
        elif statement not in written:
            written.add(statement)
            test = _Replaced(asked).visit(copy.deepcopy(statement.test, dict[int, Any](_kept(asked))))
            opposite = _opposite_of(statement.test, asked, scope)
            if opposite is not None:
                test.ops = [opposite]
            elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test = test.operand
            else:
                test = ast.UnaryOp(ast.Not(), test)
            text = ast.unparse(test).replace("{", "{{").replace("}", "}}")
            parts = {} if statement.msg is None else {"text": statement.msg}
            lines = f"if {text}:\n    raise AssertionError({'{text}' if parts else ''})"
            edits.append(scope.edit(statement, lines, **parts))
    return edits


def _opposite_of(test: ast.expr, asked: Mapping[ast.expr, str], scope: Scope) -> ast.cmpop | None:
    """The operator of the opposite comparison; None where a side may be NaN, which passes neither."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return None
    whole = (side in asked or scope.value(side).dtype == "int" for side in (test.left, *test.comparators))
    opposite = _OPPOSITE.get(type(test.ops[0])) if all(whole) else None
    return None if opposite is None else opposite()


def _kept(asked: Mapping[ast.expr, str]) -> dict[int, ast.expr]:
    """What a copy does not copy, as `deepcopy` takes it."""
    return {id(node): node for node in asked}


@dataclass(frozen=True)
class _Replaced(ast.NodeTransformer):
    """Code in the place of expressions."""

    asked: Mapping[ast.expr, str]

    def visit(self, node: ast.AST) -> Any:
        code = self.asked.get(node) if isinstance(node, ast.expr) else None
        return ast.parse(code, mode="eval").body if code else self.generic_visit(node)
