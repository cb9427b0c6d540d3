"""CF103: a check of tensor values that raises.

## What it does
Finds `if bad.any(): raise ...`, where the condition is a tensor, and calls of functions that only check, such as
`require(bool((x > 0).all()), "text")` and `torch._check_tensor_all(x > 0)`, and moves the check to the compile
boundary. A number read from a tensor for the check alone (`n = mask.sum().item()`) stays a tensor until then, and so
does how many elements a mask selects where that is compared for a function that only checks, or asks `torch._check` to
(`check(x[mask].numel() == rows.numel(), "")`).

## Why is this bad
Python asks the tensor for its truth, so Dynamo ends the graph at the check (GB0170) though it nearly always passes. On
a GPU the check waits for the device in the middle of the model.

## Example
```python
if (std == 0).any():
    raise ValueError(f"std evaluated to zero after conversion to {dtype}")
```

## Use instead
```python
emit(lambda dtype: ValueError(f"std evaluated to zero after conversion to {dtype}"), dtype, raise_if=(std == 0).any())
```
What stands in front of the tensor and is fixed when Dynamo traces, `x.numel() > 0 and x.max() > size`, becomes an `if`
round it. The flag is computed in the graph; the exception, with the same type and text, is raised when the compiled
call returns. Where a check is about what comes into the program, making it there, outside the compiled code, is better
still.

## Fix safety
The fix needs the assumption `exception-late`: what stands behind the check runs first, on values that it would have
stopped. Where that fails by itself, its error comes first, on a GPU perhaps as an error of the device. So where the
check failed, an index that is the checked tensor, or is made of what that is made of, is zero, and the mask of a
`masked_scatter` behind the check takes no places (not behind a function that checks): without that, an index out of
range ended the CUDA context in place of the ValueError (H200, torch 2.11). A write at such an index
(`cache[:, place] = x`) changes the first place in the failing call. Declined where an index that is
the checked tensor stands where the check may not have run, and where a handler in the function may catch the exception.
Outside a boundary the check is made at once. What the text shows and may not be there where the check holds
(`x[x < 0][0]`) is looked up where the exception is made; a call that cannot be judged is made always
(`branches-total`). The text of a tensor that requires a gradient would not say so (`gradient-text`). A mask whose
elements are counted must be boolean (`boolean-mask`) and fit the tensor, as the index raised (`same-shape-dtype`).
`torch._assert_async` would change the type to RuntimeError.

Graph breaks: GB0124, GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.checked_indices import (
    failing_indices,
    fails_later,
    index_names,
    indices_later,
    mask_names,
)
from compilefix.codemods.control_flow.validation_call import late_call, validation_calls
from compilefix.codemods.dynamic_shapes.checked_counts import checked_count
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.deferral import deferred_raise, where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test, perhaps_bool, tensor_tests, tensor_words
from compilefix.codemods.torch_name import imports, torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import conjuncts

LATE = Obstacle("what stands behind the check runs before the exception is raised", "exception-late")
"""What every exception that is raised at the boundary rests on."""


class TensorValidation(Rule):
    """Validation of tensor values."""

    code = "CF103"
    name = "tensor-validation"
    summary = "check of tensor values that raises"
    gb = ("GB0170", "GB0124")
    hints = (
        "raise",
        "_check_tensor_all",
        "bool(",
        ".item()",
        "float(",
        "int(",
        "any(",
        "all(",
        ".max()",
        ".min()",
        ".numel()",
    )
    assumptions = (
        "exception-late",
        "gradient-text",
        "no-aliasing",
        "branches-total",
        "is-tensor",
        "condition-one-element",
        "enough-dimensions",
        "float32-rounding",
        "math-errors",
        "rng-stream",
        "boolean-mask",
        "same-shape-dtype",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements on a tensor that only raise."""
        for node in scope.of(ast.If):
            if len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse:
                tests = tensor_tests(node.test, scope)
                behind = (link.test for link in _links_before(node, scope))
                # An `elif` behind a tensor is a branch of that `if`, which CF101 looks at.
                if tests and not any(is_tensor_test(test, scope) for test in behind):
                    yield self._judge(node, node.body[0], tests, scope)
        for call, read in validation_calls(scope):
            finding = self._judge_call(call, read, scope)
            # Else CF501 and CF503 say what breaks the graph there.
            if finding.fix is not None or not all(checked_count(test, scope) for test in read):
                yield finding

    def _judge_call(self, call: ast.Call, tests: list[ast.expr], scope: Scope) -> Finding:
        message = f"`{snippet(tests[0])}` reads a tensor's value for a check, which breaks the graph"
        template = Template()
        template.refuse([LATE])
        try:
            code = late_call(call, tests, scope, template)
        except Refused as refusal:
            return self.declined(scope, call, message, str(refusal))
        if code is None or template.broken is not None:
            return self.declined(scope, call, message, template.broken or "the check is no condition on tensors")
        edit = scope.edit(scope.statement(call), code, **template.used_in(code))
        fix = Fix((edit, *template.edits), (), template.assumptions, template.reasons, boundary=True)
        return self.fixed(scope, call, message + where_to_wrap(scope), fix)

    def _judge(self, node: ast.If, statement: ast.Raise, tests: list[ast.expr], scope: Scope) -> Finding:
        message = f"`{ast.unparse(tests[0])}` {tensor_words(tests[0], scope)}: the check breaks the graph"
        template = Template(mixes=True)
        template.refuse([LATE])
        chain = _links_before(node, scope)
        try:
            code = late_check(node.test, node, statement, scope, template)
        except Refused as refusal:
            return self.declined(scope, node, message, str(refusal))
        if code is None or template.broken is not None:
            return self.declined(
                scope, node, message, template.broken or "the condition mixes tensors with what is not known"
            )
        if chain:
            code = _as_else(chain, code, template)
        edit = scope.edit(chain[0] if chain else node, code, **template.parts)
        needed = imports(scope) if ".where(" in code else ()
        fix = Fix((edit, *template.edits), needed, template.assumptions, template.reasons, boundary=True)
        return self.fixed(scope, node, message + where_to_wrap(scope), fix)


