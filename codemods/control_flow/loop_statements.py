"""What the statements of a loop that a tensor may end do: give names values, or act under a flag."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.control_flow.liveness import QUIET_CONTEXTS, live_after, reads_first
from compilefix.codemods.control_flow.loop_ends import (
    Loop,
    acts_under_flags,
    end_of,
    fixed_first,
    flags_in,
    is_kept,
    reads_in,
    stores_in,
)
from compilefix.codemods.control_flow.while_bounds import unbounded
from compilefix.codemods.host_effects.lasting import is_read_once
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

PLAIN = (Kind.STATIC, Kind.SIZE)


@dataclass(frozen=True)
class Binding:
    """A name that a statement gives a value, and the expression of it; None where it is an item of a result."""

    name: str
    node: ast.expr | None


def names_given(statement: ast.stmt) -> tuple[Binding, ...] | None:
    """The names that a statement gives values; None where it does anything else."""
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return (Binding(statement.target.id, statement.value),) if isinstance(statement.target, ast.Name) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return (Binding(target.id, value),)
    names = [part.id for part in target.elts if isinstance(part, ast.Name)] if isinstance(target, ast.Tuple) else []
    if not isinstance(target, ast.Tuple) or len(names) != len(target.elts) or len(set(names)) != len(names):
        return None
    parts: Sequence[ast.expr | None] = [None] * len(names)
    if isinstance(value, ast.Tuple):
        if len(value.elts) != len(names) or any(isinstance(part, ast.Starred) for part in value.elts):
            return None
        parts = value.elts
    return tuple(Binding(name, part) for name, part in zip(names, parts, strict=True))


def not_plain(loop: Loop, scope: Scope) -> str | None:
    """Why a loop is more than assignments to names and ways out."""
    if isinstance(loop, ast.While):
        obstacles = fixed_first(loop.test, scope)[2]
        reason = unbounded(loop, scope) or next((o.reason for o in obstacles if o.assumption is None), None)
        if reason is not None:
            return reason
    elif is_read_once(loop.iter, scope) and not _is_listed(loop.iter, scope):
        return f"`{snippet(loop.iter)}` can be read only once, and turns after the end would use up more of it"
    elif not _is_listed(loop.iter, scope):
        return f"the number of turns over `{snippet(loop.iter)}` is not known"
    targets = names_in(loop.target) if isinstance(loop, ast.For) else set()
    kept = next((name for name in sorted(targets) if live_after(name, loop, scope)), None)
    if kept is not None:
        return f"`{kept}` is read after the loop, where it says at which turn it ended"
    for statement in loop.body:
        plain = end_of(statement, scope) is not None or acts_under_flags(statement, loop, scope)
        if not plain and not is_masked(statement, loop, scope) and not is_fixed_end(statement, loop, scope):
            return f"the loop does more than assign names: `{snippet(statement)}`"
    return None


def _is_listed(node: ast.expr, scope: Scope) -> bool:
    """Whether Python knows how many turns there are over what an expression gives, and may run them all.

    A loop that goes on uses up more of an iterator, which may have no end.
    """
    if isinstance(node, ast.Call) and scope.callee(node) in ("enumerate", "zip", "reversed"):
        parts = node.args[:1] if scope.callee(node) == "enumerate" else node.args
        return all(_is_listed(part, scope) or scope.value(part).is_tensor for part in parts)
    value = scope.value(node)
    known = value.is_(Kind.CONTAINER) or (value.is_(Kind.OBJECT) and value.ref in _OF_MODULES)
    return known and not is_read_once(node, scope)


_OF_MODULES = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList"})


def flags_of(loop: Loop, scope: Scope) -> dict[str, ast.expr]:
    """The flags under which a loop does more than to assign names, each where it is first asked for."""
    found: dict[str, ast.expr] = {}
    for statement in loop.body:
        end = end_of(statement, scope)
        kept = is_masked(statement, loop, scope) or is_fixed_end(statement, loop, scope)
        said = end.said if end is not None else None if kept else statement
        if isinstance(said, ast.If) and acts_under_flags(said, loop, scope):
            found |= {ast.unparse(part): part for part in flags_in(said) if ast.unparse(part) not in found}
    return found


def is_masked(statement: ast.stmt, loop: Loop, scope: Scope) -> bool:
    """Whether a statement gives names values, on a way that Python values decide too, or in a loop of its own."""
    if isinstance(statement, ast.With):
        return _is_of_turn(statement, loop, scope)
    if isinstance(statement, ast.For):
        bound = names_in(statement.target)
        known = _is_listed(statement.iter, scope) and not statement.orelse
        own = not any(live_after(name, loop, scope) or reads_first(name, loop.body) for name in bound)
        return known and own and all(is_masked(each, loop, scope) for each in statement.body)
    if not isinstance(statement, ast.If):
        return names_given(statement) is not None
    ways = (*statement.body, *statement.orelse)
    return _is_fixed(statement.test, loop, scope) and all(is_masked(each, loop, scope) for each in ways)


def _is_of_turn(statement: ast.With, loop: Loop, scope: Scope) -> bool:
    """Whether a block under `torch.no_grad()` or the like gives values only to names that no other turn reads.

    What a name keeps from a turn before would lose its gradient where it is selected there.
    """
    if any(item.optional_vars is not None for item in statement.items):
        return False
    given = [names_given(each) for each in statement.body]
    names = [binding.name for bindings in given if bindings is not None for binding in bindings]
    quiet = all(scope.callee(item.context_expr) in QUIET_CONTEXTS for item in statement.items)
    own = not any(live_after(name, loop, scope) or carried(name, loop) for name in names)
    return quiet and own and None not in given


def is_fixed_end(statement: ast.stmt, loop: Loop, scope: Scope) -> bool:
    """Whether an `if` ends the loop, or a turn of a `for`, on Python values: it does so after the end as well."""
    if not isinstance(statement, ast.If) or statement.orelse or loop.orelse:
        return False
    counted = {n.id for n in stores_in(loop)} & reads_in(statement.test)
    ways_out = ast.Break | ast.Continue if isinstance(loop, ast.For) else ast.Break
    plain = len(statement.body) == 1 and isinstance(statement.body[0], ways_out)
    return plain and _is_fixed(statement.test, loop, scope) and not any(live_after(n, loop, scope) for n in counted)


def _is_fixed(test: ast.expr, loop: Loop, scope: Scope) -> bool:
    """Whether a condition asks for Python values, or for what no turn changes: it says after the end what it said."""
    parts = list(ast.walk(test))
    plain = not any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await | ast.Subscript) for n in parts)
    if not plain or not all(is_kept(n, scope) for n in parts if isinstance(n, ast.Attribute)):
        return False
    target = names_in(loop.target) if isinstance(loop, ast.For) else set()
    changed = {n.id for n in stores_in(loop)} - target
    names = (n for n in parts if isinstance(n, ast.Name))
    return all(n.id not in changed or scope.value(n).is_(*PLAIN) for n in names) and not is_tensor_test(test, scope)


def takes_turns(loop: Loop, scope: Scope) -> bool:
    """Whether turns may compute with different tensors: with items of what the loop runs over, or that turns pick."""
    changed = {n.id for n in stores_in(loop)}
    rows = isinstance(loop, ast.For) and scope.value(loop.iter).is_tensor
    target = names_in(loop.target) if isinstance(loop, ast.For) and not rows else set[str]()
    for node in (n for statement in loop.body for n in ast.walk(statement)):
        if isinstance(node, ast.Subscript):
            taken = bool(reads_in(node.slice) & changed) and not scope.value(node.value).is_tensor
        else:
            taken = isinstance(node, ast.Name) and node.id in target and isinstance(node.ctx, ast.Load)
        if taken and isinstance(node, ast.expr) and not _has_no_gradient(scope.value(node)):
            return True
    return False


def _has_no_gradient(value: Value) -> bool:
    return value.is_(*PLAIN) or value.dtype in ("int", "bool")


def carried(name: str, loop: Loop) -> bool:
    """Whether a turn may read what an earlier one gave the name."""
    return reads_first(name, loop.body)
