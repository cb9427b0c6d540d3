"""`tril_indices` and `triu_indices` of a square whose size was read from a tensor.

Both want a Python number. `repeat_interleave`, which takes a symbol, gives the same rows, and counting the columns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.ragged_sizes import ragged_size
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class _Form:
    """How long the rows are, how many places there are together, and the column of the place `p` in the row `r`."""

    lengths: str
    total: str
    column: str


_FORMS = {
    ("tril_indices", -1): _Form("{n}", "{n} * ({n} - 1) // 2", "{p} - {r} * ({r} - 1) // 2"),
    ("tril_indices", 0): _Form("1, {n} + 1", "{n} * ({n} + 1) // 2", "{p} - {r} * ({r} + 1) // 2"),
    ("triu_indices", 0): _Form("{n}, 0, -1", "{n} * ({n} + 1) // 2", "{p} - {r} * (2 * {n} - {r} - 1) // 2"),
    ("triu_indices", 1): _Form("{n} - 1, -1, -1", "{n} * ({n} - 1) // 2", "{p} - {r} * (2 * {n} - {r} - 3) // 2 + 1"),
}


@dataclass(frozen=True)
class Triangle:
    """A call for the indices of a triangle: the size of the square, the form, and the device where one is given."""

    call: ast.Call
    size: ast.Name
    form: _Form
    device: ast.expr | None


def triangle(call: ast.Call, scope: Scope) -> Triangle | None:
    """The triangle that a call gives the indices of, where its size is a number that was read from a tensor."""
    name = (scope.callee(call) or "").removeprefix("torch.")
    if name not in ("tril_indices", "triu_indices") or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given = dict(zip(("row", "col", "offset"), call.args, strict=False)) | {k.arg or "": k.value for k in call.keywords}
    if not set(given) <= {"row", "col", "offset", "dtype", "device"} or len(call.args) > 3:
        return None
    row, column = given.get("row"), given.get("col")
    if not isinstance(row, ast.Name) or not isinstance(column, ast.Name) or row.id != column.id:
        return None
    value = scope.value(row)
    if not (Kind.NUMBER in value.kinds and value.dtype in ("int", None)) and ragged_size(row, scope) is None:
        return None
    offset = scope.value(given["offset"]).const if "offset" in given else None
    number = 0 if "offset" not in given else offset.value if offset is not None else None
    form = _FORMS.get((name, number)) if isinstance(number, int) else None
    plain = "dtype" not in given or ast.unparse(given["dtype"]).rpartition(".")[2] in ("long", "int64")
    return Triangle(call, row, form, given.get("device")) if form is not None and plain else None


def triangle_edits(found: Triangle, template: Template, scope: Scope) -> list[Edit]:
    """The rows and columns, computed before the statement that asks for them."""
    template.refuse(_moved_up(found, scope))
    torch, n = torch_name(scope), found.size.id
    on = "" if found.device is None else f", device={template.use(found.device)}"
    lengths, rows = free_name("lengths", scope), free_name("rows", scope)
    total = found.form.total.format(n=n)
    lines = (
        f"{lengths} = {torch}.arange({found.form.lengths.format(n=n)}{on})",
        f"{rows} = {torch}.repeat_interleave({torch}.arange({n}{on}), {lengths}, output_size={total})",
    )
    places = f"{torch}.arange({total}{on})"
    column = found.form.column.format(p=places, r=rows, n=n)
    statement = scope.statement(found.call)
    return [
        scope.before(statement, "\n".join(lines), **template.parts),
        scope.edit(found.call, f"{torch}.stack(({rows}, {column}))", **template.parts),
    ]


def _moved_up(found: Triangle, scope: Scope) -> Iterator[Obstacle]:
    """Whether the rows may be computed before the statement."""
    if not isinstance(scope.statement(found.call), ast.Assign | ast.AnnAssign | ast.Return):
        yield Obstacle(f"give `{snippet(found.call)}` a name on a line of its own")
    once = ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.IfExp | ast.BoolOp
    if any(isinstance(node, once) for node in scope.ancestors(found.call)):
        yield Obstacle(f"`{snippet(found.call)}` is not computed once on every way")
    if found.device is not None and not isinstance(found.device, ast.Name | ast.Attribute | ast.Constant):
        yield Obstacle(f"give `{snippet(found.device)}` a name")
