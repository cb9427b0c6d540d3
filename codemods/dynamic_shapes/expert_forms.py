"""The statements and expressions that loops over experts are written with."""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.expert_routing import Routing


def sum_of(statement: ast.stmt, routing: Routing) -> tuple[ast.expr, ast.expr, str] | None:
    """The tensor that a statement adds rows to, the rows, and the name of the index."""
    names = {routing.token, routing.position, routing.whole, *routing.also} - {""}
    if (
        isinstance(statement, ast.Expr)
        and isinstance(call := statement.value, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "index_add_"
        and len(call.args) == 3
        and not call.keywords
        and ast.unparse(call.args[0]) == "0"
        and isinstance(call.args[1], ast.Name)
        and call.args[1].id in names
    ):
        return call.func.value, call.args[2], routing.also.get(call.args[1].id, call.args[1].id)
    if (
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.op, ast.Add)
        and isinstance(statement.target, ast.Subscript)
        and isinstance(statement.target.slice, ast.Name)
        and statement.target.slice.id in names
    ):
        index = statement.target.slice.id
        return statement.target.value, statement.value, routing.also.get(index, index)
    return None


def mask_name(mask: ast.expr, expert: str) -> str | None:
    """The name in `mask[expert]`, with or without `squeeze(0)`."""
    row = row_of(mask, expert)
    if row is not None:
        return row if row.isidentifier() else None
    if isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute) and mask.func.attr == "squeeze":
        mask = mask.func.value
    if isinstance(mask, ast.Subscript) and isinstance(mask.value, ast.Name) and ast.unparse(mask.slice) == expert:
        return mask.value.id
    return None


def tests(source: ast.expr, mask: str) -> bool:
    """Whether the listed places are those where a sum over all but the first dimension of the mask is above zero."""
    text = ast.unparse(source)
    forms = [
        f"{mask}.sum({dim})" for dim in ("dim=(-1, -2)", "(-1, -2)", "dim=(-2, -1)", "(-2, -1)", "dim=(1, 2)", "(1, 2)")
    ]
    tests = [
        t for f in forms for t in (f"torch.greater({f}, 0)", f"({f} > 0)", f"({f} != 0)", f"{f}", f"torch.gt({f}, 0)")
    ]
    return any(
        text in (f"{t}.nonzero()", f"{t}.nonzero(as_tuple=False)", f"torch.nonzero({t})", f"torch.nonzero({t[1:-1]})")
        for t in tests
    )


def number_of(node: ast.expr, name: str) -> bool:
    """Whether an expression makes a number of the expert's index: `e[0]`, `e.item()`, `int(e)`."""
    return ast.unparse(node) in (
        f"{name}[0]",
        f"{name}.item()",
        f"int({name})",
        f"int({name}.item())",
        f"{name}.squeeze()",
        f"{name}.squeeze(0)",
        f"{name}[0].item()",
        f"int({name}[0])",
    )


def row_of(node: ast.AST, name: str) -> str | None:
    """The code of `w` in `w[e.reshape(1)].squeeze(0)`: how CF202 writes a row at a tensor's number."""
    text = ast.unparse(node)
    suffix = f"[{name}.reshape(1)].squeeze(0)"
    return text.removesuffix(suffix) if text.endswith(suffix) and isinstance(node, ast.Call) else None


def asks_whether_empty(test: ast.expr, routing: Routing) -> bool | None:
    """True for `token.numel() == 0`, False for `token.numel() > 0`; None for another test."""
    masks = {routing.choices, routing.whole, routing.token if routing.by_mask else ""} - {""}
    counts = [
        form.format(name)
        for name in (routing.token, routing.position)
        for form in ("{}.numel()", "{}.shape[0]", "{}.size(0)", "len({})", "{}.nelement()")
        if not routing.by_mask
    ]
    counts += [f"{name}.{asked}" for name in masks for asked in ("sum()", "sum().item()")]
    text = ast.unparse(test)
    if text.removeprefix("not ").removesuffix(".item()") in [f"{name}.any()" for name in masks]:
        return text.startswith("not ")
    if any(text in (f"{c} == 0", f"not {c}", f"{c} < 1") for c in counts):
        return True
    return False if any(text in (f"{c} > 0", f"{c} != 0", c) for c in counts) else None


def holds(statement: ast.stmt, routing: Routing) -> bool:
    """Whether the statement that picks the tokens stands in another."""
    return any(node is routing.statement for node in ast.walk(statement))


def inside(node: ast.expr, loop: ast.For) -> bool:
    """Whether an expression stands in the loop."""
    return loop.lineno <= node.lineno <= (loop.end_lineno or 0)
