"""What torch fails to compile for tensors of unknown size, or gets wrong, and whether such a tensor gets there.

Measured on torch 2.13 with inductor on a CPU, with `capture_dynamic_output_shape_ops` and `capture_scalar_outputs`: a
convolution in two dimensions fails in its first call, one in one dimension where the length is the symbol, multi-head
attention in training or with the sequence first, and `grid_sample` where height and width are symbols. `cdist`,
`pinv`, `cov` and `corrcoef` break the graph, and the derivatives of `det`, `slogdet`, `cholesky`, `solve` and `qr` do
not compile (those of `inv`, `eigvalsh` and `svdvals` do; `aot_eager`). In three dimensions convolutions work, and so
do linear, recurrent, normalising and pooling layers. Attention that is written out fails too
(`(q @ k.mT).softmax(-1) @ v`, of which inductor makes one kernel), and `scaled_dot_product_attention` in three
dimensions, or where only keys and values have the size, and a product of batches, or `einsum`, of two tensors that
both have it (`rows @ rows.T` of a matrix works, and another product behind it fails). Over a slice up to a number,
all convolutions and attention fail (and work with 2.11 on a GPU), `unfold`, products of it outside of layers, and the
derivatives of `prod` and running sums; 85 more operations work, forward and backward (`benchmarks/symbol_sizes.py`
has 56 of them, views too). On a CPU, a linear layer without bias whose weight requires no gradient fails for what has
such a number as its second of three dimensions.

A tensor that is made with a number as a size, as `torch.zeros(n, 8)`, fails in convolutions, `einsum` and products of
batches, and in the derivatives of `prod` and running sums. Where the number is an argument's own, `n.item()` and not
`lengths.max().item()`, normalising over it, pooling, attention, `logsumexp`, `roll` and `diff` fail too, and so does a
returned result with a gradient whose size is computed of the number (`torch.cat([x, x.new_zeros(n, 8)])`).

A view that cuts the last dimension, of 8 say, in pieces and counts these together with an unknown size
(`rows.view(-1, 4)`) has the pieces of one row alone, without a word: inductor of 2.13 takes the size for 1. Where it is
a size that a selection has, that is so of its gradient, and of what `repeat_interleave` gives. With 2.11 all are right.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import names_in

_LAYERS = ("Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d", "MultiheadAttention", "Transformer")
_FUNCTIONS = frozenset(
    {"conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "multi_head_attention_forward", "grid_sample"}
)
_NOT_GUARDED = frozenset({"cdist", "pdist", "cov", "corrcoef", "pinv"})
"""They ask whether there are elements, and break the graph."""
_ALGEBRA = frozenset({"det", "slogdet", "logdet", "cholesky", "cholesky_ex", "solve", "qr"})
"""Their derivatives ask that, and the compilation fails."""
_LAYERS_WHERE_CUT = ("Conv", "Softmax", *_LAYERS)
_WHERE_CUT = (
    _FUNCTIONS
    | {"conv3d", "scaled_dot_product_attention", "softmax", "tril", "triu", "unfold"}
    | {"quantile", "sort", "argsort", "msort"}
    | {"fft", "rfft", "fft2", "rfft2", "fftn", "rfftn", "ifft", "irfft", "stft"}
)
_WHERE_MADE = frozenset({"einsum", "bmm", "baddbmm"})
_LAYERS_OF_ARGUMENTS = ("BatchNorm", "InstanceNorm", "Pool1d")
_OF_ARGUMENTS = frozenset(
    {"scaled_dot_product_attention", "batch_norm", "instance_norm", "avg_pool1d", "max_pool1d"}
    | {"logsumexp", "roll", "diff"}
)
_COMPUTED_SIZES = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "pad"})
_DERIVED = frozenset({"prod", "cumsum", "cumprod", "logcumsumexp"})
"""They fail in the backward pass."""
_PRODUCTS = frozenset({"matmul", "bmm", "mm", "baddbmm", "einsum"})
_VIEWS = frozenset({"Tensor.view", "Tensor.reshape", "torch.reshape"})


def failing_layer(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a result of unknown size fails in a layer behind it; None where it gets to no layer that is known to fail.

    region: all that is compiled together with `scope`, and itself.
    """
    layer = _behind(node, scope, region, _fails)
    asking = _behind(node, scope, region, _asks_for_elements) if layer is None else None
    if asking is not None:
        return f"{_place(asking)} breaks the graph over a size that is a symbol, or its backward pass fails to compile"
    product = _product_of_both(node, scope) if layer is None else None
    if product is not None:
        return f"{_place(product)} multiplies tensors that both have a size which is a symbol, and fails to compile"
    sampled = layer is not None and ast.unparse(layer.func).endswith("grid_sample")
    kind = "a sampling of pictures" if sampled else "a convolution or multi-head attention"
    if layer is not None and ast.unparse(layer.func).endswith(("softmax", "scaled_dot_product_attention")):
        kind = "attention"
    return None if layer is None else f"{_place(layer)} is {kind}, which fails to compile where a size is a symbol"


