"""Questions whether anything was selected: with the capture flags the number is a symbol, and is taken not to be zero.

    if len(rows) == 0:                    if guard_or_false(len(rows) == 0):
        return x.sum() * 0                    return x.sum() * 0
    return rows.std()                     torch._check(len(rows) != 0)
                                          return rows.std()

Of a number that Python knows `guard_or_false` gives the truth, so that the function does what it did; only of a symbol
it says what is in its name. What is asked behind it always holds in Python, and is asked in the graph: a selection
that is empty after all raises there. Where both sides give one name a tensor that is there for none as well, it is
selected instead, and nothing raises:

    if len(rows) > 0:                     loss = torch.where(torch.tensor(len(rows) > 0), rows.mean(), x.sum() * 0)
        loss = rows.mean()
    else:
        loss = x.sum() * 0
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.ragged_sizes import size_of
from compilefix.codemods.dynamic_shapes.unknown_places import unknown_size
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_MODULE = "torch.fx.experimental.symbolic_shapes"
_FEW: dict[tuple[type[ast.cmpop], int], str] = {
    (ast.Eq, 0): "!=",
    (ast.Lt, 1): ">=",
    (ast.LtE, 0): ">",
    (ast.LtE, 1): ">",
    (ast.Lt, 2): ">=",
}
_SOME = frozenset({(ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1), (ast.Gt, 1), (ast.GtE, 2)})
_OF_NONE = frozenset({"mean", "sum", "std", "var", "prod", "abs", "square", "exp", "log", "sqrt", "nanmean", "nansum"})
_BROKEN = frozenset({"isnan", "isinf", "isposinf", "isneginf"})
_LOOSE = ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr


@dataclass
class _Test:
    """A test in which each question for a size is answered beforehand, and what then holds of the sizes."""

    template: Template = field(default_factory=Template)
    held: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TakenPlaces:
    """The edits that answer a test, and the function that they import."""

    edits: tuple[Edit, ...]
    imported: str


_One = Callable[[ast.expr, Scope, _Test], str | None]


def taken_places(node: ast.If, scope: Scope, template: Template) -> TakenPlaces | None:
    """What makes an `if` go the way for selections that are not empty; None where that is not this sort of question."""
    asked = _Test()
    code = _few(node.test, scope, asked)
    if code is not None:
        return _way_on(node, code, asked, scope, template)
    asked = _Test()
    code = _some(node.test, scope, asked)
    return _way_in(node, code, asked, scope, template) if code is not None else None


def selected_value(node: ast.If, test: str, scope: Scope, template: Template) -> str | None:
    """Both sides give one name a tensor, which is selected: `test` is the code of the condition as a tensor.

    What a side computes of nothing, as the mean that is NaN, is not taken, and no gradient reaches an element by it.
    """
    sides = [_only_value(body) for body in (node.body, node.orelse)]
    if any(side is None for side in sides):
        return None
    (name, first), (other, second) = [side for side in sides if side is not None]
    if name != other or not all(
        not scope.value(side).is_(Kind.STATIC, Kind.SIZE, Kind.NONE, Kind.CONTAINER) for side in (first, second)
    ):
        return None
    asked = names_in(node.test)
    tensors = [size_of(n, scope) for n in ast.walk(node.test) if isinstance(n, ast.expr)]
    asked |= {n.id for tensor in tensors if tensor is not None for n in ast.walk(tensor) if isinstance(n, ast.Name)}
    failing = next((f for side in (first, second) if (f := _may_fail(side, asked)) is not None), None)
    if failing is not None:
        template.refuse([Obstacle(f"`{snippet(failing)}` may fail where `{snippet(node.test)}` is another")])
    given = (Given(first), Given(second))
    judge_selection([name], given, (scope.value(first), scope.value(second)), scope.names(name), scope, node, template)
    return f"{name} = {where(scope)}({test}, {template.use(first)}, {template.use(second)})"


def _may_fail(side: ast.expr, asked: Collection[str]) -> ast.expr | None:
    """What may raise of a tensor that has no elements, as the largest of them does."""
    for part in ast.walk(side):
        if names_in(part).isdisjoint(asked):
            continue
        called = part.func if isinstance(part, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else None
        if isinstance(part, ast.Subscript | ast.Starred) or (called is not None and name not in _OF_NONE):
            return part  # type: ignore[return-value]
    return None


def _only_value(body: Sequence[ast.stmt]) -> tuple[str, ast.expr] | None:
    statement = body[0] if len(body) == 1 else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return (target.id, statement.value) if isinstance(target, ast.Name) else None


def _way_on(node: ast.If, code: str, asked: _Test, scope: Scope, template: Template) -> TakenPlaces | None:
    """`if len(rows) == 0: return ...`: what stands behind it runs."""
    block = scope.block(node)
    behind = block[block.index(node) + 1 :]
    if not isinstance(node.body[-1], ast.Return) or node.orelse or not behind:
        return None
    _name(node, "false", scope, template)
    checks = "\n".join(f"{torch_name(scope)}._check({one})" for one in asked.held)
    edits = (
        scope.edit(node.test, code, **asked.template.parts),
        scope.before(behind[0], checks, **asked.template.used_in(checks)),
    )
    return TakenPlaces(edits, f"from {_MODULE} import guard_or_false")


def _way_in(node: ast.If, code: str, asked: _Test, scope: Scope, template: Template) -> TakenPlaces | None:
    """`if len(rows) > 0:`: the block runs, which is there for more than to complain."""
    if not any(isinstance(statement, ast.Assign | ast.AugAssign | ast.Return) for statement in node.body):
        return None
    if not _goes_on(node, scope):
        seldom = "nothing is selected as a rule where a block only complains or leaves"
        template.refuse([Obstacle(f"{seldom}, and compiled code would raise then")])
    _name(node, "true", scope, template)
    checks = "\n".join(f"{torch_name(scope)}._check({one})" for one in asked.held)
    edits = (
        scope.edit(node.test, code, **asked.template.parts),
        scope.before(node.body[0], checks, **asked.template.used_in(checks)),
    )
    return TakenPlaces(edits, f"from {_MODULE} import guard_or_true")


def _goes_on(node: ast.If, scope: Scope) -> bool:
    """Whether a block computes what is used behind it: one that complains, and leaves, is for runs that are seldom."""
    last = node.body[-1]
    if isinstance(last, ast.Raise):
        return False
    if isinstance(last, ast.Return):
        return last.value is not None and not isinstance(last.value, ast.Constant)
    inside = {id(part) for statement in node.body for part in ast.walk(statement)}
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets if isinstance(statement, ast.Assign | ast.AugAssign) else ():
            if not isinstance(target, ast.Name):
                return True
            if any(id(read) not in inside for read in scope.names(target.id, stores=False)):
                return True
    return False


def _name(node: ast.If, answer: str, scope: Scope, template: Template) -> None:
    reason = f"`{snippet(node.test)}` is taken to be {answer}: compiled code raises where it is not"
    template.refuse([Obstacle(reason, "mask-not-empty")])
    broken = _broken_values(node.test, scope, set())
    if broken is not None:
        template.refuse(
            [Obstacle(f"`{snippet(broken)}` selects nothing as a rule, and compiled code would raise then")]
        )
    around = next((a for a in scope.ancestors(node) if isinstance(a, ast.For | ast.While | ast.AsyncFor)), None)
    if around is not None:
        template.refuse([Obstacle("it is asked in a loop, where a turn may well select nothing")])
    if isinstance(scope.parents.get(node), ast.If) and scope.block(node) == [node]:
        template.refuse([Obstacle("it stands in a chain")])


def _broken_values(node: ast.AST, scope: Scope, known: set[str]) -> ast.expr | None:
    """The question for values that are NaN or infinite, if what is counted hangs on one: `~torch.isfinite(x)`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        asked = (scope.callee(node.operand) or "").rpartition(".")[2]
        if asked in _BROKEN:
            return None
        if asked == "isfinite":
            return node
    if isinstance(node, ast.Call) and (scope.callee(node) or "").rpartition(".")[2] in _BROKEN:
        return node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
        known.add(node.id)
        made = (scope.parents.get(store) for store in scope.names(node.id, stores=True))
        values = [one.value for one in made if isinstance(one, ast.Assign)]
        return next((found for v in values if (found := _broken_values(v, scope, known)) is not None), None)
    parts = (_broken_values(part, scope, known) for part in ast.iter_child_nodes(node))
    return next((found for found in parts if found is not None), None)


