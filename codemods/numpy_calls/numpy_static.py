"""CF401: NumPy on Python numbers and shapes.

## What it does
Finds `np.sqrt`, `np.ceil`, `np.prod` and the like on shape integers and Python numbers, and computes the same with
`math` and Python's own functions.

## Why is this bad
Dynamo traces NumPy as tensor operations. A result of an integer type that is used as a Python integer
(`int(np.prod(s))`), and one that decides a branch, is then a value read from a tensor: the graph breaks (GB0033,
GB0170, GB0059 in `range`; GB0208 for functions of two integers). So is an item of an array, or what `tolist` gives. The
finding stands where the value is needed. A float that becomes an integer (`int(np.log2(n))`) breaks nothing. A shape
that goes through NumPy loses its symbol, so that the code is compiled again for every new size; the same in `math` is
compiled twice. NumPy on constants that is only used beside tensors costs nothing and is not reported, and neither are
`log`, `log10` and `exp` of a shape, which are compiled for every size with `math` as well.

## Example
```python
rows = int(np.ceil(x.shape[2] / self.stride))
features = x.reshape(x.shape[0], int(np.prod(x.shape[1:])))
```

## Use instead
```python
rows = math.ceil(x.shape[2] / self.stride)
features = x.reshape(x.shape[0], math.prod(x.shape[1:]))
```

## Fix safety
A NumPy number acts as the Python number does beside a tensor: same dtype, same values. `sqrt`, `ceil`, `floor`, `prod`
and the functions on integers give the same bits; `exp`, `log` and the trigonometric functions agree up to the last bit
of double precision, and are declined where an integer or a branch is made of them (`log`, `log1p`, `log2` and `log10`
of an integer were compared for all integers up to 2 million, and are not). NumPy gives NaN or inf where `math` raises:
the argument must be proved to be in the domain, else the fix needs `math-errors`. Where the result leaves the
arithmetic of the function, or an argument is not proved to be a Python number, it needs `static-shape-values`; so
does a product or sum of integers that are no sizes, which NumPy cuts off at 64 bits, and what may be minus zero
(`np.ceil(-n / 2)`). `np.ceil` of NaN or infinity is what it was, and `math.ceil` raises (`math-errors`), unless `int`
raises there anyway. `max` of no sizes raises with another text (`math-errors`). `np.array` of a shape is declined.
What is read of an array that only `__init__` assigns (`int(self.size[1])`) is read there, once (`fixed-attribute`).

The order of a list (`list(np.argsort(order))`, which turns a permutation round) is asked of `sorted`: a list in which a
number stands twice may come in another order, and where it is not written out that there is none it needs
`static-shape-values`.

Graph breaks: GB0033, GB0059, GB0170, GB0208. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Effect, Finding, Fix
from compilefix.codemods.host_reads.fixed_attribute import array_made_in_init, read_once
from compilefix.codemods.numpy_calls.array_numbers import needed_numbers
from compilefix.codemods.numpy_calls.kept_numbers import kept_in, needed_as_numpy
from compilefix.codemods.numpy_calls.number_code import math_name, rewritten
from compilefix.codemods.numpy_calls.number_origins import is_integral, origins_of, outermost, sequence_origin
from compilefix.codemods.numpy_calls.number_uses import Use, follow
from compilefix.codemods.numpy_calls.numpy_functions import FUNCTIONS, Function
from compilefix.codemods.numpy_calls.sorted_places import sorted_fix, sorted_places
from compilefix.codemods.recompiles.sizes import definition_of, is_size
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

_ARRAYS = frozenset({"numpy.array", "numpy.asarray"})


class NumpyStatic(Rule):
    """NumPy on Python numbers and shapes."""

    code = "CF401"
    name = "numpy-static"
    summary = "NumPy on Python numbers and shapes"
    gb = ("GB0033", "GB0059", "GB0170", "GB0208")
    assumptions = ("math-errors", "static-shape-values", "fixed-attribute", "enough-dimensions")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """NumPy calls on what is no tensor, where they break the graph or bind it to one size."""
        found = list(self._calls(scope)) if scope.function.module.mentions("numpy") else []
        yield from found
        yield from self._needed(scope, {finding.span.line for finding in found})

    def _calls(self, scope: Scope) -> Iterator[Finding]:
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if not name.startswith("numpy."):
                continue
            if name in _ARRAYS:
                yield from self._array(node, scope)
            elif name.removeprefix("numpy.") in FUNCTIONS:
                yield from self._judge(node, FUNCTIONS[name.removeprefix("numpy.")], scope)

    def _needed(self, scope: Scope, told: Collection[int]) -> Iterator[Finding]:
        """NumPy numbers that decide a branch or bound a loop, but for those on lines with a finding already."""
        for node, gb in needed_numbers(scope):
            if node.lineno in told:
                continue
            message = _needs(node, gb, scope)
            made = next(kept_in(node, scope), None)
            needed = needed_as_numpy(made, scope) if made is not None else None
            if made is not None and needed is None:
                yield self.fixed(scope, node, message, _kept_as_number(made, scope), gb=(gb,))
                continue
            fixed = array_made_in_init(node, scope)
            if fixed is not None:
                yield self.fixed(scope, node, message, read_once(node, _read(node, scope), fixed, scope), gb=(gb,))
                continue
            places = sorted_places(node, scope)
            if places is not None:
                fix = sorted_fix(places, scope)
                if isinstance(fix, str):
                    yield self.declined(scope, node, message, fix, gb=(gb,))
                else:
                    yield self.fixed(scope, node, message, fix, gb=(gb,))
                continue
            reason = (
                needed or "make it a Python number outside the compiled code, or compute it with Python's own functions"
            )
            yield self.declined(scope, node, message, reason, gb=(gb,))

    def _array(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        if len(node.args) >= 1 and sequence_origin(node.args[0], scope) == "size" and _is_of_shape(node.args[0], scope):
            reason = "an ndarray of shape integers: compute with the integers one by one"
            if _read_as_number(node, scope):
                message = f"`{snippet(node)}` makes an array of a shape, and its numbers are read: the graph breaks"
                yield self.declined(scope, node, message, reason, gb=("GB0033",))
            else:
                message = f"`{snippet(node)}` makes an array of a shape: the code is compiled again for every size"
                yield self.declined(scope, node, message, reason, effect="recompile", gb=())

    def _judge(self, node: ast.Call, function: Function, scope: Scope) -> Iterator[Finding]:
        origins = origins_of(node, function, scope)
        if not origins or not outermost(node, scope):
            return
        use = Use(boolean=function.result == "truth")
        whole = is_integral(node, function, scope)
        follow(node, scope, use, whole)
        breaks = use.truth or use.read or (use.integer and whole)
        if not breaks and ("size" not in origins or not function.symbolic or _is_of_own_shape(node, scope)):
            return
        effect: Effect = "break" if breaks else "recompile"
        gb = (
            ()
            if not breaks
            else ("GB0170",)
            if use.truth
            else ("GB0033",)
            if function.sequence
            else ("GB0208", "GB0033")
        )
        if breaks:
            message = (
                f"`{snippet(node)}` is traced as a tensor, and its value is needed while tracing: the graph breaks"
            )
        else:
            message = f"`{snippet(node)}` binds the graph to one size: the code is compiled again for every other"
        seldom = not breaks and (_is_of_last_dimension(node, scope) or _scales(node, scope))
        place = use.place if breaks and use.place is not None else node
        template = Template()
        template.refuse(use.obstacles)
        target, code = rewritten(node, function, scope, template, use)
        if template.broken is not None:
            yield self.declined(scope, place, message, template.broken, effect=effect, gb=gb, minor=seldom)
            return
        uses_math = f"{math_name(scope)}." in code
        imports = ("math",) if uses_math and scope.local_name("math") is None else ()
        edit = scope.edit(target, code, **template.parts)
        fix = Fix((edit,), imports, template.assumptions, template.reasons)
        yield self.fixed(scope, place, message, fix, effect=effect, gb=gb, minor=seldom)


def _is_of_own_shape(node: ast.expr, scope: Scope) -> bool:
    """Whether all sizes in an expression are those of what the object of the method keeps: `self.weight.shape[1:]`.

    The parameters of a layer have one shape for good, under a name too: `codes = self.codes`.
    """
    owner = next((p.arg for p in scope.function.parameters), None) if scope.function.cls is not None else None
    parts = list(walk(node))
    of_shapes = [part.value for part in parts if isinstance(part, ast.Attribute) and part.attr == "shape"]
    shapes = [definition_of(of, scope) for of in of_shapes]
    own = all(
        isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) and of.value.id == owner for of in shapes
    )
    named = any(isinstance(part, ast.Name) and is_size(part, scope) for part in parts)
    return bool(shapes) and own and not named


def _is_of_last_dimension(node: ast.expr, scope: Scope) -> bool:
    """Whether all sizes in an expression are those of last dimensions, which a layer has the same in each call."""
    parts = list(walk(node))
    if any(isinstance(part, ast.Name) and is_size(part, scope) for part in parts):
        return False
    sizes: list[ast.expr | None] = []
    for part in parts:
        if isinstance(part, ast.Attribute) and part.attr == "shape":
            index = scope.parents.get(part)
            sizes.append(index.slice if isinstance(index, ast.Subscript) else None)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "size":
            sizes.append(part.args[0] if part.args else None)
    return bool(sizes) and all(size is not None and ast.unparse(size) == "-1" for size in sizes)


def _scales(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the root of one size, and a tensor is divided by it: that of its features, as a rule.

    The first size is the number of rows, which is another one in each batch.
    """
    if not isinstance(node, ast.Call) or scope.callee(node) != "numpy.sqrt" or len(node.args) != 1:
        return False
    of, around = node.args[0], scope.parents.get(node)
    by = isinstance(around, ast.BinOp) and around.right is node and isinstance(around.op, ast.Div)
    if not isinstance(around, ast.BinOp) or not by or not is_size(of, scope) or not scope.value(around.left).is_tensor:
        return False
    return not _counts_rows(definition_of(of, scope), scope)