def fails_where_cut(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a slice with a bound that is a symbol fails in what is done with it, though other unknown sizes may not."""
    found = _behind(node, scope, region, _fails_cut) or _product(node, scope)
    return None if found is None else f"{_place(found)} fails over a slice up to it, or its backward pass does"


def fails_where_made(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a tensor that is made with a number as a size fails in what is done with it, though a slice may not."""
    if not _is_size(node, scope):
        return None
    found = _behind(node, scope, region, _fails_made)
    straight = _is_argument(node, scope)
    if found is None and straight:
        found = _behind(node, scope, region, _fails_of_argument)
    if found is not None:
        return f"{_place(found)} fails where a size is a number that is read from a tensor, or its backward pass does"
    returned = _behind(node, scope, region, _is_returned) if straight else None
    if returned is not None:
        return f"the backward pass of {_place(returned)} fails where it is returned: its size is computed of the number"
    return None


def _is_argument(node: ast.expr, scope: Scope) -> bool:
    """Whether a number is that of a tensor which the compiled function is given, as it is."""
    read = read_of(node, scope) or node
    given = {parameter.arg for parameter in scope.function.parameters}
    return (
        isinstance(read, ast.Name)
        and read.id in given
        and not scope.names(read.id, stores=True)
        and not scope.compiled.callers
    )


def _product(node: ast.expr, scope: Scope) -> ast.expr | None:
    """A product of what is made of a result: it fails where that is no layer of its own, or has the size twice."""
    return next((product for product, operands in _products(node, scope) if operands), None)


def _product_of_both(node: ast.expr, scope: Scope) -> ast.expr | None:
    """A product of two tensors that are both made of a result, in batches or by `einsum`.

    One of two matrices, `rows @ rows.T`, compiles (2.13, inductor on a CPU, forward and backward).
    """
    found = ((product, operands) for product, operands in _products(node, scope) if len(operands) > 1)
    return next((product for product, operands in found if _is_batched(product, operands, scope)), None)


def _products(node: ast.expr, scope: Scope) -> list[tuple[ast.expr, list[ast.expr]]]:
    """The products of the function, each with its operands that are made of a result."""
    made = {holder.id for holder in _holders(node, scope)}

    def is_made(part: ast.expr) -> bool:
        return any(n is node or (isinstance(n, ast.Name) and n.id in made) for n in ast.walk(part))

    products: list[tuple[ast.expr, list[ast.expr]]] = [
        (n, [n.left, n.right]) for n in scope.of(ast.BinOp) if isinstance(n.op, ast.MatMult)
    ]
    for call in scope.of(ast.Call):
        ref = scope.callee(call) or ""
        if ref.rpartition(".")[2] in _PRODUCTS:
            own = [call.func.value] if ref.startswith("Tensor.") and isinstance(call.func, ast.Attribute) else []
            products.append((call, [*own, *call.args]))
    return [(product, [part for part in operands if is_made(part)]) for product, operands in products]


def _is_batched(product: ast.expr, operands: Sequence[ast.expr], scope: Scope) -> bool:
    """Whether a product is one of batches of matrices, or `einsum`, which becomes one."""
    short = _of_torch(product, scope) if isinstance(product, ast.Call) else ""
    ranks = [scope.value(operand).rank for operand in operands]
    if short in ("bmm", "baddbmm", "einsum") or any(rank is not None and rank > 2 for rank in ranks):
        return True
    turned = (n.attr for operand in operands for n in ast.walk(operand) if isinstance(n, ast.Attribute))
    return None in ranks and not _BATCHED.isdisjoint(turned)


_BATCHED = frozenset({"mT", "transpose", "permute", "swapaxes"})
"""By what the last two dimensions of a batch are turned round, as `T` and `t()` turn those of a matrix."""


def miscounted_view(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a tensor with a number as a size comes out wrong of a view behind it; None where it gets to no such view."""
    if scope.value(node).dtype == "float" or not _is_size(node, scope):
        return None
    return miscounted_rows(node, scope, region)


def miscounted_rows(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """The same for a tensor that has an unknown size itself, or its gradient: `x[mask].view(-1, 4)`."""
    view = _behind(node, scope, region, _may_cut)
    return None if view is None else f"{_place(view)} may cut a dimension, which inductor of torch 2.13 gets wrong then"


def _behind(
    node: ast.expr, scope: Scope, region: Sequence[Scope], fails: Callable[[ast.Call, Scope], bool]
) -> ast.Call | None:
    """A call that a result, or what is made of it, may get to, of those of a kind."""
    others = [inner for inner in region if inner.function is not scope.function]
    found = (call for inner in others for call in inner.of(ast.Call) if fails(call, inner))
    elsewhere = next(found, None)
    for use in (node, *_holders(node, scope)):
        for parent in scope.ancestors(use):
            if isinstance(parent, ast.Call):
                if fails(parent, scope):
                    return parent
                if elsewhere is not None and scope.facts.calls.get(parent) is not None:
                    return elsewhere
            elif isinstance(parent, ast.stmt):
                if elsewhere is not None and _leaves(parent, scope, others):
                    return elsewhere
                break
    return None


def _holders(node: ast.expr, scope: Scope) -> list[ast.Name]:
    """The places that read a name which may hold the result, or something made of it."""
    names: set[str] = {"self"}
    reads: dict[ast.Name, None] = {}
    parameters = {parameter.arg for parameter in scope.function.parameters}
    uses: list[ast.expr] = [node]
    while uses:
        statement = scope.statement(uses.pop())
        for name in _targets(statement) - names:
            names.add(name)
            if not scope.names(name, stores=True) and name not in parameters:
                continue  # a module of the file, as `torch`
            # In front of the result too: a loop may come back there.
            loop = next((a for a in scope.ancestors(statement) if isinstance(a, ast.For | ast.While)), None)
            first = (loop or statement).lineno
            found = [load for load in scope.names(name) if load.lineno >= first]
            reads.update(dict.fromkeys(found))
            uses += found
    return list(reads)


def _targets(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or writes into."""
    if isinstance(statement, ast.For):
        targets: list[ast.expr] = [statement.target]
        head, target = statement.iter, statement.target
        if isinstance(head, ast.Call) and last_name(head.func) == "enumerate" and isinstance(target, ast.Tuple):
            targets = target.elts[1:]  # what counts the turns is a number of Python, whatever they are made of
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr):
        targets = [statement.value.func] if isinstance(statement.value, ast.Call) else []
    else:
        targets = []
    return names_in(*targets)


def _leaves(statement: ast.stmt, scope: Scope, others: Sequence[Scope]) -> bool:
    """Whether a statement hands what it has to other code that is compiled: to a caller, or in an attribute."""
    if isinstance(statement, ast.Return):
        return any(scope.function in inner.facts.calls.values() for inner in others)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) and not _is_own(target, scope) for target in targets)


