"""The code that gives names the values which the branches of an `if` on a tensor give them, without the `if`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import ARRAYS, Kind
from compilefix.codemods.bound_names import unbound_before
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.control_flow.appended import is_appended
from compilefix.codemods.control_flow.arms import (
    Arm,
    Link,
    assignment_order,
    hoisted,
    own_names_read,
    read_arms,
    value_before,
)
from compilefix.codemods.control_flow.branch_acts import act_lines, split_acts
from compilefix.codemods.control_flow.general_branch import general_branch
from compilefix.codemods.control_flow.guarded_block import selected_statement_by_statement, without_guard
from compilefix.codemods.control_flow.guarded_writes import evaluated
from compilefix.codemods.control_flow.item_targets import is_item, judge_item, moves
from compilefix.codemods.control_flow.liveness import inside, live_after
from compilefix.codemods.control_flow.masks import shortcut_of
from compilefix.codemods.control_flow.whole_arms import selected_arms
from compilefix.codemods.double_where import double_where, finite_sides, taken
from compilefix.codemods.names import free_name
from compilefix.codemods.own_if import needs_own_if
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet


def selected_values(links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    """The code in the place of a chain; None, with the obstacle noted, where there is none.

    Raises:
        Refused: what a branch prints or raises cannot be carried out later.
    """
    links = _with_fixed_apart(links, scope)
    first = next(i for i, link in enumerate(links) if link.test is not None and is_tensor_test(link.test, scope))
    node = links[first].node
    assert node is not None
    if first:
        return _behind_fixed(links, first, scope, template)
    acts = split_acts(links, node, scope) if scope.logging == "boundary" else None
    if not acts:
        return _best(node, links, scope, template)
    fixed, _ = split_static(node.test, scope)
    if fixed and len(links) > 1:
        template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` whose branches print or raise")])
        return None
    lines = act_lines(acts, scope, template, inline=acts.alone)
    if lines is None:
        return None
    code = _of_links(node, acts.links, scope, template)
    if code is None:
        return None
    head, behind = lines
    own = code.splitlines()
    if not fixed:
        return "\n".join([*head, *own, *behind])
    template.refuse(order_kept(node.test, scope))
    first_line = own[0] if own else f"if {_joined(fixed, template)}:"
    return "\n".join([first_line, *(f"    {line}" for line in head), *own[1:], *(f"    {line}" for line in behind)])


def _with_fixed_apart(links: Sequence[Link], scope: Scope) -> Sequence[Link]:
    """`if fixed or t: x = layer(x)` as two links: where it is fixed that the layer runs, nothing is selected.

    What a layer gives may have another shape or dtype than what it is given. `if old is None or t: old = x` is two
    links as well, since what else reads `old` counts on the first one.
    """
    test, node, body = links[0].test, links[0].node, links[0].body
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or len(body) > _FEW:
        return links
    count = next((i for i, value in enumerate(test.values) if is_tensor_test(value, scope)), 0)
    if not count or not all(isinstance(s, ast.Assign | ast.AugAssign) for s in body):
        return links
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call)]
    operations = all(_is_operation(scope.callee(call) or "") for call in calls)
    if operations and all(needs_own_if(value, scope) is None for value in test.values[:count]):
        return links
    parts = (test.values[:count], test.values[count:])
    apart = [v[0] if len(v) == 1 else ast.copy_location(ast.BoolOp(test.op, v), test) for v in parts]
    return [*(Link(node, body, part) for part in apart), *links[1:]]


_FEW = 2


def _is_operation(name: str) -> bool:
    """Whether a call is one of torch's functions, and no layer."""
    return name.startswith(("torch.", "Tensor.")) and not (
        name.startswith("torch.nn.") and not name.startswith("torch.nn.functional.")
    )


