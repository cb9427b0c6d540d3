"""Experts whose tokens are picked by a mask over tokens, or by the list of its true places.

for i, expert in enumerate(experts):
    mask = indices == i                             # which of its choices fell on the expert, for each token
    if mask.any():
        token = mask.any(dim=-1).nonzero().flatten()
        out.index_add_(0, token, expert(x[token]) * weights[mask].view(-1, 1))

for i, expert in enumerate(experts):
    hit = (indices == i).any(dim=-1)
    flat = hit.view(-1)
    if flat.any():
        out[hit] += expert(x[flat]) * gates[flat, i].unsqueeze(1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.dynamic_shapes.expert_routing import Routing
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.rule import Scope
from compilefix.source.tree import statements

_FLAT = frozenset({"flatten()", "view(-1)", "reshape(-1)", "squeeze(-1)", "squeeze(1)"})
_LINED_UP = frozenset({"flatten()", "view(-1)", "reshape(-1)", "ravel()"})
_ANY = ("any(dim=-1)", "any(-1)", "any(1)", "any(dim=1)")


def routings_by_mask(loop: ast.For, scope: Scope) -> Iterator[Routing]:
    """The ways in which a loop turn picks tokens by a mask, the last ones first."""
    for statement in reversed(list(statements(loop))):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        name = statement.targets[0]
        if not isinstance(name, ast.Name) or len(scope.names(name.id, stores=True)) != 1:
            continue
        if (choices := _listed(statement.value, scope)) is not None:
            yield Routing(statement, choices, name.id, "", True, choices=choices.id)
        elif (whole := _lined_up(statement.value, scope)) is not None:
            yield Routing(statement, statement.value, name.id, "", True, by_mask=True, whole=whole.id)
        elif _is_hit(statement.value, scope):
            yield Routing(statement, statement.value, name.id, "", True, by_mask=True)


def _listed(node: ast.expr, scope: Scope) -> ast.Name | None:
    """The mask of (token, choice) in `mask.any(dim=-1).nonzero().flatten()` and `torch.where(mask.any(-1))[0]`."""
    text = ast.unparse(node)
    for mask in (n for n in ast.walk(node) if isinstance(n, ast.Name) and is_mask(n, scope)):
        for hit in (f"{mask.id}.{reduced}" for reduced in _ANY):
            forms = {f"{hit}.nonzero().{flat}" for flat in _FLAT} | {f"torch.nonzero({hit}).{flat}" for flat in _FLAT}
            forms |= {f"{hit}.nonzero()[:, 0]", f"torch.where({hit})[0]", f"{hit}.nonzero(as_tuple=True)[0]"}
            forms |= {f"torch.nonzero({hit}, as_tuple=True)[0]"}
            if text in forms and scope.value(mask).rank in (None, 2):
                return mask
    return None


def _lined_up(node: ast.expr, scope: Scope) -> ast.Name | None:
    """The mask in `mask.view(-1)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owner = node.func.value
    if not isinstance(owner, ast.Name) or not is_mask(owner, scope):
        return None
    return owner if ast.unparse(node).removeprefix(f"{owner.id}.") in _LINED_UP else None


def _is_hit(node: ast.expr, scope: Scope) -> bool:
    """Whether a mask is made that has one element for each token: `flat == i`, `(indices == i).any(-1)`."""
    reduced = ast.unparse(node).endswith(tuple(f".{form}" for form in _ANY))
    rank = scope.value(node).rank
    return is_mask(node, scope) and ((isinstance(node, ast.Compare) and rank == 1) or (reduced and rank in (None, 1)))


def adds_nothing(statement: ast.stmt) -> bool:
    """Whether a statement adds zero times something, as is done for experts without tokens: `y[0, 0] += 0 * s`."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
        return False
    value = statement.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return False
    return any(isinstance(s, ast.Constant) and s.value in (0, 0.0) for s in (value.left, value.right))