def _is_own(target: ast.expr, scope: Scope) -> bool:
    """Whether what is written into is a tensor that only this function has: `out[i] = x`, and `out` is made here."""
    held = target.value if isinstance(target, ast.Subscript) else None
    given = {parameter.arg for parameter in scope.function.parameters}
    return isinstance(held, ast.Name) and held.id not in given and bool(scope.names(held.id, stores=True))


def _fails(call: ast.Call, scope: Scope) -> bool:
    ref = scope.callee(call) or ""
    if _attends(call, scope):
        return True
    if ref.startswith("torch.") and ref.rpartition(".")[2] in _FUNCTIONS:
        return True
    return holds_layer(scope.value(call.func)) and not ref.startswith("torch.nn.functional.")


def _attends(call: ast.Call, scope: Scope) -> bool:
    """Whether a call is attention, also one that is written out: a softmax between two products of matrices.

    Of such, inductor makes one kernel, which asks whether the size is 1.
    """
    short = _of_torch(call, scope)
    if short == "scaled_dot_product_attention":
        return scope.value(call.args[0]).rank != 4 if call.args else True
    if short != "softmax" and not holds_layer(scope.value(call.func), ("Softmax",)):
        return False
    products = sum(isinstance(node.op, ast.MatMult) for node in scope.of(ast.BinOp))
    products += sum(_of_torch(node, scope) in _PRODUCTS for node in scope.of(ast.Call))
    return products > 1


def _asks_for_elements(call: ast.Call, scope: Scope) -> bool:
    short = _of_torch(call, scope)
    derived = short in _ALGEBRA or (short == "einsum" and _takes_rows(call))
    return short in _NOT_GUARDED or (derived and bool(scope.value(call).leaves))


def _takes_rows(call: ast.Call) -> bool:
    """Whether `einsum` multiplies rows of a matrix, `"nd,de->ne"`: a product of one batch, with the rows as a size."""
    equation = call.args[0] if call.args else None
    if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
        return False
    operands = equation.value.replace(" ", "").partition("->")[0].split(",")
    for index, letters in enumerate(operands):
        others = "".join(operands[:index] + operands[index + 1 :])
        own = [letter for letter in letters if letter not in others]
        if others and "." not in letters and own == [letters[0]] and len(letters) > 1:
            return True
    return False