def _counts_rows(size: ast.expr, scope: Scope) -> bool:
    """Whether a size is the first of a tensor, or how many elements there are: `len(x)`, `b` of `b, n = x.shape`."""
    if isinstance(size, ast.Call):
        return scope.callee(size) != "Tensor.size" or [ast.unparse(argument) for argument in size.args] == ["0"]
    if isinstance(size, ast.Name):
        parents = map(scope.parents.get, scope.names(size.id, stores=True))
        return any(isinstance(p, ast.Tuple) and ast.unparse(p.elts[0]) == size.id for p in parents)
    return isinstance(size, ast.Subscript) and ast.unparse(size.slice) == "0"


def _is_of_shape(node: ast.expr, scope: Scope) -> bool:
    """Whether what a comprehension goes over or computes shows a size; a number of a turn is none."""
    if not isinstance(node, ast.ListComp):
        return True
    parts = [part for part in walk(node) if isinstance(part, ast.expr)]
    return any(scope.value(part).ref == "torch.Size" or is_size(part, scope) for part in parts)


def _needs(node: ast.expr, gb: str, scope: Scope) -> str:
    """The message for a NumPy number whose value is needed while tracing."""
    if isinstance(node, ast.Call) and not (scope.callee(node) or "").startswith("numpy."):
        return f"`{snippet(node)}` reads an array, which is traced as a tensor: the graph breaks"
    if scope.value(node).is_(Kind.CONTAINER):
        return f"`{snippet(node)}` holds NumPy numbers, traced as tensors, and torch reads them: the graph breaks"
    if isinstance(scope.parents.get(node), ast.Starred):
        return f"`{snippet(node)}` is a NumPy array, traced as a tensor, and its items are needed: the graph breaks"
    needed = {"GB0059": "bounds a loop", "GB0170": "decides a branch"}.get(gb, "is needed as a Python number")
    sometimes = "" if scope.value(node).is_(Kind.NDARRAY) else " in some calls"
    return f"`{snippet(node)}` is a NumPy number{sometimes}, traced as a tensor, and {needed}: the graph breaks"