def _few(test: ast.expr, scope: Scope, asked: _Test) -> str | None:
    """A test that is true where nothing is selected, and false otherwise but for what is fixed."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return _joined(test.values, " or ", _few, scope, asked)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _is_count(test.operand, scope):
        code = asked.template.use(test.operand, operand=True)
        asked.held.append(f"{code} != 0")
        return f"guard_or_false({code} == 0)"
    found = _comparison(test, scope)
    if found is not None and (held := _FEW.get(found)) is not None and isinstance(test, ast.Compare):
        code, number = asked.template.use(test.left, operand=True), asked.template.use(test.comparators[0])
        asked.held.append(f"{code} {held} {number}")
        return f"guard_or_false({asked.template.use(test)})"
    return _all_few(test, scope, asked)


def _all_few(test: ast.expr, scope: Scope, asked: _Test) -> str | None:
    """`all(len(x) <= 1 for x in lists)`, which is false where one of several lists is longer."""
    if not isinstance(test, ast.Call) or scope.callee(test) != "all" or len(test.args) != 1 or test.keywords:
        return None
    made = test.args[0]
    if not isinstance(made, ast.GeneratorExp) or len(made.generators) != 1:
        return None
    turn = made.generators[0]
    found = _comparison(made.elt, scope)
    held = _FEW.get(found) if found is not None else None
    again = isinstance(turn.iter, ast.Name | ast.Attribute) and not turn.ifs and not turn.is_async
    if held is None or not again or not isinstance(made.elt, ast.Compare) or scope.local_name("max"):
        return None
    target, lists = asked.template.use(turn.target), asked.template.use(turn.iter)
    size, number = asked.template.use(made.elt.left), asked.template.use(made.elt.comparators[0])
    asked.held.append(f"max({size} for {target} in {lists}) {held} {number}")
    return f"all(guard_or_false({asked.template.use(made.elt)}) for {target} in {lists})"


def _some(test: ast.expr, scope: Scope, asked: _Test) -> str | None:
    """A test that is true where something is selected, and what is fixed holds."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return _joined(test.values, " and ", _some, scope, asked)
    if _is_count(test, scope):
        code = f"{asked.template.use(test, operand=True)} != 0"
    elif _comparison(test, scope) in _SOME:
        code = asked.template.use(test)
    else:
        return None
    asked.held.append(code)
    return f"guard_or_true({code})"


def _joined(parts: Sequence[ast.expr], word: str, one: _One, scope: Scope, asked: _Test) -> str | None:
    """The parts of `and` and `or`: questions for sizes, and conditions that hold none."""
    codes = []
    for part in parts:
        code = one(part, scope, asked)
        if code is None and any(isinstance(n, ast.expr) and _is_count(n, scope) for n in ast.walk(part)):
            return None
        codes.append(code or asked.template.use(part, operand=isinstance(part, _LOOSE)))
    return word.join(codes) if asked.held else None


def _comparison(test: ast.expr, scope: Scope) -> tuple[type[ast.cmpop], int] | None:
    """The operator and the constant with which a test compares how many values were selected."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.comparators[0], ast.Constant):
        return None
    number = test.comparators[0].value
    if not isinstance(number, int) or isinstance(number, bool) or not _is_count(test.left, scope):
        return None
    return type(test.ops[0]), number


def _is_count(node: ast.expr, scope: Scope) -> bool:
    return unknown_size(node, scope) is not None