def _fails_cut(call: ast.Call, scope: Scope) -> bool:
    ref = scope.callee(call) or ""
    short = ref.rpartition(".")[2] if ref.startswith(("torch.", "Tensor.")) else ""
    if short in _WHERE_CUT or (short in _DERIVED and scope.value(call).dtype not in ("int", "bool")):
        return True
    return holds_layer(scope.value(call.func), _LAYERS_WHERE_CUT) and not ref.startswith("torch.nn.functional.")


def _fails_made(call: ast.Call, scope: Scope) -> bool:
    short = _of_torch(call, scope)
    value = scope.value(call)
    return short in _WHERE_MADE or (short in _DERIVED and bool(value.leaves) and value.dtype not in ("int", "bool"))


def _fails_of_argument(call: ast.Call, scope: Scope) -> bool:
    short = _of_torch(call, scope)
    return short in _OF_ARGUMENTS or (holds_layer(scope.value(call.func), _LAYERS_OF_ARGUMENTS) and not short)


def _of_torch(call: ast.Call, scope: Scope) -> str:
    """The name of a function of torch, or of a method of tensors, without where it stands; empty for others."""
    ref = scope.callee(call) or ""
    functions = ref.startswith(("torch.", "Tensor.")) and not (ref.startswith("torch.nn.") and "functional" not in ref)
    return ref.rpartition(".")[2] if functions else ""


def _is_returned(call: ast.Call, scope: Scope) -> bool:
    """Whether compiled code returns what a call gives: a tensor with a size that is computed of others."""
    value = scope.value(call)
    if _of_torch(call, scope) not in _COMPUTED_SIZES or not value.leaves or scope.compiled.callers:
        return False
    parent = scope.parents.get(call)
    places: list[ast.expr] = [call]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        places += scope.names(parent.targets[0].id)
    return any(_is_result(place, scope) for place in places)


def _is_result(node: ast.expr, scope: Scope) -> bool:
    around: ast.AST = node
    while isinstance(around, ast.expr):
        around = scope.parents[around]
        if not isinstance(around, ast.Tuple | ast.List | ast.Dict | ast.Return):
            return False
    return isinstance(around, ast.Return)


def holds_layer(value: Value, layers: tuple[str, ...] = _LAYERS) -> bool:
    """Whether a value is a layer of torch with such a name, or a sequence with one in it."""
    ref = value.ref or ""
    if ref.startswith("torch.nn.") and any(part in ref.rpartition(".")[2] for part in layers):
        return True
    parts = (*(value.elements or ()), *((value.element,) if value.element is not None else ()))
    return ref.endswith(".Sequential") and any(holds_layer(part, layers) for part in parts)


def _place(call: ast.expr) -> str:
    return f"line {call.lineno}: `{snippet(call)}`"


def _is_size(node: ast.expr, scope: Scope) -> bool:
    """Whether a number, or what is made of it, is a size somewhere, as far as this function shows."""
    for use in (node, *_holders(node, scope)):
        for part in (use, *scope.ancestors(use)):
            if isinstance(part, ast.stmt):
                break
            if isinstance(part, ast.Call) and (part in scope.facts.calls or scope.callee(part) is None):
                return True
            if isinstance(part, ast.expr) and integer_place(part, scope) is not None:
                return True
    return False


def _may_cut(call: ast.Call, scope: Scope) -> bool:
    """Whether a view may count pieces of its last dimension together with others: `x.view(-1, 4)` of rows of eight.

    The last size is taken for all of that dimension where it is one of a tensor; two fixed ones behind the dimension
    that is counted are heads and what each of these has. Pieces of one element come out right.
    """
    name = scope.callee(call) or ""
    if name not in _VIEWS:
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    tensor = call.func.value if isinstance(call.func, ast.Attribute) and name.startswith("Tensor.") else given.pop(0)
    if scope.value(tensor).rank == 1:
        return False
    sizes = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
    if any(isinstance(size, ast.Starred) for size in sizes):
        return True
    if len(sizes) == 1:
        return scope.value(sizes[0]).is_(Kind.CONTAINER)
    last = scope.value(sizes[-1]).const if sizes else None
    if last is not None and last.value == 1:
        return False  # an element for each row
    counted = [index for index, size in enumerate(sizes) if not _is_fixed(size, scope)]
    return bool(counted) and counted[-1] == len(sizes) - 2 and not _are_parts(sizes[-2], sizes[-1])


def _are_parts(count: ast.expr, size: ast.expr) -> bool:
    """Whether two sizes are those of one dimension that is cut: `w // 2, 2`."""
    return (
        isinstance(count, ast.BinOp) and isinstance(count.op, ast.FloorDiv) and ast.dump(count.right) == ast.dump(size)
    )


def _is_fixed(size: ast.expr, scope: Scope) -> bool:
    """Whether a size is the same in every call: a constant, or an attribute of a module."""
    const = scope.value(size).const
    if const is not None:
        return const.value != -1
    return isinstance(size, ast.Attribute) and not scope.value(size).is_(Kind.SIZE)