def checked_late(scope: Scope) -> list[ast.Call]:
    """The calls that check how many elements a mask selects, and that the fix carries to the boundary."""
    found = [call for call, tests in validation_calls(scope) if any(checked_count(test, scope) for test in tests)]
    fixed = {finding.span for finding in scope.found(TensorValidation()) if finding.fix is not None} if found else set()
    return [call for call in found if scope.span(call) in fixed]


def _links_before(node: ast.If, scope: Scope) -> list[ast.If]:
    """The `if` and `elif`s that an `elif` stands behind."""
    links: list[ast.If] = []
    parent = scope.parents.get(node)
    while isinstance(parent, ast.If) and parent.orelse == [node] and parent.col_offset == node.col_offset:
        links.insert(0, parent)
        node, parent = parent, scope.parents.get(parent)
    return links


def _as_else(chain: Sequence[ast.If], code: str, template: Template) -> str:
    """The links of a chain as they are, and code in the place of the `elif` behind them."""
    lines: list[str] = []
    for index, link in enumerate(chain):
        lines.append(f"{'elif' if index else 'if'} {template.use(link.test)}:")
        lines += [f"    {template.use(statement)}" for statement in link.body]
    return "\n".join([*lines, "else:", *(f"    {line}" for line in code.splitlines())])


@dataclass(frozen=True)
class _Moved:
    """A check on tensors on its way to the boundary: what is asked first, the condition, and what would fail behind it.

    indices, masks: names of tensors of the condition that are an index later, or say which places are filled. later:
    other indices and masks behind the check, each with the operator for the flag. binds: whether the condition gives
    names values (`:=`) that the exception may show.
    """

    guard: str
    code: str
    indices: Sequence[str]
    masks: Sequence[str]
    later: Sequence[tuple[ast.expr, str]]
    binds: bool


def late_check(
    test: ast.expr, node: ast.stmt, statement: ast.Raise | ast.Assert, scope: Scope, template: Template
) -> str | None:
    """The fixed part of a check as it was, and the part on tensors at the boundary.

    `statement` raises where `test` is true, and `node` is what the code replaces.

    Raises:
        Refused: a part of the exception cannot be made later, or the check comes too late there.
    """
    fixed: list[str] = []
    moved: list[_Moved] = []
    for part, negated in _alternatives(test):
        if not is_tensor_test(part, scope):
            if moved:
                template.refuse(scope.legality.both_evaluated([part], scope.facts))
            if scope.value(part).is_(Kind.TENSOR) or (scope.value(part).is_unknown and moved):
                return None
            if isinstance(statement, ast.Assert):
                loose = isinstance(part, ast.BoolOp | ast.IfExp | ast.Lambda)
                fixed.append(
                    template.use(part, operand=loose) if negated else f"not {template.use(part, operand=True)}"
                )
            else:
                fixed.append(("not " if negated else "") + template.use(part, operand=negated))
            continue
        late = _moved(part, negated, node, scope, template)
        if late is None:
            return None
        moved.append(late)
    lines: list[str] = []
    if fixed and isinstance(statement, ast.Assert):
        text = f", {template.use(statement.msg)}" if statement.msg is not None else ""
        lines.append(f"assert {' and '.join(fixed)}{text}")
    elif fixed:
        lines += [f"if {' or '.join(fixed)}:", f"    {template.use(statement)}"]
    return "\n".join([*lines, *_at_the_boundary(moved, node, statement, scope, template)])


def _moved(part: ast.expr, negated: bool, node: ast.stmt, scope: Scope, template: Template) -> _Moved | None:
    """A part of a check on tensors, as it can be made at the boundary; None where it is no condition on tensors.

    Raises:
        Refused: the check comes too late there.
    """
    guard, tests = _guarded(part, negated, scope, template)
    indices, masks = index_names(part, node, scope), mask_names(part, node, scope)
    later = [] if guard else list(fails_later(part, node, [*indices, *masks], scope))
    safe = {one for use, _ in later for one in ast.walk(use)}
    index = next((use for place, use in indices_later(part, node, scope) if not indices and place not in safe), None)
    if index is not None:
        raise Refused(
            f"line {index.lineno} uses the checked tensor as an index, which would fail before the exception is raised"
        )
    # What is negated must be a tensor in every call.
    negated_later = bool(indices or masks or later) and len(tests) == 1 and perhaps_bool(tests[0], scope)
    code = condition(tests, scope, template, operand=negated_later)
    if code is None:
        return None
    binds = any(isinstance(n, ast.NamedExpr) for n in ast.walk(part))
    zero = _all_zero(part) if negated else None
    indices, masks = ([name for name in names if name != zero] for names in (indices, masks))
    return _Moved(guard, code, indices, masks, later, binds)