def _of_links(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    """What is left of a chain when some of what its branches do is done elsewhere."""
    if not any(not isinstance(statement, ast.Pass) for link in links for statement in link.body):
        return ""
    first = next((i for i, k in enumerate(links) if k.test is not None and is_tensor_test(k.test, scope)), None)
    if first is None:
        lines = _fixed_links(links, template)
        return "\n".join(lines)
    return _behind_fixed(links, first, scope, template) if first else _best(node, links, scope, template)


def _fixed_links(links: Sequence[Link], template: Template) -> list[str]:
    """The links of a chain as they are."""
    if links[0].test is None:
        return [template.use(statement) for statement in links[0].body]
    lines: list[str] = []
    for index, link in enumerate(links):
        word = "elif" if index else "if"
        lines.append("else:" if link.test is None else f"{word} {_code_of_fixed(link.test, template)}:")
        lines += [f"    {template.use(statement)}" for statement in link.body] or ["    pass"]
    return lines


def _code_of_fixed(test: ast.expr, template: Template) -> str:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return " or ".join(template.use(value, operand=not isinstance(value, ast.Compare)) for value in test.values)
    return template.use(test)


def _joined(fixed: Sequence[ast.expr], template: Template) -> str:
    return " and ".join(template.use(part) for part in fixed)


def _best(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    """The block without its `if`, else the selected values, else each statement selected."""
    body = links[0].body
    alone = len(links) == 1 and links[0].node is node
    guard: list[Obstacle] = []
    if alone:
        code = without_guard(node, body, scope, template)
        if code is not None and template.broken is None:
            return code
        guard = list(template.obstacles) if code is not None else []
        template.reset()
    code = general_branch(node, links, scope, template) if links[0].node is node else None
    if code is not None:
        return code
    code = _rewrite(node, links, scope, template)
    if code is not None and template.broken is None:
        return code
    refused = list(template.obstacles)
    template.reset()
    if alone and any(_is_structured(s) for s in body):
        code = selected_statement_by_statement(node, body, scope, template)
        if code is not None and template.broken is None:
            return code
        template.reset()
    if any(obstacle.assumption is None for obstacle in guard):
        template.refuse(guard)  # what fails where the mask is empty fails in any order
        return None
    code = _step_by_step(node, links, scope, template)
    if code is None or template.broken is not None:
        template.reset()
        template.refuse(guard or refused)
        return None
    return code


def _step_by_step(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    """All branches under names of their own; None, with the obstacle noted, where that cannot be."""
    head = links[0].test
    assert head is not None
    fixed, tests = split_static(head, scope)
    others = [link.test for link in links[1:] if link.test is not None]
    if (fixed and others) or not all(is_tensor_test(t, scope) and not split_static(t, scope)[0] for t in others):
        template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that has an `elif`")])
        return None
    template.refuse(order_kept(head, scope))
    first = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), head)
    branches = [(first, links[0].body), *((link.test, link.body) for link in links[1:])]
    lines = selected_arms(branches, node, scope, template)
    if lines is None or not fixed:
        return None if lines is None else "\n".join(lines)
    code = f"if {_joined(fixed, template)}:\n" + "\n".join(f"    {line}" for line in lines)
    if len(links) > 1:
        code += "\nelse:\n" + "\n".join(f"    {template.use(s)}" for s in links[1].body)
    return code


def _behind_fixed(links: Sequence[Link], first: int, scope: Scope, template: Template) -> str | None:
    """A chain that begins with fixed conditions: those stay, and the rest becomes its `else`."""
    lines = _fixed_links(links[:first], template)
    template.keep()
    rest = selected_values(links[first:], scope, template)
    if rest is None:
        return None
    if rest.startswith("if "):
        return "\n".join([*lines, f"el{rest}"])
    return "\n".join([*lines, "else:", *(f"    {line}" for line in rest.splitlines())])


def _rewrite(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> str | None:
    arms = read_arms(links, node, scope, template)
    if arms is None:
        return None
    head = arms[0].test
    assert head is not None
    fixed, tests = split_static(head, scope)
    template.refuse(order_kept(head, scope))
    mixed = [a.test for a in arms[1:] if a.test is not None and split_static(a.test, scope)[0]]
    loose = [test for test in mixed if is_tensor_test(test, scope)]
    if loose:
        reason = f"`elif {ast.unparse(loose[0])}` is a tensor only under a fixed condition: the order of tests matters"
        template.refuse([Obstacle(reason)])
        return None
    if fixed and any(arm.test is not None for arm in arms[1:]):
        template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that has an `elif`")])
        return None
    order = assignment_order(arms, template)
    if order is None:
        return None
    results = [name for name in order if "." in name or is_item(name) or live_after(name, node, scope)]
    temporaries = [name for name in order if name not in results]
    if not results:
        template.refuse([Obstacle("no branch assigns a name that is read later")])
        return None
    if fixed and temporaries and len(arms) > 1:
        template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that computes temporaries")])
        return None
    codes = [
        _code_of(tests if i == 0 else [arm.test], scope, template) for i, arm in enumerate(arms) if arm.test is not None
    ]
    for arm in arms[1:]:
        template.refuse(evaluated(arm.test, scope) if arm.test is not None else ())
    lines = _selection(node, arms, codes, order, results, scope, template)
    if lines is None or not fixed:
        return None if lines is None else "\n".join(lines)
    code = f"if {_joined(fixed, template)}:\n" + "\n".join(f"    {line}" for line in lines)
    if len(arms) > 1:
        code += "\nelse:\n" + "\n".join(f"    {template.use(s)}" for s in links[1].body)
    return code


def _code_of(tests: Sequence[ast.expr], scope: Scope, template: Template) -> str | None:
    """A condition as code: a tensor, or what is fixed as it is."""
    if len(tests) == 1 and not is_tensor_test(tests[0], scope):
        return template.use(tests[0])
    return condition(tests, scope, template)


def _selection(
    node: ast.If,
    arms: Sequence[Arm],
    codes: Sequence[str | None],
    order: Sequence[str],
    results: Sequence[str],
    scope: Scope,
    template: Template,
) -> list[str] | None:
    """The lines that select each result; None, with the obstacle noted, where one cannot be."""
    if any(c is None for c in codes):
        return None
    lines = [line for arm in arms for line in arm.branch.unpacked]
    finite = _finite(arms, results, scope)
    shortcuts = _shortcuts(arms, results, scope) if not finite else {}
    if shortcuts:
        template.refuse(evaluated(arms[0].test, scope) if arms[0].test is not None else ())
    elif len(results) > 1 or finite:
        names: list[str] = []
        tests = [arm.test for arm in arms if arm.test is not None]
        for test, code in zip(tests, codes, strict=True):
            plain = isinstance(test, ast.Name) and test.id not in order and not is_tensor_test(test, scope)
            if code is not None and (plain or code in template.named.values()):
                names.append(code)
                continue
            name = free_name("condition", scope, [*names, *template.named.values()])
            lines.append(f"{name} = {code}")
            names.append(name)
        codes = names
    template.refuse(own_names_read(arms))
    together = [name for arm in arms for name in arm.branch.together]
    if together and (len(arms) > 1 or set(together) != set(order) or len(results) != len(order)):
        template.refuse([Obstacle(f"`{', '.join(together)}` are exchanged, and another name or branch is there")])
        return None
    for arm in arms:
        values = {name: scope.value(side.node) for name, side in arm.assigns.items() if name in results}
        template.refuse(scope.legality.memory.together(values, node, scope.facts))
    selections: list[str] = []
    for name in order:
        if name not in results:
            lines.append(hoisted(name, arms, scope, template))
            continue
        selected = _selected(name, node, arms, [c for c in codes if c is not None], finite, scope, template)
        if selected is None:
            return None
        if name in shortcuts:
            selected = template.use(shortcuts[name])
        if together:
            selections.append(selected)
        elif is_item(name):
            target = next(arm.branch.items[name] for arm in arms if name in arm.branch.items)
            lines.append(f"{template.use(target)} = {selected}")
        elif is_appended(name):
            lines.append(f"{template.use(arms[0].branch.appended[name].func)}({selected})")
        else:
            lines.append(f"{name} = {selected}")
    if together:
        lines.append(f"{', '.join(order)} = {', '.join(selections)}")
    return lines


def _shortcuts(arms: Sequence[Arm], results: Sequence[str], scope: Scope) -> dict[str, ast.expr]:
    """What gives each result its value with and without the `if`, which asks a mask only to save work.

    `out = torch.where(mask, y, x) if mask.any() else x`, with one branch for each.
    """
    if len(arms) != 2 or arms[0].test is None or arms[1].test is not None:
        return {}
    found: dict[str, ast.expr] = {}
    for name in results:
        sides = [arm.assigns.get(name) for arm in arms]
        plain = [side.node for side in sides if side is not None and not side.inlined and not side.built]
        kept = shortcut_of(arms[0].test, plain[0], plain[1], scope) if len(plain) == len(sides) else None
        if kept is None or "." in name or is_item(name):
            return {}
        found[name] = kept
    return found


def _finite(arms: Sequence[Arm], results: Sequence[str], scope: Scope) -> frozenset[ast.expr]:
    """The sides that `double_where` writes: of tests on tensors, and what gives a result without steps before it."""
    if not all(arm.test is None or is_tensor_test(arm.test, scope) for arm in arms):
        return frozenset()
    sides = [arm.assigns[name] for arm in arms for name in results if name in arm.assigns and not is_item(name)]
    return finite_sides([side.node for side in sides if not side.inlined], scope)


def _selected(
    name: str,
    node: ast.If,
    arms: Sequence[Arm],
    codes: Sequence[str],
    finite: frozenset[ast.expr],
    scope: Scope,
    template: Template,
) -> str | None:
    # A fixed conjunct stays around the selection, so what it says of the name holds there.
    before = value_before(name, node.body[0] if split_static(node.test, scope)[0] else node, scope)
    if before is not None and _is_present(name, node, arms):
        before = before.without(Kind.NONE)
    sides = [arm.assigns.get(name) for arm in arms]
    if arms[-1].test is not None:
        sides.append(None)
    if is_item(name):
        targets = [arm.branch.items[name] for arm in arms if name in arm.branch.items]
        if any(moves(target, [n for arm in arms for n in arm.assigns]) for target in targets):
            template.refuse([Obstacle(f"`{name}` may be another element on the other side")])
            return None
        mixed = any(arm.test is not None and not is_tensor_test(arm.test, scope) for arm in arms)
        judge_item(targets[0], sides, node, scope, template, mixed=mixed)
        return _nested(sides, arms, codes, template.use(targets[0]), frozenset(), scope, template)
    if any(side is None for side in sides) and is_appended(name):
        template.refuse([Obstacle(f"`{name.removesuffix('.append()')}` gets an item on one side only")])
        return None
    # An attribute that a branch gives a tensor was given one by `__init__`: what is unknown is what it is changed to.
    own = "." in name and before is not None and Kind.TENSOR in before.kinds and Kind.NONE not in before.kinds
    known_before = before is not None and (before.certain or before.kinds <= ARRAYS or own)
    if any(side is None for side in sides) and not known_before:
        missing = "be None" if before is not None and Kind.NONE in before.kinds else "have no value"
        template.refuse([Obstacle(f"`{name}` may {missing} before the `if`")])
        return None
    if any(side is None for side in sides):
        template.refuse(unbound_before(name, node, scope))
    values = [scope.value(side.node) if side is not None else before for side in sides]
    known = [v for v in values if v is not None]
    uses: list[ast.expr] = [use for use in scope.names(name) if not inside(use, node)]
    suffix = judge_selection([name], sides, known, uses, scope, node, template, finite=finite)
    return _nested(sides, arms, codes, name, finite, scope, template) + suffix


def _is_present(name: str, node: ast.If, arms: Sequence[Arm]) -> bool:
    """Whether what stands apart of the test, before the arms, asks whether a name is None: in the arms it is not."""
    test, first = node.test, arms[0].test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or first is None or first is test:
        return False
    left = first.values if isinstance(first, ast.BoolOp) else [first]
    return any(ast.unparse(value) == f"{name} is None" for value in test.values if value not in (first, *left))


def _nested(
    sides: Sequence[Given | None],
    arms: Sequence[Arm],
    codes: Sequence[str],
    before: str,
    finite: frozenset[ast.expr],
    scope: Scope,
    template: Template,
) -> str:
    """The selections put into each other: `before` is the code of what a target keeps that an arm gives no value."""
    given = [
        before
        if side is None
        else double_where(side, taken(codes, index), scope, template)
        if side.node in finite
        else template.code(without_gradient(side, scope, template))
        for index, side in enumerate(sides)
    ]
    tests = [arm.test for arm in arms if arm.test is not None]
    code = given[-1]
    for test, chosen, side in zip(reversed(tests), reversed(codes), reversed(given[:-1]), strict=True):
        if side == code:
            continue
        code = (
            f"{where(scope)}({chosen}, {side}, {code})"
            if is_tensor_test(test, scope)
            else f"({side} if {chosen} else {code})"
        )
    return code


def without_gradient(side: Given, scope: Scope, template: Template) -> Given:
    """`x.new_zeros(2, requires_grad=True)` without its keyword, which breaks the graph: what is selected is no leaf."""
    call = side.node
    if not isinstance(call, ast.Call) or side.inlined or side.built:
        return side
    asks = asks_for_gradient(call, scope)
    if not asks:
        return side
    reason = f"`{snippet(call)}` requires a gradient of its own, and what is selected only where the other side does"
    template.refuse([Obstacle(reason, "no-gradient")])
    made = ast.copy_location(_less(call, asks), call)
    scope.facts.values[made] = scope.value(call)
    return Given(made, built=True)


def _less(call: ast.Call, keywords: Sequence[ast.keyword]) -> ast.Call:
    """A call, or what it is a method of, without keywords."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Call):
        func = ast.Attribute(_less(func.value, keywords), func.attr, func.ctx)
    return ast.Call(func, call.args, [k for k in call.keywords if k not in keywords])


def asks_for_gradient(call: ast.Call, scope: Scope) -> list[ast.keyword]:
    """The keyword with which a call makes a tensor that requires a gradient, also one that is put elsewhere then."""
    made = _chain(call)[-1]
    asks = [k for k in made.keywords if k.arg == "requires_grad" and ast.unparse(k.value) == "True"]
    name = (scope.callee(made) or "").rpartition(".")[2]
    return asks if name.startswith("new_") or name in _FACTORIES else []


def _chain(call: ast.Call) -> list[ast.Call]:
    """A call, and the calls that it puts elsewhere or casts: `torch.zeros(2).to(device)` and `torch.zeros(2)`."""
    chain = [call]
    while isinstance(func := chain[-1].func, ast.Attribute) and func.attr in _PUTS and isinstance(func.value, ast.Call):
        chain.append(func.value)
    return chain


def makes_leaf(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement makes a tensor that requires a gradient, which it does no longer where it is selected."""
    made = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
    if not isinstance(made, ast.Call) or not asks_for_gradient(made, scope):
        return False
    chain = _chain(made)
    return isinstance(statement, ast.Assign) or all(n in chain for n in ast.walk(made) if isinstance(n, ast.Call))


_PUTS = frozenset({"to", "cuda", "cpu", "float", "double", "half", "type", "type_as"})
_FACTORIES = frozenset({"tensor", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like"})


def _is_structured(statement: ast.stmt) -> bool:
    """Whether a statement is more than an assignment to names, and may still be selected by itself."""
    items = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
    return items or isinstance(statement, ast.If | ast.For | ast.Expr | ast.AugAssign)
