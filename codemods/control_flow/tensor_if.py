"""CF101: an `if` statement on a tensor that selects values.

## What it does
Finds `if`/`elif`/`else` on a tensor whose branches only assign local names, and selects the values with `torch.where`.
A condition that is fixed when Dynamo traces (a dtype, a flag) stays an `if` around the selection.

## Why is this bad
Python asks the tensor for its truth, so Dynamo ends the graph there (GB0170). In a loop it gives up on the whole
function. On a GPU every such `if` waits for the device.

## Example
```python
if x.dtype == torch.float16 and torch.isinf(x).any():
    limit = torch.finfo(x.dtype).max - 1000
    x = torch.clamp(x, min=-limit, max=limit)
```

## Use instead
```python
if x.dtype == torch.float16:
    limit = torch.finfo(x.dtype).max - 1000
    x = torch.where(torch.isinf(x).any(), torch.clamp(x, min=-limit, max=limit), x)
```

## Fix safety
Both branches are computed. The fix is safe only where that is proved to change nothing: see CF102 for the conditions,
which are the same. A branch that does more than assign local names is declined, and the reason says what it does.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import (
    Template,
    condition,
    imports,
    is_tensor_test,
    number_conversion,
    numbers,
    order_kept,
    selected,
    split_static,
    where,
)


@dataclass(frozen=True)
class Arm:
    """One arm of an `if` chain: its test (None for `else`) and what it assigns, in order."""

    test: ast.expr | None
    assigns: dict[str, ast.expr]


class TensorIf(Rule):
    """If statement on a tensor."""

    code = "CF101"
    name = "tensor-if"
    summary = "if statement on a tensor that selects values"
    gb = ("GB0170",)
    hints = ("if ",)
    assumptions = (
        "branches-total",
        "condition-one-element",
        "same-shape-dtype",
        "finite-derivative",
        "gradient-zeros",
        "no-aliasing",
        "number-to-tensor",
        "float32-rounding",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements whose test is a tensor; an `elif` belongs to its `if`."""
        for node in scope.nodes:
            if not isinstance(node, ast.If) or _is_elif(node, scope):
                continue
            chain = _chain(node)
            tests = [link.test for link in chain if is_tensor_test(link.test, scope)]
            if tests and not _only_raises(node):
                yield self._judge(node, chain, tests[0], scope)

    def _judge(self, node: ast.If, chain: Sequence[ast.If], first: ast.expr, scope: Scope) -> Finding:
        message = f"`{ast.unparse(first)}` is a tensor: the `if` on it breaks the graph"
        template = Template()
        code = self._rewrite(node, chain, scope, template)
        if code is None or template.broken is not None:
            return self.declined(scope, node, message, template.broken or "the branches do not select values")
        edit = scope.edit(node, code, **template.parts)
        return self.fixed(scope, node, message, Fix((edit,), imports(scope), template.assumptions, template.reasons))

    def _rewrite(self, node: ast.If, chain: Sequence[ast.If], scope: Scope, template: Template) -> str | None:
        arms = _arms(chain, template)
        if arms is None:
            return None
        fixed, tests = split_static(node.test, scope)
        template.refuse(order_kept(node.test, scope))
        if fixed and len(arms) > 1:
            template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that has an `else`")])
            return None
        loose = [arm.test for arm in arms[1:] if arm.test is not None and split_static(arm.test, scope)[0]]
        if loose:
            template.refuse(
                [Obstacle(f"`elif {ast.unparse(loose[0])}` is not a tensor: the order of the tests matters")]
            )
            return None
        order = _targets(arms, template)
        if order is None:
            return None
        results = [name for name in order if _live_after(name, node, scope)]
        temporaries = [name for name in order if name not in results]
        if not results:
            template.refuse([Obstacle("no branch assigns a name that is read later")])
            return None
        if len(results) > 1 and len(arms) > 2:
            template.refuse([Obstacle("several names are selected by more than two branches")])
            return None
        lines: list[str] = []
        codes = [
            condition(tests if i == 0 else [arm.test], scope, template)
            for i, arm in enumerate(arms)
            if arm.test is not None
        ]
        if any(c is None for c in codes):
            return None
        if len(results) > 1:
            name = _free_name("condition", scope)
            lines.append(f"{name} = {codes[0]}")
            codes = [name]
        for name in order:
            if name in temporaries:
                lines.append(_hoisted(name, arms, scope, template))
                continue
            line = self._selected(name, node, arms, [c for c in codes if c is not None], scope, template)
            if line is None:
                return None
            lines.append(line)
        if not fixed:
            return "\n".join(lines)
        head = " and ".join(template.use(part) for part in fixed)
        return f"if {head}:\n" + "\n".join(f"    {line}" for line in lines)

    def _selected(
        self, name: str, node: ast.If, arms: Sequence[Arm], codes: Sequence[str], scope: Scope, template: Template
    ) -> str | None:
        # A fixed conjunct stays around the selection, so what it says of the name holds there.
        before = scope.facts.env_before.get(node.body[0] if split_static(node.test, scope)[0] else node, {}).get(name)
        sides = [arm.assigns.get(name) for arm in arms]
        if arms[-1].test is not None:
            sides.append(None)
        if any(side is None for side in sides) and (before is None or (not before.certain and not before.is_tensor)):
            template.refuse([Obstacle(f"`{name}` may have no value before the `if`")])
            return None
        values = [scope.value(side) if side is not None else before for side in sides]
        known = [v for v in values if v is not None]
        suffix = ""
        constants = numbers(known)
        if constants is not None:
            uses: list[ast.expr] = [use for use in scope.names(name) if not _inside(use, node)]
            suffix, obstacles = number_conversion(uses, constants, scope, node)
            template.refuse(obstacles)
        else:
            last = len(sides) - 1
            for index in range(last):
                template.refuse(selected(sides[index], sides[last], (known[index], known[last]), scope, node, name))
            kept = [
                v
                for side, v in zip(sides, known, strict=True)
                if side is None or isinstance(side, ast.Name | ast.Attribute | ast.Subscript)
            ]
            template.refuse(scope.legality.aliasing([name], kept, node, scope.facts))
        code = self._side(sides[-1], name, template)
        for test, side in zip(reversed(codes), reversed(sides[:-1]), strict=True):
            code = f"{where(scope)}({test}, {self._side(side, name, template)}, {code})"
        return f"{name} = {code}{suffix}"

    def _side(self, side: ast.expr | None, name: str, template: Template) -> str:
        return name if side is None else template.use(side)