def _read(node: ast.expr, scope: Scope) -> str:
    """The code that gives the number, list or truth as Python's own, from where the array is known."""
    code = ast.unparse(node)
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name) or (isinstance(called, ast.Attribute) and called.attr in ("item", "tolist")):
        return code
    if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
        return f"bool({code})"
    whole = isinstance(scope.parents.get(node), ast.Starred)
    return f"{code}.tolist()" if whole else f"({code}).item()" if isinstance(node, ast.BinOp) else f"{code}.item()"


def _kept_as_number(made: ast.Call, scope: Scope) -> Fix:
    """The fix that has `__init__` keep a Python number."""
    kept = snippet(made)
    why = (
        f"`{kept}` becomes a Python number, and may be used elsewhere as a NumPy number",
        f"`{kept}` may be zero, by which Python does not divide and NumPy does",
    )
    edit = scope.edit(made, "{made}.item()", made=made)
    return Fix((edit,), (), ("static-shape-values", "math-errors"), why)


def _read_as_number(node: ast.expr, scope: Scope) -> bool:
    """Whether Python reads numbers from the array, or from what methods and arithmetic make of it."""
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Attribute) and parent.attr in ("tolist", "item"):
            return True
        if isinstance(parent, ast.Call) and scope.callee(parent) in ("int", "tuple", "list"):
            return True
        if not isinstance(parent, ast.Attribute | ast.BinOp | ast.Subscript | ast.Call):
            return False
    return False
