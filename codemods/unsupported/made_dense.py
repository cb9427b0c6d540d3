"""A sparse tensor that becomes a dense one at once: its values are added into zeros.

torch.sparse_coo_tensor(places, values, size).to_dense()

torch.zeros(size, dtype=values.dtype, device=values.device).index_put(tuple(places), values, accumulate=True)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet

_ATOMS = ast.Name | ast.Constant
_JOINS = frozenset({"torch.stack", "torch.cat", "torch.vstack"})


@dataclass(frozen=True)
class MadeDense:
    """The call that makes a sparse tensor, the statement it stands in, and where it becomes dense.

    whole: the expression that is dense, where that is in the same statement; else `guard` is the `if` that makes it so.
    """

    call: ast.Call
    statement: ast.Assign | ast.Return
    whole: ast.Call | None
    guard: ast.If | None = None
    dense: ast.stmt | None = None


def made_dense(call: ast.Call, scope: Scope) -> MadeDense | None:
    """A sparse tensor of which the next step is `to_dense()`, always or behind a flag."""
    statement = scope.statement(call)
    written = len(call.args) == 3 and not call.keywords and not any(isinstance(a, ast.Starred) for a in call.args)
    if not written or not isinstance(statement, ast.Assign | ast.Return):
        return None
    method = scope.parents.get(call)
    whole = scope.parents.get(method) if isinstance(method, ast.Attribute) and method.attr == "to_dense" else None
    if isinstance(whole, ast.Call):
        plain = not whole.args and not whole.keywords and whole is statement.value
        return MadeDense(call, statement, whole) if plain else None
    block = scope.block(statement)
    behind = block[block.index(statement) + 1 :][:1]
    if statement.value is not call or not behind or not isinstance(statement, ast.Assign):
        return None
    target, guard = statement.targets[0], behind[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or not isinstance(guard, ast.If):
        return None
    flag = guard.test.operand if isinstance(guard.test, ast.UnaryOp) else guard.test
    makes = f"{target.id} = {target.id}.to_dense()"
    if guard.orelse or not isinstance(flag, ast.Name) or ast.unparse(guard.body[0]) != makes:
        return None
    return MadeDense(call, statement, None, guard, guard.body[0]) if scope.value(flag).is_(Kind.STATIC) else None


def dense_edits(found: MadeDense, scope: Scope, template: Template) -> list[Edit]:
    """The dense tensor in the place of the sparse one; what is not proved is noted in `template`."""
    places, values, size = found.call.args
    lines: list[str] = []
    parts = Template()
    used = []
    for part, name in ((places, "places"), (values, "values"), (size, "size")):
        if isinstance(part, _ATOMS):
            used.append(parts.use(part))
            continue
        used.append(free_name(name, scope, lines))
        lines.append(f"{used[-1]} = {parts.use(part)}")
    template.refuse(_obstacles(found.call, scope))
    torch = torch_name(scope)
    zeros = f"{torch}.zeros({used[2]}, dtype={used[1]}.dtype, device={used[1]}.device)"
    dense = f"{zeros}.index_put(tuple({used[0]}), {used[1]}, accumulate=True)"
    target = "{name} = " if isinstance(found.statement, ast.Assign) else "return "
    names: dict[str, ast.AST] = {}
    if isinstance(found.statement, ast.Assign):
        names["name"] = found.statement.targets[0]
    if found.guard is None or found.dense is None:
        return [scope.edit(found.statement, "\n".join([*lines, target + dense]), **parts.parts, **names)]
    sparse = f"{parts.use(found.call.func)}({', '.join(used)})"
    lines += [f"if {parts.use(found.guard.test)}:", f"    {target}{dense}", "else:", f"    {target}{sparse}"]
    edits = [scope.edit(found.statement, "\n".join(lines), **parts.parts, **names)]
    gone = found.guard if len(found.guard.body) == 1 else found.dense
    return [*edits, scope.edit(gone, "")]


def _obstacles(call: ast.Call, scope: Scope) -> list[Obstacle]:
    places, values, _ = call.args
    found = [
        Obstacle(f"`{snippet(places)}` may be negative or too large, and another error is raised", "index-in-range")
    ]
    value = scope.value(values)
    odd = next((one for one in (places, values) if not scope.value(one).is_tensor), None)
    if odd is not None:
        found.append(Obstacle(f"`{snippet(odd)}` is not proved to be a tensor", "same-shape-dtype"))
    if not _are_integers(places, scope):
        reason = f"`{snippet(places)}` is not proved to hold integers: of booleans it would be masks"
        found.append(Obstacle(reason, "same-shape-dtype"))
    if value.dtype != "int":
        found.append(Obstacle("values in the same place may be added in another order", "summation-order"))
    return found


def _are_integers(places: ast.expr, scope: Scope) -> bool:
    """Whether places are proved to be integers that are no mask, as a tensor or as several put together."""
    value = scope.value(places)
    joined = isinstance(places, ast.Call) and scope.callee(places) in _JOINS and bool(places.args)
    parts = value if not joined else scope.value(places.args[0]).element  # type: ignore[attr-defined]
    return parts is not None and parts.dtype == "int" and parts.dtype_id != "uint8"