def _chain(node: ast.If) -> list[ast.If]:
    chain = [node]
    while (
        len(chain[-1].orelse) == 1
        and isinstance(inner := chain[-1].orelse[0], ast.If)
        and inner.col_offset == node.col_offset
    ):
        chain.append(inner)
    return chain


def _is_elif(node: ast.If, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    return isinstance(parent, ast.If) and parent.orelse == [node] and parent.col_offset == node.col_offset


def _only_raises(node: ast.If) -> bool:
    """Whether the `if` is a validation: that is CF103."""
    return len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse


def _arms(chain: Sequence[ast.If], template: Template) -> list[Arm] | None:
    blocks: list[tuple[ast.expr | None, Sequence[ast.stmt]]] = [(link.test, link.body) for link in chain]
    if chain[-1].orelse:
        blocks.append((None, chain[-1].orelse))
    arms: list[Arm] = []
    for test, body in blocks:
        assigns: dict[str, ast.expr] = {}
        for statement in body:
            if isinstance(statement, ast.Pass):
                continue
            reason = _not_a_selection(statement, assigns)
            if reason is not None:
                template.refuse([Obstacle(reason)])
                return None
            target, value = _assignment(statement)
            assigns[target] = value
        arms.append(Arm(test, assigns))
    return arms


def _not_a_selection(statement: ast.stmt, assigns: dict[str, ast.expr]) -> str | None:
    if isinstance(statement, ast.Return):
        return "a branch returns"
    if isinstance(statement, ast.Raise):
        return "a branch raises"
    if isinstance(statement, ast.Break | ast.Continue):
        return "a branch leaves the loop's turn"
    if isinstance(statement, ast.AugAssign):
        return f"`{_text(statement)}` writes in place"
    if isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name):
        return f"`{statement.target.id}` is assigned twice in a branch" if statement.target.id in assigns else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return f"`{target.id}` is assigned twice in a branch" if target.id in assigns else None
        return f"`{_text(statement)}` assigns to more than a local name"
    return f"a branch does more than assign: `{_text(statement)}`"


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, statement.value
    assert isinstance(statement, ast.AnnAssign)
    assert isinstance(statement.target, ast.Name)
    assert statement.value is not None
    return statement.target.id, statement.value


def _targets(arms: Sequence[Arm], template: Template) -> list[str] | None:
    """All assigned names in an order that fits every arm."""
    order: list[str] = []
    for arm in arms:
        position = 0
        for name in arm.assigns:
            if name in order:
                if order.index(name) < position:
                    template.refuse([Obstacle("the branches assign the same names in another order")])
                    return None
                position = order.index(name) + 1
            else:
                order.insert(position, name)
                position += 1
    return order


def _hoisted(name: str, arms: Sequence[Arm], scope: Scope, template: Template) -> str:
    """A name that only its own branch reads: it is computed always."""
    owners = [arm for arm in arms if name in arm.assigns]
    others = [arm for arm in arms if name not in arm.assigns]
    if len(owners) > 1:
        template.refuse([Obstacle(f"`{name}` is a temporary of several branches")])
    readers = [expr for arm in others for expr in arm.assigns.values()] + [
        arm.test for arm in arms if arm.test is not None
    ]
    if any(isinstance(n, ast.Name) and n.id == name for expr in readers for n in ast.walk(expr)):
        template.refuse([Obstacle(f"another branch reads `{name}`, which one branch overwrites")])
    value = owners[0].assigns[name]
    template.refuse(scope.legality.both_evaluated([value], scope.facts))
    return f"{name} = {template.use(value)}"


def _live_after(name: str, node: ast.If, scope: Scope) -> bool:
    """Whether the name may be read after the statement, in a later turn of a loop or by a nested function."""
    in_loop = any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(node))
    live = set(scope.nodes)
    for use in scope.function.nodes:
        if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load) and not _inside(use, node):
            if use not in live:
                return True  # a nested function reads it whenever it is called
            if in_loop or use.lineno > (node.end_lineno or 0):
                return True
    return False


def _inside(use: ast.expr, node: ast.AST) -> bool:
    start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return start <= use.lineno <= end


def _free_name(wanted: str, scope: Scope) -> str:
    taken = {n.id for n in scope.function.nodes if isinstance(n, ast.Name)} | {a.arg for a in scope.function.parameters}
    name, count = wanted, 2
    while name in taken:
        name, count = f"{wanted}_{count}", count + 1
    return name


def _text(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0]
