"""Whether a result of unknown size can stay in the graph, with `capture_dynamic_output_shape_ops`.

Measured on torch 2.13 with inductor on a CPU, forward and backward, and on 2.11 on a CPU and a GPU (H100): there the
backward pass of `x[mask][:n]` fails, those of `cumprod` and `logcumsumexp` as that of `cumsum`, and `quantile` at all.
`bincount` with `minlength` stays in the graph on both, and so does `cumsum` of integers; behind `torch._check` of more
than one row, all of them but `cumprod`, `logcumsumexp` and `quantile` were tried on 2.13 and work there, and `cumsum`
and `std` on 2.11 too. With weights the result is wrong on 2.11 (H200 and CPU).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.selected_anyway import selected_where_needed
from compilefix.codemods.dynamic_shapes.masks import whole_mask
from compilefix.codemods.dynamic_shapes.ragged_sizes import size_of
from compilefix.codemods.dynamic_shapes.twice_selected import computed_mask, masks_like
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asks_for_none
from compilefix.source.tree import names_in, walk

_NOT_HELPED = frozenset({"one_hot", "lstsq"})
_SIZES = frozenset({"shape", "size", "numel", "nelement"})
_FAILING = frozenset(
    {"std", "var", "std_mean", "var_mean", "prod", "cumsum", "cumprod", "logcumsumexp", "quantile"}
)  # in the backward pass, `quantile` in the forward one
_SPREADS = frozenset({"std", "var", "std_mean", "var_mean"})
"""Over named dimensions they work, over all of them they do not."""
_ASKING = {"logsumexp": 1, "roll": 1, "cummax": 1, "cummin": 1, "diff": 2, "group_norm": 2}
"""They ask whether there are elements, and break the graph but behind a check that there are so many rows."""
_LISTING = frozenset({"split", "chunk", "unbind", "tolist"})
_JUDGED = _FAILING | _LISTING | _ASKING.keys()
_PADDING = frozenset({"pad_sequence", "pack_sequence"})
"""They ask which of some tensors is the longest, and break the graph."""
_GOING = frozenset({"map", "filter", "enumerate", "zip", "list", "tuple", "iter", "sorted"})
"""Functions of Python that go through what they are given."""
_ROWS = frozenset({"nonzero", "argwhere"})
_ATTENTION = frozenset({"scaled_dot_product_attention", "multi_head_attention_forward", "MultiheadAttention"})
_SOFTMAX = frozenset({"softmax", "Softmax"})
_PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm"})
_ORDERS = frozenset({"sort", "argsort", "msort"})
_TURNS = frozenset({"t", "T", "mT", "transpose", "permute", "movedim", "swapaxes", "unsqueeze"})
_ANSWERED = frozenset({"guard_or_false", "guard_or_true"})
"""Functions of torch that answer a question for a symbol without a guard."""


def not_captured(node: ast.expr, scope: Scope, *, named: bool = False) -> str | None:
    """Why the flag does not keep an operation in the graph; None where it does.

    named: whether a mask that is computed more than once gets a name.
    """
    short = (scope.callee(node) or "").rpartition(".")[2] if isinstance(node, ast.Call) else ""
    if short in _NOT_HELPED:
        return "it needs a size that is known"
    if short == "combinations":
        return "torch fails on it where the flag is set"
    if isinstance(node, ast.Call) and short == "bincount" and _is_weighted(node, scope):
        return "the flag makes a weighted `bincount` wrong before torch 2.13"
    later = attended_later(node, scope) or ordered_later(node, scope)
    if later is not None:
        return later
    for use in _uses(node, scope):
        reason = None if _asks_another_size(use, node, scope) else use_not_captured(use, scope)
        if reason is not None:
            return f"line {use.lineno}: {reason}"
    # Last: a name for the mask helps only where nothing else stands in the way.
    return None if named else _selected_again(node, scope)


def masks_not_captured(scope: Scope) -> Mapping[str, str]:
    """By name the masks that select several times, once with a size that the code then asks for, and where it does.

    The graph breaks there with the flag as well, whatever else has been selected.
    """
    found: dict[str, str] = {}
    selected: dict[str, list[ast.Subscript]] = defaultdict(list)
    for node in scope.of(ast.Subscript):
        mask = whole_mask(node, scope)
        if mask is not None and isinstance(node.ctx, ast.Load):
            for name in sorted(names_in(node.slice)):
                if scope.only_assignment(name) is not None:
                    selected[name].append(node)
    for name, nodes in selected.items():
        for node in nodes if len(nodes) > 1 else ():
            reason = not_captured(node, scope)
            if reason is not None and reason.startswith("line "):
                found.setdefault(name, reason)
    return found


def _asks_another_size(use: ast.expr, node: ast.expr, scope: Scope) -> bool:
    """Whether a use asks for a size that no mask changes: `rows.shape[1]` of `rows = x[mask]`.

    The last one is another where the code takes a column of the rows: `rows[..., 2]`, `rows[:, 0]`.
    """
    mask = whole_mask(node, scope) if isinstance(node, ast.Subscript) else None
    attribute = scope.parents.get(use)
    if mask is None or mask.leading or mask.last or not isinstance(attribute, ast.Attribute):
        return False
    outer = scope.parents.get(attribute)
    index: ast.expr | None = None
    if attribute.attr == "shape" and isinstance(outer, ast.Subscript) and outer.value is attribute:
        index = outer.slice
    elif attribute.attr == "size" and isinstance(outer, ast.Call) and len(outer.args) == 1 and not outer.keywords:
        index = outer.args[0]
    const = scope.value(index).const if index is not None else None
    if const is None or type(const.value) is not int:
        return False
    return const.value > 0 or (const.value == -1 and any(_takes_column(other, scope) for other in _uses(node, scope)))


def _takes_column(use: ast.expr, scope: Scope) -> bool:
    """Whether a column is taken of a tensor, which has two dimensions then: `rows[..., 2]`, `rows[:, :2]`."""
    item = scope.parents.get(use)
    parts = item.slice.elts if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Tuple) else []
    whole = len(parts) == 2 and isinstance(item, ast.Subscript) and item.value is use
    first = parts[0] if whole else None
    return isinstance(first, ast.Slice) or (isinstance(first, ast.Constant) and first.value is Ellipsis)


def _selected_again(node: ast.expr, scope: Scope) -> str | None:
    """Why a mask that is computed more than once stands in the way; None where it has a name, or is computed once."""
    mask = computed_mask(node, scope)
    if mask is None or len(masks_like(mask, scope)) < 2:
        return None
    shown = snippet(mask)
    return f"give `{shown}` a name: selecting by a mask that is computed twice fails to compile in training"


def _is_weighted(call: ast.Call, scope: Scope) -> bool:
    """Whether a `bincount` adds up weights: torch 2.11 takes the result for one of integers, and reads other memory."""
    method = (scope.callee(call) or "").startswith("Tensor.")
    return len(call.args) > (0 if method else 1) or any(k.arg in ("weights", None) for k in call.keywords)


def attended_later(node: ast.expr, scope: Scope) -> str | None:
    """Why attention over what has an unknown size stands in the way; None where the function has none.

    Inductor fails on it, forward or backward, and Dynamo breaks the graph at `scaled_dot_product_attention`.
    """
    calls = scope.among(ast.Call)
    names = [(scope.callee(call) or "").rpartition(".")[2] for call in calls]
    if not _ATTENTION.isdisjoint(names) or not _SOFTMAX.isdisjoint(names):
        is_made = partial(stands_in, node, made_of(node, scope))

        for call, name in zip(calls, names, strict=True):
            if name in _ATTENTION and is_made(call):
                return (
                    f"line {call.lineno}: attention over a size that is a symbol breaks the graph, or does not compile"
                )
        products: list[ast.expr] = [c for c, name in zip(calls, names, strict=True) if name in _PRODUCTS]
        products += [n for n in scope.function.of(ast.BinOp) if isinstance(n.op, ast.MatMult)]
        for call, name in zip(calls, names, strict=True):
            if name in _SOFTMAX and is_made(call) and any(is_made(product) for product in products):
                return f"line {call.lineno}: attention over a size that is a symbol does not compile"
    return None


def ordered_later(node: ast.expr, scope: Scope) -> str | None:
    """Why what has an unknown size may not be sorted along it; None where the function does not do that.

    Inductor of torch 2.11 on a GPU gives other numbers without a word, but for tensors of one dimension.
    """
    calls = [c for c in scope.among(ast.Call) if (scope.callee(c) or "").rpartition(".")[2] in _ORDERS]
    if not calls:
        return None
    is_made = partial(stands_in, node, made_of(node, scope))

    behind = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)
    last = behind or any(n.attr in _TURNS and is_made(n.value) for n in scope.function.of(ast.Attribute))
    for call in calls:
        name = scope.callee(call) or ""
        own = [call.func.value] if name.startswith("Tensor.") and isinstance(call.func, ast.Attribute) else []
        given = [*own, *call.args, *(k.value for k in call.keywords if k.arg == "input")]
        if not given or scope.value(given[0]).rank == 1 or not is_made(given[0]):
            continue
        dim = given[1] if len(given) > 1 else next((k.value for k in call.keywords if k.arg == "dim"), None)
        const = scope.value(dim).const if dim is not None else None
        by_default = dim is None and not name.endswith(".msort")
        if last or not (by_default or (const is not None and const.value == -1)):
            return f"line {call.lineno}: sorted along a size that is a symbol, it may come out wrong on a GPU"
    return None


def stands_in(node: ast.expr | None, made: Collection[str], part: ast.AST) -> bool:
    """Whether a result, or one of the names that may hold what is made of it, stands in a part of the code."""
    return any(n is node or (isinstance(n, ast.Name) and n.id in made) for n in walk(part))


def made_of(node: ast.expr | None, scope: Scope, names: Iterable[str] = ()) -> set[str]:
    """The names that may hold what is made of a result, or of what has one of the `names`, in its function.

    In one without loops they are made of what stands above.
    """
    sources = [
        (n.iter, n.target) if isinstance(n, ast.For | ast.comprehension) else (n.value, target)
        for n in scope.function.nodes
        if isinstance(n, ast.For | ast.comprehension | ast.Assign | ast.AnnAssign | ast.AugAssign)
        for target in (n.targets if isinstance(n, ast.Assign) else [n.target])
    ]
    repeated = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.Lambda)
    again = any(isinstance(n, repeated) for n in scope.function.nodes if n is not scope.function.node)
    sources.sort(key=lambda source: (source[1].lineno, source[1].col_offset))
    made = set(names)
    found = True
    while found:
        found = False
        for value, target in sources:
            if value is None or not stands_in(node, made, value):
                continue
            names = names_in(target)
            found = found or (again and not names <= made)
            made |= names
    return made


def _uses(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """A result, the places that read it, and what it picks as an index: that has its size, and is read again."""
    pending, seen = [node], {node}
    while pending:
        made = pending.pop()
        for use in (made, *_loads(made, scope)):
            yield use
            inner = scope.parents.get(use)
            if isinstance(inner, ast.For | ast.comprehension) and _goes_through_list(inner, use, scope):
                items = names_in(inner.target)
                pending += [n for n in scope.function.of(ast.Name) if n.id in items and n not in seen and _is_read(n)]
                seen.update(pending)
            whole = scope.parents.get(inner) if isinstance(inner, ast.Tuple) else inner
            if isinstance(whole, ast.Subscript) and whole.slice in (use, inner) and whole not in seen:
                seen.add(whole)
                pending.append(whole)


def _goes_through_list(loop: ast.For | ast.comprehension, node: ast.expr, scope: Scope) -> bool:
    """Whether a loop goes through a list of results: it has as many turns as the list has items."""
    return loop.iter is node and scope.value(node).is_(Kind.CONTAINER)


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _loads(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """The places that read a name which the statement of an operation gives a value."""
    statement = scope.statement(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    for target in targets:
        for name in ast.walk(target):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                yield from (n for n in scope.names(name.id) if n.lineno >= node.lineno)


def use_not_captured(node: ast.expr, scope: Scope) -> str | None:
    """Why a use of a tensor of unknown size cannot stay in the graph; None where it can."""
    asked: ast.AST = node
    sized = False
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Attribute):
            sized = sized or parent.attr in _SIZES
            if parent.attr in _JUDGED and _fails(parent, node if asked is node else None, scope):
                return f"`{snippet(parent)}` fails where the size is a symbol"
        elif isinstance(parent, ast.Call):
            short = (scope.callee(parent) or "").rpartition(".")[2]
            if short in _ANSWERED:
                return None
            sized = sized or short == "len"
            if short in _PADDING and parent.func is not asked:
                return f"`{snippet(parent)}` asks for the longest of tensors with sizes that are symbols"
            if scope.callee(parent) in _GOING and asked is node and not scope.value(node).is_(Kind.CONTAINER):
                return "a loop goes through it"
            judged = isinstance(asked, ast.Attribute) and parent.func is asked
            if not judged and short in _JUDGED and _fails(parent, node if asked is node else None, scope):
                return f"`{snippet(parent)}` fails where the size is a symbol"
            if not sized and parent.func is not asked and not isinstance(asked, ast.Attribute):
                return None  # another operation, whose result is another tensor
        elif isinstance(parent, ast.Subscript) and parent.value is asked and _cuts(parent):
            value = scope.value(parent)
            if value.leaves and value.dtype not in ("int", "bool"):
                return f"the backward pass of `{snippet(parent)}` fails before torch 2.13"
        elif isinstance(parent, ast.For | ast.comprehension) and parent.iter is asked:
            return None if asked is node and _goes_through_list(parent, node, scope) else "a loop goes through it"
        elif isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is asked:
            if isinstance(parent, ast.If) and selected_where_needed(parent, scope) is not None:
                return None  # CF101 selects always, once the flag is on
            return f"`{snippet(asked)}` decides on its size" if sized else None
        elif isinstance(parent, ast.stmt):
            return _decided_by_name(parent, scope) if sized and asked is not node else None
        asked = parent
    return None


def _decided_by_name(statement: ast.stmt, scope: Scope) -> str | None:
    """Why a size may have no name: the name is asked for its truth, and nothing answers that."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    for load in scope.names(targets[0].id):
        asked: ast.AST = load
        for parent in scope.ancestors(load):
            if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is asked:
                return f"`{snippet(asked)}` decides on its size"
            if asks_for_none(parent):
                break
            if not isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp):
                break
            asked = parent
    return None


