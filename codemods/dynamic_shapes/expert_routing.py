"""How a loop over experts picks its tokens, and what it does with them.

    for expert in hit:                                # the experts that got tokens
        position, token = torch.where(mask[expert])   # which of its choices, and which token
        rows = layers[expert](hidden[token]) * weights[token, position, None]
        out.index_add_(0, token, rows)

`Routing` holds the names; `rows_of` says what each expression is: the same for all tokens, or one row for each token.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from compilefix.analysis import torch_api
from compilefix.codemods.dynamic_shapes.row_layers import row_layer
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal, is_whole
from compilefix.source.tree import elements_of, names_in

_ROW_FUNCTIONS = frozenset({"torch.nn.functional.linear", "torch.matmul", "torch.mm", "torch.nn.functional.embedding"})
_LAST_DIM = frozenset(
    {"chunk", "split", "tensor_split", "unbind", "softmax", "log_softmax", "sum", "mean", "layer_norm"}
)
_LAYOUTS = frozenset({"to", "type", "type_as", "contiguous", "clone", "detach", "float", "half", "bfloat16"})


@dataclass
class Routing:
    """The names of one loop turn.

    statement: `position, token = torch.where(mask)`. mask: what `torch.where` is given. token_first: whether its
    first result is the token, so that the mask is laid out as (token, choice). choices: the name of such a mask
    that is an index too, for the choice of each token. by_mask: whether the name for the tokens is a mask over
    them, and `whole` the name of the mask of which it is the elements in line. also: other names for the tokens and
    the positions, and copies: the statements that give them. rows: the names of what has one row for each token;
    numbers: those of them that have one number for each.
    """

    statement: ast.Assign
    mask: ast.expr
    token: str
    position: str
    token_first: bool
    choices: str = ""
    by_mask: bool = False
    whole: str = ""
    also: dict[str, str] = field(default_factory=dict)
    copies: list[ast.stmt] = field(default_factory=list)
    rows: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    layers: list[ast.expr] = field(default_factory=list)
    selections: list[ast.Subscript] = field(default_factory=list)
    refusal: str | None = None

    def refuse(self, reason: str) -> None:
        """Note the first reason why the loop stays."""
        self.refusal = self.refusal or reason

    def picks(self, node: ast.expr) -> bool:
        """Whether an expression takes one row for each token: `h[token]`, `w[token, position, None]`."""
        if not isinstance(node, ast.Subscript):
            return False
        parts = elements_of(node.slice)
        return any(isinstance(p, ast.Name) and p.id in self.indices for p in parts)

    @property
    def indices(self) -> frozenset[str]:
        """The names by which rows are picked."""
        return frozenset({self.token, self.position, self.choices, *self.also} - {""})

    def mentions(self, node: ast.AST) -> bool:
        """Whether an expression depends on the tokens."""
        names = self.indices | self.rows
        return not names_in(node).isdisjoint(names)


def routing_of(statement: ast.stmt, loop: ast.For, scope: Scope) -> Routing | None:
    """The routing that a statement `a, b = torch.where(mask)` begins in a loop."""
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], ast.Tuple)
        or not isinstance(statement.value, ast.Call)
        or scope.callee(statement.value) != "torch.where"
        or len(statement.value.args) != 1
        or statement.value.keywords
    ):
        return None
    names = [t.id for t in statement.targets[0].elts if isinstance(t, ast.Name)]
    if len(names) != 2 or len(statement.targets[0].elts) != 2:
        return None
    routing = Routing(statement, statement.value.args[0], names[1], names[0], False)
    guarded = (s.body for s in loop.body if isinstance(s, ast.If) and routing.mentions(s.test))
    for block in (loop.body, *guarded):
        for copied in block:
            if (pair := _copy_of(names, copied, scope)) is not None:
                routing.also.update([pair])
                routing.copies.append(copied)
    return routing


def _copy_of(names: Sequence[str], statement: ast.stmt, scope: Scope) -> tuple[str, str] | None:
    """The two names of `tokens = token`, where nothing else gives the first a value."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    name, value = statement.targets[0], statement.value
    if not isinstance(name, ast.Name) or not isinstance(value, ast.Name) or value.id not in names:
        return None
    return (name.id, value.id) if len(scope.names(name.id, stores=True)) == 1 else None


