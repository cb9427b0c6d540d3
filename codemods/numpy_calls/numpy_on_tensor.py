"""CF402: NumPy on tensors.

## What it does
Finds NumPy computations on a tensor's values that break the graph or go through the host, and replaces a round trip
`torch.from_numpy(np.f(x.detach().cpu().numpy())).to(device)` by `torch.f(x.detach()).to(device)`.

## Why is this bad
Dynamo traces most of NumPy as tensor operations. Where the result is needed as a Python number (`float(np.mean(a))`)
or decides a branch the graph breaks (GB0033, GB0170), and so it does where it is one truth for all elements
(`np.allclose(a, b)`, also in an `assert`); functions that torch does not know break it as well (GB0294), as
do those that give a truth or a size, whatever they are given (`np.isscalar(x)`, `np.ndim(x)`, GB0208), arrays of Python
objects (GB0055), `dtype`, `flags` and `base` of an array (GB0157) and grids that are made by an index
(`np.mgrid[0:3, 0:3]`, GB0008), and `np.unique`, `np.nonzero` have shapes that depend on values, be it those of an array
or a list (GB0036): Dynamo takes both for tensors. A round trip by `.cpu().numpy()` makes a GPU program wait, compiled
or not. `np.abs(tensor).unsqueeze(0)` works in eager and fails when compiled: there the result is an ndarray.

## Example
```python
weights = torch.from_numpy(np.exp(scores.detach().cpu().numpy())).to(scores.device)
```

## Use instead
```python
weights = torch.exp(scores.detach()).to(scores.device)
```

## Fix safety
For functions of one element, up to the last bit of the dtype. NumPy gives float64 for the square root of integers and
torch gives float32 (`float32-result`). NumPy warns of a logarithm of zero, an overflow and the like (`math-errors`),
and raises for a tensor that requires a gradient (`no-gradient`), for bfloat16 (`same-shape-dtype`) and, in
`from_numpy`, for one number (`enough-dimensions`). `sign` is declined: that of NaN is NaN in NumPy and zero in torch.
Safe where none of that can be. The way back to a device must stand in the same expression, else the result would change
its device. Reads of numbers from an ndarray are declined: the finding says which torch form to write.

Graph breaks: GB0008, GB0033, GB0036, GB0055, GB0157, GB0170, GB0208, GB0294. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.data_dependent_shape import is_compared
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_reads.number_rewrite import is_detached
from compilefix.codemods.numpy_calls.array_values import (
    GIVES_NO_TENSOR,
    KEEPS_INTEGERS,
    POINTWISE,
    QUIET,
    UNSUPPORTED,
    from_tensor,
    numpy_operand,
)
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asked_in
from compilefix.source.tree import elements_of

_DYNAMIC = frozenset({"unique", "nonzero", "flatnonzero", "argwhere"})
_BY_INDEX = frozenset(f"numpy.{name}" for name in ("mgrid", "ogrid", "r_", "c_"))
_TRUTHS = frozenset(
    f"numpy.{name}"
    for name in (
        *("isnan", "isfinite", "isinf", "isclose", "isin", "in1d", "equal", "not_equal", "less", "less_equal"),
        *("greater", "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor"),
    )
)
_READS = frozenset({"int", "float", "bool"})
_WHOLE = frozenset({"numpy.allclose", "numpy.array_equal", "numpy.array_equiv"})
"""They give one truth for all elements, which Dynamo asks for at once: it need not decide anything."""
_NOT_TRACED = frozenset({"base", "dtype", "flags"})
_MAKE_ARRAYS = frozenset(f"numpy.{name}" for name in ("array", "asarray", "empty", "full", "ones", "zeros"))
_WRAPPERS = frozenset({"torch.from_numpy", "torch.as_tensor", "torch.tensor"})


class NumpyOnTensor(Rule):
    """NumPy on tensors."""

    code = "CF402"
    name = "numpy-on-tensor"
    summary = "NumPy computation on a tensor's values"
    gb = ("GB0008", "GB0033", "GB0036", "GB0055", "GB0157", "GB0170", "GB0208", "GB0294")
    assumptions = ("float32-result", "math-errors", "no-gradient", "same-shape-dtype", "enough-dimensions")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of an ndarray made of a tensor, functions that torch does not know, round trips through the host."""
        if not scope.function.module.mentions("numpy"):
            return
        for node in scope.among(ast.Call, ast.Attribute, ast.Subscript, ast.If, ast.While, ast.IfExp):
            if isinstance(node, ast.Call):
                yield from self._call(node, scope)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node, scope)
            elif isinstance(node, ast.Subscript):
                yield from self._by_index(node, scope)
            elif isinstance(node, ast.If | ast.While | ast.IfExp):
                for part in asked_in(node.test):
                    if from_tensor(part, scope) and not (_gives_no_tensor(part, scope) or _is_told_before(part, scope)):
                        message = (
                            f"`{snippet(part)}` is made of a tensor's values and decides a branch: the graph breaks"
                        )
                        yield self.declined(
                            scope,
                            part,
                            message,
                            "compute the condition with torch: the rules for tensor branches apply then",
                            gb=("GB0170",),
                        )

    def _call(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        name = scope.callee(node) or ""
        short = name.rpartition(".")[2]
        if name in _READS and len(node.args) == 1 and _gives_whole(node.args[0], scope):
            return
        if name in _READS and len(node.args) == 1 and from_tensor(node.args[0], scope):
            yield self._read(node, node.args[0], scope)
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in ("item", "tolist")
            and from_tensor(node.func.value, scope)
        ):
            yield self._read(node, node.func.value, scope)
        elif name.startswith("numpy.") and short in UNSUPPORTED and name.count(".") == 1:
            message = f"`{snippet(node.func)}` has no counterpart in torch: the graph breaks"
            reason = "write it with torch operations, or compute it outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0294",))
        elif _gives_no_tensor(node, scope):
            message = f"`{snippet(node.func)}` gives no tensor, which Dynamo does not trace: the graph breaks"
            reason = "ask for it in Python (`isinstance`, `len`, `x.ndim`), or outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0208",))
        elif name in _MAKE_ARRAYS and any(k.arg == "dtype" and _is_object(k.value, scope) for k in node.keywords):
            message = f"`{snippet(node)}` makes an array of Python objects, which Dynamo cannot trace: the graph breaks"
            yield self.declined(scope, node, message, "keep the objects in a list", gb=("GB0055",))
        elif name in _WHOLE and any(numpy_operand(a, scope) for a in node.args):
            message = f"`{snippet(node)}` reads a truth from a tensor's values: the graph breaks"
            reason = "compare with torch (`torch.isclose(a, b).all()`), or check it outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0033",))
        elif _counts_values(node, name) and _holds_values(node.args[0], scope):
            message = f"the shape of `{snippet(node)}` depends on values: the graph breaks"
            yield self.declined(scope, node, message, "keep a mask and use `torch.where(mask, a, b)`", gb=("GB0036",))
        elif name.startswith("numpy.") and any(numpy_operand(a, scope) for a in node.args):
            if short in POINTWISE and len(node.args) == 1 and not node.keywords:
                yield from self._tensor_method(node, short, scope)
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "numpy"
            and _on_cpu(node.func.value, scope) is not None
        ):
            yield from self._round_trip(node, scope)

    def _by_index(self, node: ast.Subscript, scope: Scope) -> Iterator[Finding]:
        if scope.function.module.qualified(node.value) in _BY_INDEX:
            message = (
                f"`{snippet(node.value)}` makes an array by an index, which Dynamo does not trace: the graph breaks"
            )
            reason = "use `np.arange` and `np.meshgrid`, or make it outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0008",))
        elif scope.value(node.value).is_(Kind.NDARRAY) and _selects(node, scope):
            message = f"the shape of `{snippet(node)}` depends on values: the graph breaks"
            reason = "keep the mask and use `np.where(mask, a, b)`, or select outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0036",))

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Iterator[Finding]:
        if node.attr in _NOT_TRACED and isinstance(node.ctx, ast.Load) and scope.value(node.value).is_(Kind.NDARRAY):
            message = f"Dynamo does not trace `{node.attr}` of the array `{snippet(node.value)}`: the graph breaks"
            reason = "name the dtype, or read it outside the compiled code"
            if node.attr != "dtype":
                reason = "read it outside the compiled code"
            yield self.declined(scope, node, message, reason, gb=("GB0157",))

    def _read(self, node: ast.Call, source: ast.expr, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` reads a number from a tensor's values: the graph breaks"
        inner = source if isinstance(source, ast.Call) else None
        name = (scope.callee(inner) or "") if inner is not None else ""
        form = f"`torch.{name.removeprefix('numpy.')}`" if name.startswith("numpy.") else "torch"
        return self.declined(
            scope,
            node,
            message,
            f"compute it with {form} on the detached tensor, and keep the result a tensor",
            gb=("GB0033",),
        )

    def _tensor_method(self, node: ast.Call, short: str, scope: Scope) -> Iterator[Finding]:
        """`np.abs(t).unsqueeze(0)`: a tensor in eager, an ndarray when compiled."""
        argument, parent = node.args[0], scope.parents.get(node)
        value = scope.value(argument)
        if not value.is_tensor or not isinstance(parent, ast.Attribute) or parent.attr not in _tensor_methods():
            return
        message = f"`{snippet(node)}` is a tensor in eager and an ndarray when compiled: `.{parent.attr}` fails there"
        template = Template()
        if not value.certain:
            template.refuse([Obstacle(f"`{snippet(argument)}` is not proved to be a tensor")])
        template.refuse(_taken(argument, argument, scope))
        template.refuse(_dtype_kept(argument, short, scope))
        code = f"{torch_name(scope)}.{short}({template.use(argument)})"
        if template.broken is not None:
            yield self.declined(scope, node, message, template.broken, gb=())
        else:
            fix = Fix(
                (scope.edit(node, code, **template.parts),), imports(scope), template.assumptions, template.reasons
            )
            yield self.fixed(scope, node, message, fix, gb=())

    def _round_trip(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        assert isinstance(node.func, ast.Attribute)
        source = _on_cpu(node.func.value, scope)
        assert source is not None
        chain: list[str] = []
        current: ast.expr = node
        while (
            (outer := scope.parents.get(current)) is not None
            and isinstance(outer, ast.Call)
            and outer.args == [current]
            and not outer.keywords
        ):
            name = scope.callee(outer) or ""
            if not name.startswith("numpy.") or name.removeprefix("numpy.") not in POINTWISE:
                break
            chain.append(name.removeprefix("numpy."))
            current = outer
        wrapper = scope.parents.get(current)
        if not isinstance(wrapper, ast.Call) or scope.callee(wrapper) not in _WRAPPERS or wrapper.args[:1] != [current]:
            return
        message = f"`{snippet(wrapper)}` goes through the host: a GPU program waits there"
        target = _back_on_device(wrapper, scope)
        template = Template()
        if target is None:
            yield self.declined(
                scope,
                wrapper,
                message,
                "the result stays on the CPU: nothing in the expression moves it back to a device",
                effect="sync",
                gb=(),
            )
            return
        if not chain:
            yield self.declined(
                scope,
                wrapper,
                message,
                "nothing is computed on the way: the copy to the host may be wanted for itself",
                effect="sync",
                gb=(),
            )
            return
        template.refuse(_taken(source, node.func.value, scope))
        for short in chain:
            template.refuse(_dtype_kept(source, short, scope))
        if scope.callee(wrapper) == "torch.from_numpy" and not scope.value(source).dimensioned:
            reason = f"`{snippet(source)}` is not proved to have a dimension, without which `from_numpy` raises"
            template.refuse([Obstacle(reason, "enough-dimensions")])
        if not scope.value(source).certain or not scope.value(source).is_tensor:
            template.refuse([Obstacle(f"`{snippet(source)}` is not proved to be a tensor")])
        code = template.use(source, operand=True) + ("" if is_detached(source) else ".detach()")
        for short in chain:
            code = f"{torch_name(scope)}.{short}({code})"
        if template.broken is not None:
            yield self.declined(scope, wrapper, message, template.broken, effect="sync", gb=())
            return
        if wrapper.keywords:
            code += f".to({template.use(target)})"
        fix = Fix(
            (scope.edit(wrapper, code, **template.parts),), imports(scope), template.assumptions, template.reasons
        )
        yield self.fixed(scope, wrapper, message, fix, effect="sync", gb=())


def _selects(node: ast.Subscript, scope: Scope) -> bool:
    """Whether an array is read where a mask says so: `a[a > 0]`, `a[~np.isnan(a)]`. Writing there is traced."""
    parent = scope.parents.get(node)
    in_place = isinstance(parent, ast.AugAssign) and parent.target is node
    if not (isinstance(node.ctx, ast.Load) or in_place):
        return False
    parts = elements_of(node.slice)
    return any(is_compared(part, scope) or _is_truths(part, scope) for part in parts)


def _is_truths(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is what a function of NumPy says of each element, or the opposite of that."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_truths(node.operand, scope)
    if isinstance(node, ast.Name):
        made = scope.only_value(node.id)
        return made is not None and not isinstance(made, ast.Name) and _is_truths(made, scope)
    return isinstance(node, ast.Call) and scope.callee(node) in _TRUTHS


def _gives_whole(node: ast.AST, scope: Scope) -> bool:
    """Whether a call gives one truth for all elements."""
    return isinstance(node, ast.Call) and scope.callee(node) in _WHOLE


def _is_told_before(part: ast.expr, scope: Scope) -> bool:
    """Whether a condition is made of one truth for all elements, for which there is a finding at the call."""
    made = scope.only_value(part.id) if isinstance(part, ast.Name) else part
    return made is not None and any(_gives_whole(node, scope) for node in ast.walk(made))


def _gives_no_tensor(node: ast.expr, scope: Scope) -> bool:
    name = (scope.callee(node) or "") if isinstance(node, ast.Call) else ""
    return name.startswith("numpy.") and name.removeprefix("numpy.") in GIVES_NO_TENSOR


def _counts_values(node: ast.Call, name: str) -> bool:
    """Whether a NumPy function gives as many values as its argument says by its own."""
    short = name.removeprefix("numpy.")
    if not name.startswith("numpy.") or not node.args:
        return False
    return short in _DYNAMIC or (short == "where" and len(node.args) == 1 and not node.keywords)


def _holds_values(node: ast.expr, scope: Scope) -> bool:
    """Whether an argument is a tensor to Dynamo: one made of a tensor, an array, or a list that is written there."""
    listed = isinstance(node, ast.List | ast.ListComp) or (
        isinstance(node, ast.Name) and isinstance(scope.only_value(node.id), ast.List | ast.ListComp)
    )
    return listed or numpy_operand(node, scope) or (scope.value(node).is_(Kind.NDARRAY) and scope.value(node).certain)


def _tensor_methods() -> frozenset[str]:
    from compilefix.analysis.torch_api import TENSOR_ONLY_METHODS

    return TENSOR_ONLY_METHODS


def _on_cpu(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that `x.cpu()` or `x.detach().cpu()` copies to the host; None without a copy."""
    copied = False
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        if node.func.attr == "cpu":
            copied = True
            return node.func.value if scope.value(node.func.value).is_tensor else None
        if node.func.attr not in ("detach", "contiguous"):
            return None
        node = node.func.value
    return node if copied else None


def _taken(source: ast.expr, read: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether NumPy takes a tensor: it raises for one that requires a gradient, and for bfloat16."""
    value = scope.value(source)
    if value.leaves and scope.value(read).leaves:
        yield Obstacle(f"NumPy raises where `{snippet(source)}` requires a gradient", "no-gradient")
    if value.dtype_id not in ("float16", "float32", "float64") and value.dtype not in ("bool", "int"):
        yield Obstacle(f"`{snippet(source)}` is not proved not to be bfloat16, which NumPy has not", "same-shape-dtype")


def _dtype_kept(source: ast.expr, short: str, scope: Scope) -> Iterator[Obstacle]:
    value = scope.value(source)
    if short == "sign" and value.dtype not in ("bool", "int"):
        yield Obstacle("the sign of NaN is NaN in NumPy, and zero in torch")
    if short not in QUIET:
        yield Obstacle(f"NumPy warns where `{short}` has no value or one that is too large", "math-errors")
    if value.dtype == "float" or (value.dtype == "int" and short in KEEPS_INTEGERS):
        return
    yield Obstacle(
        f"`{snippet(source)}` is not proved to be floating: NumPy makes float64 of integers, torch float32",
        "float32-result",
    )


def _back_on_device(wrapper: ast.Call, scope: Scope) -> ast.expr | None:
    """The device to which the expression moves the result: `.to(device)` after the wrapper, or its `device=`."""
    if wrapper.keywords:
        only = wrapper.keywords[0]
        return only.value if len(wrapper.keywords) == 1 and only.arg == "device" else None
    parent = scope.parents.get(wrapper)
    call = scope.parents.get(parent) if isinstance(parent, ast.Attribute) and parent.attr == "to" else None
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        argument = call.args[0]
        text = ast.unparse(argument)
        if text.rpartition(".")[2].strip("_").endswith("device") or scope.value(argument).is_tensor:
            return argument
    return None


def _is_object(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).ref == "object" or (isinstance(node, ast.Constant) and node.value in ("object", "O"))
