"""Where a number's way ends at a tensor: as an index, a bound, a value that fills, and what has to change there."""

from __future__ import annotations

import ast

from compilefix.analysis import values
from compilefix.analysis.same_type import same_type
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.host_reads.copies import becomes_copy
from compilefix.codemods.host_reads.filled_slices import FilledSlices
from compilefix.codemods.host_reads.number_flow import (
    Flow,
    Renderer,
    has_other_dtype,
    holds_whole_numbers,
    is_tensor_there,
    meets_whole_numbers,
    met,
    same_dtype,
)
from compilefix.codemods.host_reads.number_sinks import Fill, Picked, Rolled, Scaled, is_ellipsis
from compilefix.codemods.host_reads.reduced_slices import ReducedSlice
from compilefix.codemods.host_reads.windows import Window
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path
from compilefix.source.tree import elements_of

_MADE_WITH = frozenset({"dtype", "device", "requires_grad"})
_CLAMPS = frozenset({"clamp", "clip", "clamp_", "clamp_min", "clamp_max"})


def fill(filled: Fill, scope: Scope, flow: Flow) -> None:
    """A value that a tensor is filled with takes that tensor's dtype."""
    value = scope.value(filled.target)
    same = value.dtype_id is not None and value.dtype_id == flow.read.dtype_id
    if not value.is_tensor or not value.certain:
        flow.refuse(f"`{snippet(filled.target)}` is not proved to be a tensor")
    if flow.read.dtype == "complex" or value.dtype == "complex":
        flow.refuse(f"`{snippet(filled.call)}` fills with a complex number")
    if not same:
        flow.beside = flow.beside or (value.dtype is not None and flow.read.dtype is not None)
        flow.refuse(
            f"a number that `{snippet(filled.target)}`'s dtype does not hold may raise, and as a tensor it does not",
            "math-errors",
        )
    elif flow.operations or value.dtype != "float":
        flow.refuse(
            f"`{snippet(filled.call)}` raises for a number that the dtype does not hold, and as a tensor it does not",
            "math-errors",
        )
    if filled.build is not None and isinstance(filled.call, ast.expr):
        build = filled.build
        flow.rewrites.append((filled.call, lambda render: build(render.template.use, render, same)))


def pick(node: ast.expr, picked: Picked, scope: Scope, flow: Flow) -> None:
    """An index becomes an index tensor of one element, and what it picks a copy; a write goes to that place."""
    item = picked.item
    _as_index(node, item, scope, flow)
    if picked.put is not None:
        _put_at(node, picked, scope, flow)
    flow.refuse(
        f"an index out of range raises IndexError in `{snippet(item)}`, and on a GPU the kernel fails",
        "number-to-tensor",
    )
    if picked.listed:
        _pick_listed(item, scope, flow)
    elif scope.value(node).is_tensor and scope.value(node).rank != 0 and not _put_number(picked, scope):
        reason = f"`{snippet(node)}` is not proved to be without dimensions: with one, `{snippet(item)}` keeps that"
        flow.refuse(reason, "enough-dimensions")
    if picked.put is not None:
        return
    torch = torch_name(scope)  # here: the flow keeps what is built, and would keep the scope with it
    parts = elements_of(item.slice)
    first, behind = parts[: picked.dim], parts[picked.dim + 1 :]
    dim = sum(isinstance(part, ast.Slice) for part in first)  # an integer takes its dimension away
    if any(map(is_ellipsis, first)):
        dim = -1 - sum(isinstance(part, ast.Slice) for part in behind)

    def build(render: Renderer) -> str:
        base = render.template.use(item.value, operand=True)
        whole = f"{torch}.stack({render.template.use(item.value)})" if picked.listed else base
        at = f"{render(node)}.reshape(1)"
        codes = [
            at if i == picked.dim else _slice(p, render, scope) if isinstance(p, ast.Slice) else render.template.use(p)
            for i, p in enumerate(parts)
        ]
        return f"{whole}[{', '.join(codes)}].squeeze({dim})"

    if any(isinstance(part, ast.Slice) and ast.unparse(part) != ":" for part in first):
        flow.refuse(f"`{snippet(item)}` slices another dimension first")
    flow.rewrites.append((item, build))