def _fails(place: ast.expr, made: ast.expr | None, scope: Scope) -> bool:
    """Whether a function, or the method at an attribute, fails over an unknown size.

    made: the result itself, where that is what it takes.
    """
    outer = scope.parents.get(place)
    call = place if isinstance(place, ast.Call) else outer
    if not isinstance(call, ast.Call) or (call is not place and call.func is not place):
        return True
    name = scope.callee(call) or ""
    short = place.attr if isinstance(place, ast.Attribute) else name.rpartition(".")[2]
    given = call.args if isinstance(place, ast.Attribute) else call.args[1:]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if short in _SPREADS:
        dims = given[0] if given else named.get("dim")
        if dims is not None and _dimensions(dims, scope):
            return False
    if short in _SPREADS | {"cumsum"} and made is not None and _has_rows(made, 2, call, scope):
        return False
    if short in _ASKING:
        return made is None or not _has_rows(made, _ASKING[short], call, scope)
    if short in _LISTING - {"tolist"}:
        if short == "split" and given and _is_list(given[0], scope):
            return False  # as many parts as the list has sizes
        place_of_dim = 0 if short == "unbind" else 1
        dim = given[place_of_dim] if len(given) > place_of_dim else named.get("dim")
        along = _dimensions(dim, scope) if dim is not None else ()
        return made is None or not along or 0 in along or not _counts_rows(made, scope)
    return not _has_no_derivative(call, scope)