def _at_the_boundary(
    moved: Sequence[_Moved], node: ast.stmt, statement: ast.Raise | ast.Assert, scope: Scope, template: Template
) -> list[str]:
    """The lines that check at the boundary, and keep from failing what stands behind the check until then."""
    lines: list[str] = []
    flags: list[str] = []
    failing: dict[ast.expr, tuple[str, list[str]]] = {}
    for one in moved:
        own = [*one.indices, *one.masks]
        flag = _flag(node, scope, flags) if own or one.later or one.binds else one.code
        line, obstacles = deferred_raise(statement, flag, scope)
        check = [line]
        if flag != one.code:
            # The index must not fail before the exception is raised, nor the elements be too few.
            flags.append(flag)
            before = scope.facts.env_before.get(node, {})
            # An index that may be a mask stays one.
            zeros = {n: "0" if before[n].dtype else f"{torch_name(scope)}.zeros_like({n})" for n in one.indices}
            check = [f"{flag} = {one.code}", line]
            check += [f"{name} = {where(scope)}({flag}, {zero}, {name})" for name, zero in zeros.items()]
            check += [f"{name} = {name} & ~{flag}" for name in one.masks]
            template.refuse(scope.legality.memory.aliasing(own, [before[n] for n in own], node, scope.facts))
        for use, operator in one.later:
            failing.setdefault(use, (operator, []))[1].append(flag)
        lines += [f"if {one.guard}:", *(f"    {part}" for part in check)] if one.guard else check
        template.refuse(obstacles)
    template.edits += failing_indices(failing, scope)
    return lines


def _all_zero(test: ast.expr) -> str | None:
    """The tensor that has nothing but zeros where a test is false, `mask.any()`: as an index it does not fail."""
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute) or test.args or test.keywords:
        return None
    asked = test.func.value
    return asked.id if test.func.attr == "any" and isinstance(asked, ast.Name) else None


def _flag(node: ast.stmt, scope: Scope, taken: Sequence[str]) -> str:
    """A name for what a check finds: another one than checks before it get, which are rewritten at the same time."""
    tests = [*(one.test for one in scope.of(ast.If)), *(one.test for one in scope.of(ast.Assert))]
    before = [test for test in tests if test.lineno < node.lineno and is_tensor_test(test, scope)]
    earlier = sum(len(list(_alternatives(test))) for test in before)
    number = earlier + len(taken) + 1
    return free_name("invalid" if number == 1 else f"invalid_{number}", scope, taken)


def _guarded(test: ast.expr, negated: bool, scope: Scope, template: Template) -> tuple[str, list[ast.expr]]:
    """The fixed conditions in front of a tensor, `size > 0` in `size > 0 and t.any()`, as code, and the rest."""
    parts = list(_conjuncts(test, negated))
    first = next(i for i, (part, _) in enumerate(parts) if is_tensor_test(part, scope))
    before, rest = parts[:first], parts[first:]
    fixed = [
        one for one in rest if not is_tensor_test(one[0], scope) and scope.value(one[0]).is_(Kind.SIZE, Kind.STATIC)
    ]
    unproved = list(scope.legality.both_evaluated([part for part, _ in rest], scope.facts)) if fixed else []
    if fixed and all(obstacle.assumption is not None for obstacle in unproved):
        # What shapes say is asked first, as neither it nor the tensors can fail.
        template.refuse(unproved)
        before, rest = [*before, *fixed], [one for one in rest if one not in fixed]
    tests = [ast.UnaryOp(ast.Not(), part) if opposite else part for part, opposite in rest]
    if any(Kind.NUMBER in scope.value(part).kinds for part, _ in before):
        return "", [ast.UnaryOp(ast.Not(), test) if negated else test]
    loose = ast.BoolOp | ast.IfExp | ast.Lambda
    guard = (
        f"not {template.use(part, operand=True)}" if opposite else template.use(part, operand=isinstance(part, loose))
        for part, opposite in before
    )
    return " and ".join(guard), tests


def _conjuncts(test: ast.expr, negated: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions that must all hold; the flag says that it is the condition's being false that does."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if negated else ast.And):
        for part in test.values:
            yield from _conjuncts(part, negated)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _conjuncts(test.operand, not negated)
    else:
        yield test, negated


def _alternatives(test: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions any one of which raises; the flag says that it is the condition's being false that does."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for part in test.values:
            yield from _alternatives(part)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        parts = conjuncts(inner)
        for part in parts:
            yield part, True
    else:
        yield test, False