def _pick_listed(item: ast.Subscript, scope: Scope, flow: Flow) -> None:
    items = scope.value(item.value).elements or ()
    for other in items[1:]:
        for obstacle in same_type(items[0], other):
            flow.refuse(obstacle.reason, obstacle.assumption)
    if any(i.leaves for i in items):
        text = f"the items of `{snippet(item.value)}` that are not picked"
        flow.refuse(f"{text} would get a gradient of zeros instead of None", "gradient-zeros")
        flow.refuse(
            f"{text} would pass a gradient of zero back, which their derivative may turn to NaN", "finite-derivative"
        )


def _put_at(node: ast.expr, picked: Picked, scope: Scope, flow: Flow) -> None:
    """Write at an index tensor, and note what that asks of what is written: an item of the whole takes a tensor of
    another dtype, and one that is a part of the whole."""
    item, put = picked.item, picked.put
    assert put is not None
    parts = elements_of(item.slice)

    def build(render: Renderer) -> str:
        at = f"{render(node)}.reshape(1)"
        codes = [
            at if p is node else _slice(p, render, scope) if isinstance(p, ast.Slice) else render.template.use(p)
            for p in parts
        ]
        return f"{render.template.use(item.value, operand=True)}[{', '.join(codes)}]"

    flow.rewrites.append((item, build))
    value, whole = scope.value(put), scope.value(item.value)
    if overlaps(item.value, scope):
        flow.refuse(
            f"elements of `{snippet(item.value)}` may share memory, and are not written at an index tensor then"
        )
    if _put_number(picked, scope):
        return
    if any(isinstance(part, ast.Slice) for part in parts[: picked.dim]):
        flow.refuse(f"`{snippet(put)}` has no dimension for the index tensor behind the others")
    added = isinstance(scope.parents.get(item), ast.AugAssign)
    if may_share(value.storage, whole.storage) and not added:
        reason = f"`{snippet(put)}` may share memory with `{snippet(item.value)}`"
        known = value.is_tensor and not value.storage.isdisjoint(whole.storage)
        flow.refuse(f"{reason}: it is not written at an index tensor then", None if known else "no-aliasing")
    if not added and has_other_dtype(value, whole):
        flow.refuse(f"`{snippet(put)}` has another dtype than `{snippet(item.value)}`, which an index tensor refuses")
    flow.refuse(
        f"`{snippet(put)}` is written at an index tensor, which takes no other dtype, and what does not fit raises "
        "another text",
        "same-shape-dtype",
    )


def _put_number(picked: Picked, scope: Scope) -> bool:
    """Whether a number of Python is written: it fits one place, whatever the dimensions of the index."""
    value = None if picked.put is None else scope.value(picked.put)
    return value is not None and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("bool", "int", "float")


def _slice(part: ast.Slice, render: Renderer, scope: Scope) -> str:
    """The slice, with spaces round its colons where it has some."""
    bounds = [part.lower, part.upper] + ([part.step] if part.step is not None else [])
    colon = " : " if " :" in scope.file.segment(part) else ":"
    return colon.join("" if bound is None else render.template.use(bound) for bound in bounds).strip()


def _as_index(node: ast.expr, item: ast.Subscript, scope: Scope, flow: Flow) -> None:
    """Note that the number is an index, and what stands against what it picks being a copy."""
    flow.picks = True
    value = scope.value(node)
    drawn = value.is_unknown and flow.read.dtype == "int" and flow.whole  # of which Python's own functions say nothing
    if value.dtype is None and not drawn and not flow.operations and isinstance(item.ctx, ast.Load):
        reason = f"`{snippet(node)}` is not proved to be an integer: another raises, and a bool adds a dimension"
        flow.refuse(reason, "index-in-range")
    elif (value.dtype != "int" and not drawn) or (flow.operations and not flow.integral):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    if isinstance(item.ctx, ast.Load):
        for obstacle in becomes_copy(item, scope):
            flow.refuse(obstacle.reason, obstacle.assumption)


def move_window(node: ast.expr, window: Window, scope: Scope, flow: Flow) -> None:
    """A slice of fixed length becomes an index of that many places, and what it picks a copy."""
    flow.picks = True
    if node in ast.walk(window.first):
        if scope.value(node).dtype not in ("int", None) or (flow.operations and not flow.whole):
            flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
        elif scope.value(node).dtype is None:
            flow.refuse(f"`{snippet(node)}` is not proved to be an integer, and another raises", "index-in-range")
    for obstacle in window.obstacles(scope):
        flow.refuse(obstacle.reason, obstacle.assumption)
    if any(changed is window.item for changed, _ in flow.rewrites):
        return  # the other bound
    flow.rewrites.append((window.item, lambda render: window.code(render(window.first), render.template, scope)))


