"""CF201: a number read from a tensor.

## What it does
Finds `.item()`, `float()`, `int()` and `bool()` of a tensor, and uses the tensor itself where the number ends in
arithmetic or a comparison with a tensor, as a `clamp` bound, as a value to fill a tensor with (`new_full`, `full_like`,
`masked_fill`, `x[mask] = number`) or to make one of with others (`torch.tensor([n, 1], dtype=x.dtype)`), as a factor
(`p.add_(g, alpha=n)`, `p.lerp_(g, n)`), or is returned, stored, or collected in a list or dictionary that is returned.
Python arithmetic on the way (`+ - * / **`, `min`, `max`, `abs`, `round`, `int`, functions of `math`) becomes arithmetic
on a tensor without dimensions, and `math.isnan(number)` in an `if` a question to the tensor. A slice that ends or
begins at the number and is reduced over that dimension (`x[:, :n].sum(1)`, `x[a:b].mean(0)`, under a name too) becomes
a reduction of all elements in which the others count for nothing, and `x.roll(n, 1)` an index of all places. A number
that is written to a slice (`mask[:, :n] = True`, `x[a:b, c:d] = 0`) is filled in where a mask says. The number is
followed into functions of the project that it is passed to, and to those of its file that it is returned to. Where a
function does nothing but read its argument (`def value(t): return t.item()`), its callers in the file keep the tensor,
if all of them can. A tensor that is made of the numbers of a vector (`torch.tensor([int(n) // 2 for n in lengths])`) is
computed of the vector.

## Why is this bad
The graph ends where the number is read (GB0124), and on a GPU the program waits for the device at every call.

## Example
```python
temperature = max(self.log_temperature.exp().item(), 1.0)
logits = logits / temperature
fill_value = logits.min().item() - 1
padded = logits.new_full(size, fill_value)
```

## Use instead
```python
temperature = self.log_temperature.exp().detach().clamp(min=1.0)
logits = logits / temperature
fill_value = logits.min().detach() - 1
padded = torch.full(size, fill_value, dtype=logits.dtype, device=logits.device)
```

## Fix safety
A number carries no gradient, so the tensor is detached unless its dtype has none. Safe where the tensor is used beside
a floating tensor that has dimensions, so that the result keeps its dtype, or fills one of its own dtype, and where an
integer is compared with a tensor of integers, added to it or multiplied by it, as 64 bits give the same as a Python
integer there; against another number integers are compared in that one's precision (`float32-rounding`). A tensor with
more than one element is refused as before, by `reshape(())`, with another message. Python computes in double
precision, so arithmetic on the way is done on `.double()`, except for one sum, difference or product with a constant
whose result is rounded to the tensor's dtype anyway; beside a float16 or bfloat16 tensor the number is rounded once to
that precision on a GPU. Python's `max(1.0, n)` is 1.0 for NaN, and so is the rewritten one. A division of numbers by
zero, `**` and functions of `math` raise where a tensor becomes inf or NaN, `int()`, `round`, `floor` and `ceil` raise
for NaN, and a fill value that the dtype does not hold raises (`math-errors`); `**` and functions of `math` may differ
in the last bit of double precision. A rounded number stays a float, whose zero may be -0.0. As a factor (`alpha=`,
`value=`, `weight=`) the tensor, or what it scales, is rounded where the number was not (`float32-rounding`). A name may
be a constant on another way (`ratio = 1.0`) where the new code takes both; a step of LAMB over 24 tensors took 2.77 ms
as written and 0.76 ms then (H200, torch 2.11, `verify`, median).
A number that also decides an `if` (`if n > 0: x = x / n`) leaves the tensor to decide it, compared in double where the
constant asks for it: CF101 and CF102 look at that `if` then. A line that prints or logs the number as well reads it for
itself, and is carried to the boundary by its own fix (`log-late`). A sum to which numbers are added (`total +=
t.item()`) is a tensor where all are added before it is read. Numbers that are assigned together (`low, high =
x.min().item(), x.max().item()`) and only decide whether an exception is raised leave it to CF103 to carry that to the
boundary (`exception-late`).
A number that is returned or stored becomes a detached tensor (`number-to-tensor`): who reads it gets a tensor, and
under `mode="reduce-overhead"` must not keep it beyond the next call. The comparison of a number with a number is a
matter for the `if` that it decides; one that is returned (`return mask.sum().item() > 0`) becomes a boolean tensor
where who calls it only asks for the truth. Where a caller leaves it (`loss, _ = f(x)`), nobody reads it. A question
for its type (`assert isinstance(n, int)`) is answered by the dtype, or asks for that; where the type is not known, and
the number is computed with, the read stays. A reduced slice is added in another order (`summation-order`), its maximum
is infinite where it is empty, which raises (`mask-not-empty`), and its bound must not count from the end
(`not-negative`); with fewer dimensions another error is raised (`enough-dimensions`). So must a bound of a slice that
is filled (also `number-to-tensor`, for a number that half precision does not hold: a slice takes infinity for it, and a
mask raises). A slice of fixed length is cut off at the end, and the index raises there (`index-in-range`); it is a copy
(`no-aliasing`), and a length of which nothing is known is taken for a Python integer (`static-shape-values`). The rest
of an integer (`n % size`) is the same for tensors; a divisor of zero raises another error (`math-errors`).
A tensor that is made of a vector's numbers has its dtype, its device and memory of its own, with integers of 64 bits
(`number-to-tensor`); made of no number, without a dtype, it was a floating one (`dimension-not-empty`). What is not
finite (`int(n / step)`) raised an error (`math-errors`), and half precision is not divided by (`int(60 // n)`).
A number that only bounds slices and gives sizes stays a number, as it can stay in the graph with
`capture_scalar_outputs` (`capture-scalars`: CF205 switches it on, or you do): `torch._check` says before each slice
where it begins and ends, without which inductor does not compile it. So RuntimeError is raised where the slice was cut
off at the end (`index-in-range`) or counted from it (`not-negative`). It is not offered where attention, a convolution,
a sort, a running sum or a product outside of layers is computed of the slice. With torch 2.11, the backward pass of a
slice between two such numbers (`x[:, m:n]`) fails to compile on a GPU; 2.13 compiles it.

Graph breaks: GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from compilefix.analysis.values import ARRAYS, NO_TENSOR, Kind
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.control_flow.validation_call import reads_in_checks
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.writer_in_graph import WriterInGraph
from compilefix.codemods.host_reads.captured import CAPTURE, not_captured
from compilefix.codemods.host_reads.checked_bounds import checked_fix
from compilefix.codemods.host_reads.fixed_attribute import made_in_init
from compilefix.codemods.host_reads.number_helpers import fix_in_callers, hands_on, only_reads
from compilefix.codemods.host_reads.number_rewrite import number_fix
from compilefix.codemods.host_reads.numbers_listed_again import listed_again_fix
from compilefix.codemods.host_reads.static_number import reads_static
from compilefix.codemods.number_comparison import read_for_check
from compilefix.codemods.number_reads import CASTS, decides, read_of
from compilefix.codemods.numpy_calls.number_origins import function_of
from compilefix.codemods.rule import Rule, Scope, says_what_to_do
from compilefix.codemods.tensor_tests import reads_of_truths
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

_TENSOR_OR_NONE = frozenset({Kind.TENSOR, Kind.NONE})
_NUMBERS = frozenset({Kind.STATIC, Kind.SIZE, Kind.NUMBER})


_NEEDED = re.compile(
    r"the number is (used as a Python number in `[^`]*`|an index of `[^`]*`, which is not known to be a tensor)$"
)
_FROM_OUTSIDE = "pass the number in from outside the compiled code"
_OWN_OPERATOR = "make the function that calls it an operator of your own (`torch.library.custom_op`)"
_SAYS_WHAT_TO_DO = ("outside", "see the finding", "goes with the ", "keep ", " use ", "operator of your own")
_TENSOR_THERE = f"keep it a tensor there, or {_FROM_OUTSIDE}"


def _advised(finding: Finding) -> Finding:
    """A finding that says what to do where its reason only names the use of the number."""
    if finding.declined is None or says_what_to_do(finding.declined, _SAYS_WHAT_TO_DO):
        return finding
    way = _TENSOR_THERE if _NEEDED.search(finding.declined) else _FROM_OUTSIDE
    return replace(finding, declined=f"{finding.declined}; {way}")


class NumberArithmetic(Rule):
    """Number read from a tensor."""

    code = "CF201"
    name = "number-from-tensor"
    summary = "number read from a tensor with item(), float(), int() or bool()"
    gb = ("GB0124",)
    hints = ("item", "float(", "int(", "bool(")
    assumptions = (
        "condition-one-element",
        "number-to-tensor",
        "float32-rounding",
        "math-errors",
        "branches-total",
        "is-tensor",
        "no-recompute",
        "not-negative",
        "enough-dimensions",
        "summation-order",
        "mask-not-empty",
        "same-shape-dtype",
        "log-late",
        "index-in-range",
        "no-aliasing",
        "exception-late",
        "static-shape-values",
        "capture-scalars",
        "dimension-not-empty",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of one number, wherever it goes; but for the text of an exception, which is made when all is over."""
        raised = [scope.span(node) for node in scope.of(ast.Raise) if not _is_tried(node, scope)]
        for finding in map(_advised, (*self._unproved(scope), *self._proved(scope))):
            if finding.fix is None and any(span.holds(finding.span) for span in raised):
                continue
            yield finding if finding.fix is not None else _with_statement(finding, scope)

    def _proved(self, scope: Scope) -> Iterator[Finding]:
        found = list(reads(scope))
        for node, source in found:
            finding = self.judge(node, source, scope)
            if finding.fix is None and made_in_init(node, scope) is not None:
                continue
            if finding.fix is None:
                checked = checked_fix(node, [other for other, _ in found], scope)
                if checked is not None:
                    yield self.fixed(scope, node, finding.message, checked)
                    continue
            if finding.fix is None and not_captured(node, scope) is None:
                if switched_on(SCALARS, scope):
                    continue
                finding = replace(finding, declined=f"{finding.declined}; {CAPTURE}")
            yield finding

    def _unproved(self, scope: Scope) -> Iterator[Finding]:
        """`x.item()` where the kind of `x` is not known: a tensor, or an array, which breaks the graph as well.

        And both where `x` is a tensor only in some calls (`loss = 0`, to which losses are added), and `float(x)` where
        it may be None: of None there is no number.
        """
        for node in scope.of(ast.Call):
            source = _apparent(node, scope)
            if source is not None and not _is_numpy_number(source, scope):
                message = f"`{snippet(node)}` reads a tensor's value on the host and breaks the graph"
                # No number has `item()`. `float(x)` may be of one, where `x` is seen to be a number on some way.
                value = scope.value(source)
                method = isinstance(node.func, ast.Attribute)
                item = method or (value.is_unknown and not value.kinds & _NUMBERS)
                fix = number_fix(node, source, "item", scope) if item else None
                # A number in some calls, which raises there.
                otherwise = value.sometimes_tensor and not value.is_unknown and value.kinds != ARRAYS
                if not method:
                    message = (
                        f"`{snippet(node)}` breaks the graph where `{snippet(source)}` is a tensor: it reads its value"
                    )
                if isinstance(fix, Fix) and not (method and otherwise):
                    yield self.fixed(scope, node, message, fix)
                    continue
                reason = fix if isinstance(fix, str) else f"`{snippet(source)}` is not proved to be a tensor"
                if method and otherwise and not isinstance(fix, str):
                    reason = f"`{snippet(source)}` is a tensor in some calls only"
                yield self.declined(scope, node, message, reason)

    def judge(self, node: ast.Call, source: ast.expr, scope: Scope) -> Finding:
        """The finding for one read of a tensor's value."""
        message = f"`{snippet(node)}` reads a tensor's value on the host and breaks the graph"
        cast = node.func.id if isinstance(node.func, ast.Name) else "item"
        outcome = listed_again_fix(node, scope) or number_fix(node, source, cast, scope)
        if only_reads(node, source, scope):
            asked = outcome if isinstance(outcome, str) else "whoever calls this function asks for a number"
            outcome = fix_in_callers(cast, scope, others=hands_on(node, source, scope)) or asked
        if isinstance(outcome, str):
            launch = _launch(node, scope)
            if launch is not None:
                outcome = f"`{snippet(launch)}` takes the addresses of tensors: {_OWN_OPERATOR}"
            return self.declined(scope, node, message, outcome)
        return self.fixed(scope, node, message, outcome)