def _has_rows(made: ast.expr, least: int, call: ast.Call, scope: Scope) -> bool:
    """Whether a check above says that a result has so many rows: `torch._check(len(rows) > 1)`."""
    if not isinstance(made, ast.Name) or len(scope.names(made.id, stores=True)) != 1:
        return False
    statement: ast.stmt | None = scope.statement(call)
    while statement is not None and statement is not scope.function.node:
        block = scope.block(statement)
        for one in block[: block.index(statement)]:
            check = one.value if isinstance(one, ast.Expr) else None
            if isinstance(check, ast.Call) and _says(check, made.id, least, scope):
                return True
        around = (a for a in scope.ancestors(statement) if isinstance(a, ast.stmt))
        statement = next(around, None)
    return False


def _says(call: ast.Call, name: str, least: int, scope: Scope) -> bool:
    test = call.args[0] if scope.callee(call) == "torch._check" and call.args else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.comparators[0], ast.Constant):
        return False
    asked, number = size_of(test.left, scope), test.comparators[0].value
    if not isinstance(asked, ast.Name) or asked.id != name or type(number) is not int:
        return False
    known = {ast.Gt: number + 1, ast.GtE: number, ast.NotEq: 1 if number == 0 else 0}.get(type(test.ops[0]), 0)
    return known >= least