def is_rows(node: ast.expr, routing: Routing, scope: Scope) -> bool:
    """Whether an expression has one row for each token, each made of that token alone. Notes a reason where not."""
    if not routing.mentions(node):
        return False
    if isinstance(node, ast.Name):
        return node.id in routing.rows or _refused(routing, f"`{node.id}` is used other than as an index")
    if routing.picks(node):
        assert isinstance(node, ast.Subscript)
        routing.selections.append(node)
        return not routing.mentions(node.value) or _refused(routing, f"`{snippet(node)}` picks rows of rows")
    if isinstance(node, ast.BinOp):
        right = not isinstance(node.op, ast.MatMult) or not routing.mentions(node.right)
        parts = [part for part in (node.left, node.right) if routing.mentions(part)]
        right = right and all(is_rows(part, routing, scope) for part in parts)
        alike = len({are_numbers(part, routing, scope) for part in parts}) == 1
        return (right and alike) or _refused(routing, f"`{snippet(node)}` mixes the rows")
    if isinstance(node, ast.UnaryOp):
        return is_rows(node.operand, routing, scope)
    if isinstance(node, ast.Subscript):
        behind = _adds_dimension(node.slice) or not are_numbers(node.value, routing, scope)
        return (_keeps_rows(node.slice) and behind and is_rows(node.value, routing, scope)) or _refused(
            routing, f"`{snippet(node)}` picks among the rows"
        )
    if isinstance(node, ast.Call):
        return _is_call_rows(node, routing, scope)
    return _refused(routing, f"`{snippet(node)}` is not known to treat each row by itself")


def _is_call_rows(node: ast.Call, routing: Routing, scope: Scope) -> bool:
    name = scope.callee(node) or ""
    short = name.rpartition(".")[2]
    reason = f"`{snippet(node)}` is not known to treat each row by itself"
    effects = scope.legality.effects.of(node, scope.facts)
    for effect in (effects.random, effects.mutates):
        if effect is not None:
            return _refused(routing, f"a layer is not free of effects: {effect}")
    arguments = [*node.args, *(k.value for k in node.keywords)]
    tensors = [a for a in arguments if routing.mentions(a)]
    if name.startswith("Tensor.") or (isinstance(node.func, ast.Attribute) and routing.mentions(node.func.value)):
        assert isinstance(node.func, ast.Attribute)
        receiver = node.func.value
        if not is_rows(receiver, routing, scope) or not all(is_rows(t, routing, scope) for t in tensors):
            return False
        api = torch_api.method(node.func.attr)
        plain = node.func.attr in _LAYOUTS or (api is not None and api.pointwise and not api.mutates and not api.random)
        along = _last_dim(node, node.func.attr, node.args) and not _along_rows(node, node.func.attr, routing, scope)
        return plain or along or _refused(routing, reason)
    if not all(is_rows(t, routing, scope) for t in tensors):
        return False
    api = torch_api.function(name)
    if api is not None:
        rowwise = api.pointwise or (name in _ROW_FUNCTIONS and tensors == node.args[:1])
        along = _last_dim(node, short, node.args[1:]) and not _along_rows(node, short, routing, scope)
        return rowwise or along or _refused(routing, reason)
    listed = name == "torch.nn.Sequential"
    if listed and not row_layer(scope.value(node.func)):
        return _refused(routing, reason)
    if name.startswith(("torch.", "numpy.", "math.")) and torch_api.module(name) is None and not listed:
        return _refused(routing, reason)
    if isinstance(node.func, ast.Name) and name == node.func.id and name in _BUILTINS:
        return _refused(routing, reason)
    routing.layers.append(node.func)
    return True


_BUILTINS = frozenset({"len", "int", "float", "bool", "sum", "max", "min", "list", "range", "zip", "print", "sorted"})