def _launch(node: ast.Call, scope: Scope) -> ast.Call | None:
    """The call of a kernel to which a number goes beside addresses of tensors: `kernel(x.data_ptr(), n.item())`."""
    for around in scope.ancestors(node):
        if isinstance(around, ast.stmt):
            break
        if isinstance(around, ast.Call) and any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "data_ptr"
            for part in walk(around)
        ):
            return around
    return None


def _is_numpy_number(node: ast.expr, scope: Scope) -> bool:
    """Whether NumPy makes the number of sizes or constants, cast or not: `np.ceil(n).astype("int")`, for CF401."""
    while isinstance(node, ast.Call):
        if function_of(node, scope) is not None:
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return False


def _is_tried(node: ast.Raise, scope: Scope) -> bool:
    """Whether the function itself may catch what it raises."""
    return any(isinstance(outer, ast.Try) for outer in scope.ancestors(node))


def _with_statement(finding: Finding, scope: Scope) -> Finding:
    """The finding, with the statement that stores the number when the compiled call returns as its way out."""
    stored = (f for f in scope.found(WriterInGraph()) if f.fix is not None and f.span.holds(finding.span))
    return next(
        (replace(finding, declined=f"goes with the fix of CF304 on line {f.span.line}") for f in stored), finding
    )


def _apparent(node: ast.Call, scope: Scope) -> ast.expr | None:
    """What a call reads that may be a tensor and is not proved to be one."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args and not node.keywords:
        source = node.func.value
        value = scope.value(source)
        unknown = value.is_unknown and value.ref != NO_TENSOR and scope.callee(node) is None
        sometimes = value.sometimes_tensor and not value.is_tensor
        return source if unknown or sometimes or value.kinds == ARRAYS else None
    if isinstance(node.func, ast.Name) and scope.callee(node) in CASTS and len(node.args) == 1:
        source = node.args[0]
        value = scope.value(source)
        known = value.kinds == _TENSOR_OR_NONE and scope.callee(node) != "bool"
        return source if (value.sometimes_tensor or known) and not decides(node, scope) else None
    return None


def reads(scope: Scope) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that read one number, with the tensor, that are for this rule.

    What only decides an `if` belongs to the rule for that `if`, and what Python knows without the tensor to CF203.
    """
    checks = reads_in_checks(scope) | reads_of_truths(scope)
    for node in scope.of(ast.Call):
        source = read_of(node, scope)
        if source is None or node in checks or decides(node, scope) or reads_static(source, scope):
            continue
        if not read_for_check(node, scope):
            yield node, source