def _is_list(node: ast.expr, scope: Scope) -> bool:
    """Whether an argument is a list, as what `tolist` gives of several numbers is beside a tensor."""
    short = (scope.callee(node) or "").rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return scope.value(node).is_(Kind.CONTAINER) or short == "tolist"


def _counts_rows(node: ast.expr, scope: Scope) -> bool:
    """Whether the first dimension of a result is the one that has an unknown size."""
    given = [node]
    if isinstance(node, ast.Name):
        made = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        given = [one.value for one in made if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
        if len(given) != len(made):
            return False
    for one in given:
        if isinstance(one, ast.Subscript):
            index = one.slice.elts[0] if isinstance(one.slice, ast.Tuple) and one.slice.elts else one.slice
            if isinstance(index, ast.Slice | ast.Constant):
                return False
        elif not isinstance(one, ast.Call) or (scope.callee(one) or "").rpartition(".")[2] not in _ROWS:
            return False
    return bool(given)


def _dimensions(node: ast.expr, scope: Scope) -> tuple[int, ...]:
    """The dimensions that an argument names; none where that is not known, or it means all of them."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    consts = [const.value if (const := scope.value(part).const) is not None else None for part in parts]
    known = [const for const in consts if isinstance(const, int) and not isinstance(const, bool)]
    return tuple(known) if len(known) == len(consts) else ()


def _has_no_derivative(call: ast.AST | None, scope: Scope) -> bool:
    """Whether a call gives integers, as `lengths.cumsum(0, dtype=torch.int32)` does: no backward pass leads there."""
    short = (scope.callee(call) or "").rpartition(".")[2] if isinstance(call, ast.Call) else ""
    return short in _FAILING - {"quantile"} and call is not None and scope.value(call).dtype in ("int", "bool")


def _cuts(node: ast.Subscript) -> bool:
    """Whether a subscript takes a part of the first dimension: `rows[:n]`."""
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return isinstance(first, ast.Slice) and not first.lower is first.upper is first.step is None