def _last_dim(node: ast.Call, short: str, args: Sequence[ast.expr]) -> bool:
    """Whether a call works along the last dimension, or keeps the rows in the first."""
    if short in ("unsqueeze", "squeeze"):
        return len(args) == 1 and ast.unparse(args[0]) in ("-1", "1")
    if short in ("view", "reshape"):
        return len(args) == 2 and ast.unparse(args[0]) == "-1"
    dim = next((k.value for k in node.keywords if k.arg == "dim"), None)
    if dim is None and short in ("chunk", "split", "tensor_split"):
        dim = args[1] if len(args) == 2 else None
    elif dim is None:
        dim = args[0] if args else None
    return short in _LAST_DIM and dim is not None and ast.unparse(dim) == "-1"


def _along_rows(node: ast.Call, short: str, routing: Routing, scope: Scope) -> bool:
    """Whether the last dimension, along which a call works, is that of the tokens."""
    return short in _LAST_DIM and any(are_numbers(part, routing, scope) for part in _given(node, routing))


def _given(node: ast.Call, routing: Routing) -> list[ast.expr]:
    """The rows that a call is given, or is a method of."""
    own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [part for part in (*own, *node.args, *(k.value for k in node.keywords)) if routing.mentions(part)]


def are_numbers(node: ast.expr, routing: Routing, scope: Scope) -> bool:
    """Whether rows are seen to have one number each, so that their last dimension is that of the tokens."""
    if isinstance(node, ast.Name):
        return node.id in routing.numbers
    if isinstance(node, ast.UnaryOp):
        return are_numbers(node.operand, routing, scope)
    if isinstance(node, ast.Subscript) and routing.picks(node):
        parts = elements_of(node.slice)
        if len(parts) > 1:
            return not any(isinstance(p, ast.Slice) or is_literal(p, None) or is_literal(p, ...) for p in parts)
        return scope.value(node.value).rank == 1 or ast.unparse(parts[0]) == routing.choices
    if isinstance(node, ast.Subscript):
        index = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if is_literal(index, None):
            return False
        return not isinstance(index, ast.Slice) or are_numbers(node.value, routing, scope)
    if isinstance(node, ast.BinOp):
        return any(are_numbers(part, routing, scope) for part in (node.left, node.right) if routing.mentions(part))
    if not isinstance(node, ast.Call):
        return False
    short = (scope.callee(node) or ast.unparse(node.func)).rpartition(".")[2]
    given = _given(node, routing)
    if short in ("sum", "mean"):
        arguments = node.args[1:] if given and given[0] in node.args else node.args
        return _last_dim(node, short, arguments) and not any(k.arg == "keepdim" for k in node.keywords)
    if short == "squeeze" and given and _has_one_column(given[0]):
        return True
    if short in ("unsqueeze", "view", "reshape", "linear", "embedding"):
        return False
    return bool(given) and all(are_numbers(part, routing, scope) for part in given)


def _has_one_column(node: ast.expr) -> bool:
    """Whether a last dimension of one element is seen to have been added: `w[..., None]`, `w.unsqueeze(-1)`."""
    if isinstance(node, ast.Subscript):
        return _adds_dimension(node.slice)
    unsqueezed = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze"
    return unsqueezed or (isinstance(node, ast.Call) and any(k.arg == "keepdim" for k in node.keywords))


def _adds_dimension(index: ast.expr) -> bool:
    return isinstance(index, ast.Tuple) and bool(index.elts) and is_literal(index.elts[-1], None)


def _keeps_rows(index: ast.expr) -> bool:
    """Whether an index leaves the first dimension as it is: `[..., ::2]`, `[:, None]`."""
    if not isinstance(index, ast.Tuple) or not index.elts:
        return False
    first = index.elts[0]
    return len(index.elts) == 2 and (is_whole(first) or is_literal(first, ...))


def _refused(routing: Routing, reason: str) -> bool:
    routing.refuse(reason)
    return False
