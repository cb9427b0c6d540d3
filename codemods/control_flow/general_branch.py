"""Two branches of which one does what the other does, too, where a mask selects nothing.

    if (norms < eps).any():                     safe = norms.clone()
        safe = norms.clone()                    safe[safe < eps] = eps
        safe[safe < eps] = eps                  out = x / safe
        out = x / safe
    else:
        out = x / norms

Both are read with what names stand for: a copy is what it is made of, and a write at a mask that selects nothing is
none. What is left of both is the same code, which fails on the same inputs, so that nothing is assumed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.arms import Link
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.masks import empty_masks
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_PARTS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.keyword),
)


def general_branch(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    """The statements of the branch that does for both; None where there is none."""
    if len(links) != 2 or links[0].test is None or links[1].test is not None or isinstance(links[0].test, ast.BoolOp):
        return None
    masks = {mask.dump for mask in empty_masks(links[0].test, scope) if mask.empty}
    written = [s for s in links[0].body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Subscript)]
    if not masks or not written:
        return None
    body, other = _Reading(scope, masks), _Reading(scope, frozenset())
    if not body.all(links[0].body) or not other.all(links[1].body):
        return None
    # What one of them computes alone may fail, and is an error less or more.
    if not body.makes(other) or not other.makes(body):
        return None
    results = {name for name in body.given.keys() | other.given.keys() if live_after(name, node, scope)}
    for name in results:
        one, two = body.given.get(name), other.given.get(name)
        # What is only a copy on one side would be another object on the other.
        if one is None or two is None or not isinstance(one, ast.BinOp | ast.Call) or ast.dump(one) != ast.dump(two):
            return None
    if not results or any(_is_written_later(statement, scope) for statement in links[0].body):
        return None
    for statement in written:
        value = scope.value(statement.targets[0].value)  # type: ignore[attr-defined]
        if value.dtype != "float" or not value.certain:
            reason = (
                f"`{snippet(statement)}` raises for a number that the dtype does not hold, be the mask empty or not"
            )
            template.refuse([Obstacle(reason, "branches-total")])
    return "\n".join(template.use(statement) for statement in links[0].body)


def _is_written_later(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a tensor that is copied is written into: the backward pass keeps it on one side, else the copy."""
    copied = statement.value if isinstance(statement, ast.Assign) else None
    while copied is not None and _is_clone(copied):
        assert isinstance(copied, ast.Call)
        assert isinstance(copied.func, ast.Attribute)
        copied = copied.func.value
        if scope.legality.memory.writer(scope.value(copied).storage, (), scope.facts) is not None:
            return True
    return False


class _Reading:
    """What names stand for behind the statements of a branch, written with the names that were there before."""

    def __init__(self, scope: Scope, masks: frozenset[str] | set[str]) -> None:
        self.given: dict[str, ast.expr] = {}
        self._copies: set[str] = set()
        self._scope = scope
        self._masks = masks

    def makes(self, other: _Reading) -> bool:
        """Whether what is computed here is all that the other one computes."""
        made = {ast.dump(part) for value in self.given.values() for part in ast.walk(value)}
        return all(isinstance(v, ast.Name | ast.Attribute) or ast.dump(v) in made for v in other.given.values())

    def all(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether all statements are read: names that get a value, and copies that are written into at a mask."""
        return all(self._read(statement) for statement in statements)

    def _read(self, statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return self._is_no_write(target, statement.value)
        if not isinstance(target, ast.Name) or not self._is_plain(statement.value):
            return False
        # What was computed of a copy has its numbers as they were: it is not written into any more.
        self._copies -= names_in(statement.value)
        value = self._with_names(statement.value)
        kept = value
        while _is_clone(kept):
            assert isinstance(kept.func, ast.Attribute)
            kept = kept.func.value
        self._copies.discard(target.id)
        if kept is not value and isinstance(kept, ast.Name | ast.Attribute):
            self._copies.add(target.id)
        self.given[target.id] = kept
        return True

    def _is_no_write(self, target: ast.Subscript, value: ast.expr) -> bool:
        """Whether `safe[safe < eps] = eps` writes a number into a copy, at a mask that is made of it alone."""
        name, mask = target.value, target.slice
        if not isinstance(name, ast.Name) or name.id not in self._copies or not self._is_number(value):
            return False
        if not isinstance(mask, ast.Compare) or len(mask.ops) != 1 or not self._is_number(mask.comparators[0]):
            return False
        own = isinstance(mask.left, ast.Name) and mask.left.id == name.id
        return own and ast.dump(self._with_names(mask)) in self._masks

    def _is_number(self, node: ast.expr) -> bool:
        value = self._scope.value(node)
        return value.is_(Kind.STATIC, Kind.SIZE) and value.certain and value.dtype in ("int", "float")

    def _is_plain(self, value: ast.expr) -> bool:
        """Whether an expression is arithmetic, or calls functions of torch that draw nothing and write nowhere."""
        for part in ast.walk(value):
            if not isinstance(part, _PARTS):
                return False
            if isinstance(part, ast.Call) and not _is_clone(part):
                name = self._scope.callee(part) or ""
                short = name.rpartition(".")[2]
                api = torch_api.method(short) if name.startswith("Tensor.") else torch_api.function(name)
                if api is None or not api.pointwise or api.random or api.random_training or api.host or api.mutates:
                    return False
        return True

    def _with_names(self, node: ast.expr) -> ast.expr:
        """A copy of an expression in which names stand for what they were given."""
        named: ast.expr = _Named(self.given).visit(copy.deepcopy(node))
        return named


def _is_clone(node: ast.expr) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr == "clone"


class _Named(ast.NodeTransformer):
    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._given[node.id]) if node.id in self._given else node