def roll(node: ast.expr, rolled: Rolled, scope: Scope, flow: Flow) -> None:
    """What is rolled becomes an index of all places, each the shift before its own: the same copy."""
    flow.picks = True
    if scope.value(node).dtype != "int" or (flow.operations and not flow.whole):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    _computed_again(rolled.tensor, scope, flow)
    if not scope.value(rolled.tensor).certain:
        flow.refuse(f"`{snippet(rolled.tensor)}` is not proved to be a tensor", "is-tensor")
    rank, dim = scope.value(rolled.tensor).rank, scope.value(rolled.dim).const
    number = dim.value if dim is not None and isinstance(dim.value, int) else None
    if number not in (0, -1) and (rank is None or number is None or not -rank <= number < rank):
        # Of a tensor without elements `roll` does not ask whether the dimension is there.
        reason = f"`{snippet(rolled.tensor)}` may have no such dimension, which `roll` accepts where it has no elements"
        flow.refuse(reason, "enough-dimensions")

    def build(render: Renderer) -> str:
        base, dim = render.template.use(rolled.tensor), render.template.use(rolled.dim)
        # Of a tensor with elements a dimension that is not there raises the same in `size` as in `roll`.
        places = f"{torch_name(scope)}.arange({base}.size({dim}), device={base}.device)"
        negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        shift = f"+ {render(node.operand)}" if negated else f"- {render(node)}"  # type: ignore[attr-defined]
        return f"{base}.index_select({dim}, ({places} {shift}) % {base}.size({dim}))"

    flow.rewrites.append((rolled.call, build))


def _computed_again(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Note what stands against reading a tensor several times: an attribute may be a property that draws."""
    for obstacle in scope.legality.computed_again(node, scope.facts):
        flow.refuse(obstacle.reason, obstacle.assumption)


def _as_bound(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Note what a number must be that bounds a slice."""
    unknown = scope.value(node).dtype is None and not flow.operations
    if unknown:
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer, and another number raises", "number-to-tensor")
    elif scope.value(node).dtype != "int" or (flow.operations and not flow.whole):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    elif flow.read.dtype not in ("int", "bool"):
        flow.refuse(f"`{snippet(node)}` of NaN or infinity raises, and as a tensor it does not", "math-errors")


def reduce(node: ast.expr, found: ReducedSlice, scope: Scope, flow: Flow) -> None:
    """The bound of a slice becomes one of the positions that take part in its reduction."""
    flow.picks = True
    _as_bound(node, scope, flow)
    for obstacle in found.obstacles(scope):
        flow.refuse(obstacle.reason, obstacle.assumption)
    for bound in (node, *([found.other] if found.other is not None else ())):
        if not Sizes(scope).never_negative(bound):
            flow.refuse(
                f"`{snippet(bound)}` is not proved to be at least zero, and else counts from the end", "not-negative"
            )
    flow.rewrites.append((found.call, lambda render: found.code(render(node), render.template, scope)))
    if found.named:
        # A view too, as the slice is one: what gives the tensor another shape or memory leaves it as it is.
        flow.rewrites.append((found.part, lambda render: f"{render.template.use(found.part.value)}[:]"))


def fill_slices(node: ast.expr, found: FilledSlices, scope: Scope, flow: Flow) -> None:
    """The bound of slices that are filled with a number becomes one of the places that a mask holds."""
    flow.picks = True
    _as_bound(node, scope, flow)
    for obstacle in found.obstacles(scope):
        flow.refuse(obstacle.reason, obstacle.assumption)
    flow.bounds.append(node)
    if any(changed is found.statement for changed, _ in flow.rewrites):
        return  # another of the bounds
    bounds, elsewhere = flow.bounds, flow.elsewhere  # a function that held the flow, which holds it, would keep both

    def build(render: Renderer) -> str:
        return found.code(render, scope, bounds, elsewhere=elsewhere)

    flow.rewrites.append((found.statement, build))


def put_into(node: ast.expr, made: ast.Call, scope: Scope, flow: Flow) -> None:
    """Note what `torch.tensor([n], dtype=...)` asks of the number: a floating tensor goes into no dtype of integers."""
    flow.beside = True
    flow.refuse(
        f"`{snippet(made)}` raises for a number that the dtype does not hold, and for a tensor it does not",
        "math-errors",
    )
    if scope.callee(made) == "torch.as_tensor":
        # Dynamo fails on one of a list that holds a tensor, and takes `torch.tensor` of it.
        flow.rewrites.append((made.func, lambda _: f"{torch_name(scope)}.tensor"))
    _fit_dtype(node, made, scope, flow)
    if scope.callee(made) == "Tensor.new_tensor" and isinstance(made.func, ast.Attribute):
        _made_by_function(made, made.func.value, scope, flow)


def _fit_dtype(node: ast.expr, made: ast.Call, scope: Scope, flow: Flow) -> None:
    goal, number = scope.value(made).dtype, scope.value(node).dtype
    told = next((k.value for k in made.keywords if k.arg == "dtype"), made.func)
    if goal is None and isinstance(told, ast.Attribute):
        goal = scope.value(told.value).dtype  # of x: dtype=x.dtype, and x.new_tensor([n])
    if goal in ("float", "complex"):
        return
    if goal == "int" or number in ("int", "bool"):

        def whole(render: Renderer) -> str:
            plain = flow.read.dtype in ("int", "bool") and not flow.operations
            return render(node) if plain else render(node).removesuffix(".long()") + ".long()"

        flow.rewrites.append((node, whole))
    elif goal == "bool":
        flow.refuse(f"`{snippet(made)}` takes no floating tensor for a bool")
    else:
        flow.refuse(f"`{snippet(made)}` takes no floating tensor where its dtype is not floating", "number-to-tensor")


def _made_by_function(made: ast.Call, like: ast.expr, scope: Scope, flow: Flow) -> None:
    """`x.new_tensor([n])` becomes `torch.tensor([n], dtype=x.dtype, device=x.device)`.

    Dynamo of PyTorch 2.11 fails on the method where the list holds a tensor, without a graph break.
    """
    if any(node is made for node, _ in flow.rewrites):
        return
    if not is_path(like):
        flow.refuse(f"PyTorch 2.11 does not compile `{snippet(made)}` of a tensor; write `torch.tensor`")
        return
    given = [keyword for keyword in made.keywords if scope.value(keyword.value).kinds != values.NONE.kinds]
    told, shown = {keyword.arg for keyword in given}, snippet(made)
    for keyword in given:
        # None means that of `x` in the method, and the default in the function.
        if keyword.arg not in _MADE_WITH:
            flow.refuse(f"`{shown}` has an option that is not carried over to `torch.tensor`")
        elif keyword.arg != "requires_grad" and scope.value(keyword.value).may_be(Kind.NONE):
            flow.refuse(f"`{snippet(keyword.value)}` may be None in `{shown}`, which `torch.tensor` takes otherwise")

    torch = torch_name(scope)  # here: the flow keeps what is built, and would keep the scope with it

    def build(render: Renderer) -> str:
        options = [f"{k.arg}={render(k.value)}" for k in given]
        options += [f"{name}={render(like)}.{name}" for name in ("dtype", "device") if name not in told]
        return f"{torch}.tensor({', '.join([render(made.args[0]), *options])})"

    flow.rewrites.append((made, build))


def scale(node: ast.expr, scaled: Scaled, scope: Scope, flow: Flow) -> None:
    """The number scales what is added: `x.add(y, alpha=n)` takes no tensor there, and becomes `x + y * n`."""
    met(scaled.tensor, scope, flow)
    if scaled.part is scaled.call and any(scope.value(a).dtype in ("int", "bool") for a in _tensors_of(scaled, scope)):
        flow.refuse(f"`{snippet(scaled.call)}` scales integers: the result's dtype would follow the number")
    unproved = [a for a in scaled.call.args if a is not node and scope.value(a).dtype not in ("float", "complex")]
    if scaled.part is scaled.call and unproved:
        # Integers are scaled in the dtype of the sum: `x.add(pixels, alpha=t)` would overflow before it.
        shown = snippet(unproved[0])
        flow.refuse(f"`{shown}`, which the number scales, is not proved to be floating", "same-shape-dtype")
    if flow.boolean or flow.read.dtype in ("bool", "complex"):
        kind = "complex number" if flow.read.dtype == "complex" else "bool"
        flow.refuse(f"`{snippet(scaled.call)}` may refuse a {kind}")
    elif flow.read.dtype is None:
        reason = f"`{snippet(scaled.call)}` raises for a number that is a bool or complex"
        flow.refuse(reason, "same-shape-dtype")
    reason = f"`{snippet(scaled.call)}` rounds the number, or what it scales, to the tensor's precision"
    flow.refuse(reason, "float32-rounding")
    flow.rewrites.append((scaled.part, scaled.build))
    if scaled.part is scaled.call:
        flow.plain.add(scaled.part)  # `x.add_(y * n)`


def meet_each(call: ast.Call, flow: Flow) -> None:
    """The number is computed with each tensor of a list: one that is floating and has dimensions keeps its dtype."""
    flow.beside = True
    if flow.boolean or flow.read.dtype in ("bool", "complex"):
        flow.refuse(f"`{snippet(call)}` may refuse a bool or complex number")
    flow.refuse(
        f"the tensors in `{snippet(call.args[0])}` are not proved to be floating, with dimensions: the results' dtype "
        "could change",
        "number-to-tensor",
    )


def _tensors_of(scaled: Scaled, scope: Scope) -> list[ast.expr]:
    return [argument for argument in scaled.call.args if scope.value(argument).is_tensor]


def clamp_of(node: ast.expr, scope: Scope) -> tuple[ast.Call, ast.expr] | None:
    """The clamp call that a number is a bound of, and the tensor that is clamped."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return None
    name = scope.callee(call) or ""
    bare = name.removeprefix("Tensor.").removeprefix("torch.")
    function = name.startswith("torch.")
    if bare not in _CLAMPS or (
        not isinstance(parent, ast.keyword) and (len(call.args) > (2 if function else 1) or call.keywords)
    ):
        return None
    if function:
        return (call, call.args[0]) if call.args and call.args[0] is not node else None
    return (call, call.func.value) if isinstance(call.func, ast.Attribute) else None


def clamp_by(call: ast.Call, tensor: ast.expr, scope: Scope, flow: Flow) -> None:
    """A bound of a clamp may be a tensor where the other one is too: two bounds become two calls."""
    bounds = [k for k in call.keywords if k.arg in ("min", "max")]
    if len(bounds) > 1 and call not in [node for node, _ in flow.rewrites]:
        method = "clamp_" if isinstance(call.func, ast.Attribute) and call.func.attr == "clamp_" else "clamp"
        ordered = sorted(bounds, key=lambda k: k.arg != "min")

        def build(render: Renderer) -> str:
            chained = "".join(f".{method}({k.arg}={render(k.value)})" for k in ordered)
            return render.template.use(tensor, operand=True) + chained

        flow.rewrites.append((call, build))
    if scope.value(tensor).dtype_id is None or scope.value(tensor).dtype_id != flow.read.dtype_id:
        flow.refuse(
            f"a bound that does not fit the dtype of `{snippet(tensor)}` raises as a number and not as a tensor",
            "number-to-tensor",
        )
    met(tensor, scope, flow)


def compare_with(node: ast.expr, other: ast.expr, scope: Scope, flow: Flow) -> None:
    """A tensor is compared with the number, in the dtype of whichever of them has dimensions."""
    if meets_whole_numbers(node, other, scope, flow):
        return
    if holds_whole_numbers(other, scope) and flow.read.dtype in (None, "float"):
        flow.beside = True
        reason = f"`{snippet(other)}` holds integers, which are compared in the precision of a number that is none"
        flow.refuse(reason, "float32-rounding")
        is_tensor_there(other, scope, flow)
        return
    same = scope.value(other).dtype_id is not None and scope.value(other).dtype_id == flow.read.dtype_id
    unknown = scope.value(other).dtype is None and flow.read.dtype is None
    if same or unknown:
        same_dtype(other, scope, flow)
    else:
        met(other, scope, flow)


def subtracted(node: ast.expr, op: ast.operator, scope: Scope, flow: Flow) -> None:
    """Note what stands against a bool in a difference: Python counts with it, and torch raises."""
    if isinstance(op, ast.Sub) and scope.value(node).dtype == "bool":
        flow.refuse(f"torch raises where a bool is subtracted, as in `{snippet(scope.parents[node])}`")
    elif isinstance(op, ast.Sub) and flow.read.dtype is None and scope.value(node).dtype == "float":
        flow.refuse(
            f"`float()` of a bool can be subtracted, as in `{snippet(scope.parents[node])}`, and a bool tensor cannot",
            "number-to-tensor",
        )


def changed_in_place(node: ast.expr, tensor: ast.expr, scope: Scope, flow: Flow) -> None:
    """Integers take a Python integer in place, and no tensor of floats, as which an integer is computed with.

    A Python float is refused them too, with another text.
    """
    if flow.operations and flow.read.dtype is None and scope.value(tensor).dtype is None:
        reason = f"`{snippet(tensor)}` may hold integers, which no double can be put into"
        flow.refuse(reason, "same-shape-dtype" if scope.value(node).dtype == "float" else None)
