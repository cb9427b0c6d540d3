"""Boolean masks as indices: which index is one, and how it is laid over the tensor that it selects from."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from compilefix.analysis.docstrings import listed_parameters
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import ARRAYS, Kind
from compilefix.codemods.dynamic_shapes.mask_dimensions import of_rows, same_dimensions, spans
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal, is_whole
from compilefix.source.tree import elements_of


@dataclass(frozen=True)
class Mask:
    """A boolean tensor in an index.

    index: the whole index, as it is written. leading: the number of full slices before the mask. last: whether
    an ellipsis stands before it, so that it ends with the tensor's last dimension. broadcast: whether mask and tensor
    are broadcast together, as `masked_select` does.
    """

    index: ast.expr
    node: ast.expr
    leading: int = 0
    last: bool = False
    broadcast: bool = False

    def same(self, subscript: ast.Subscript) -> bool:
        """Whether another tensor is indexed in the same way."""
        if self.broadcast:
            return False
        parts = _parts(subscript)
        return is_same(parts[-1], self.node) and _before(parts) == (self.leading, self.last)

    def elsewhere(self, subscript: ast.Subscript) -> bool:
        """Whether the mask may stand on another device in an index that is the same."""
        return ast.dump(_parts(subscript)[-1]) != ast.dump(self.node)


class _OnOneDevice(ast.NodeTransformer):
    """Leaves out the moves `x.to(y.device)`, which change no value."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        moved = moved_beside(node)
        return self.generic_visit(node) if moved is None else self.visit(moved[0])


def moved_beside(node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The tensor that is moved to the device of another one, and that one: `x.to(y.device)`."""
    target = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "to" or not isinstance(target, ast.Attribute):
        return None
    return (node.func.value, target.value) if target.attr == "device" else None


def is_same(one: ast.expr, other: ast.expr) -> bool:
    """Whether two masks are written alike, but for the devices that they are moved to."""
    if ast.dump(one) == ast.dump(other):
        return True
    texts = (ast.unparse(one), ast.unparse(other))
    if not all(".device)" in text for text in texts):
        return False
    first, second = (ast.dump(_OnOneDevice().visit(ast.parse(text, mode="eval"))) for text in texts)
    return first == second


def same_mask(one: Mask, other: Mask) -> bool:
    """Whether two masks select the same elements of a tensor, as they are written."""
    return (one.leading, one.last, one.broadcast) == (other.leading, other.last, other.broadcast) and (
        is_same(one.node, other.node)
    )


def masked_select_of(node: ast.expr, scope: Scope) -> tuple[ast.expr, Mask] | None:
    """The tensor and the mask of `torch.masked_select(x, mask)` and `x.masked_select(mask)`."""
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node)
    keywords = {k.arg or "": k.value for k in node.keywords}
    given = list(node.args)
    if name == "Tensor.masked_select" and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    elif name != "torch.masked_select":
        return None
    arguments = dict(zip(("input", "mask"), given, strict=False)) | keywords
    if set(arguments) != {"input", "mask"} or len(given) > 2 or any(isinstance(a, ast.Starred) for a in given):
        return None
    mask = arguments["mask"]
    return arguments["input"], Mask(mask, mask, broadcast=True)


def mask_of(node: ast.Subscript, scope: Scope) -> ast.expr | None:
    """The boolean tensor that a tensor is indexed with: it is proved to be one, or its name says so."""
    if not scope.value(node.value).is_tensor:
        return None
    parts = elements_of(node.slice)
    return next((part for part in parts if is_mask(part, scope) or seems_mask(part, scope)), None)


def whole_mask(node: ast.Subscript, scope: Scope, *, of_numbers: bool = False) -> Mask | None:
    """The mask of an index that holds nothing but it: `x[m]`, `x[:, m]`, `x[..., m]`, `x[m, :]`.

    Not one without dimensions, unless that is asked for (of_numbers), and `x` has none either.
    """
    found = mask_of(node, scope)
    if found is None:
        return None
    parts = _parts(node)
    if scope.value(found).rank == 0 and not (of_numbers and len(parts) == 1 and scope.value(node.value).rank == 0):
        return None
    before = _before(parts)
    if parts[-1] is not found or before is None:
        return None
    return Mask(node.slice, found, leading=before[0], last=before[1])


def _parts(node: ast.Subscript) -> list[ast.expr]:
    """The parts of an index, without full slices and an ellipsis at its end: these change nothing."""
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    while len(parts) > 1 and (is_whole(parts[-1]) or is_literal(parts[-1], ...)):
        parts.pop()
    return parts


def _before(parts: list[ast.expr]) -> tuple[int, bool] | None:
    """How many full slices stand before the last part, and whether an ellipsis does; None for something else."""
    if len(parts) == 2 and is_literal(parts[0], ...):
        return 0, True
    return (len(parts) - 1, False) if all(is_whole(part) for part in parts[:-1]) else None


def is_mask(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is proved to be a boolean tensor."""
    value = scope.value(node)
    return value.is_tensor and value.dtype == "bool" and not _is_index(node, scope)


_REARRANGES = frozenset(
    {"squeeze", "unsqueeze", "view", "reshape", "flatten", "transpose", "permute", "t", "expand", "contiguous"}
)


def seems_mask(node: ast.expr, scope: Scope) -> bool:
    """Whether a tensor of unknown dtype, or what nothing is known of, is called a mask, negated, or made of such.

    `x[~chosen]` takes what is not chosen: places that count from the end are written with a minus, and `x[chosen]`
    beside it, or of a part of it, takes the others. A product of masks
    is one, which is how some write `&`. So is what is compared, as `x[cost > limit]`: no tensor is indexed with True.
    """
    value = scope.value(node)
    unknown = value.is_unknown or value.kinds == ARRAYS
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        operand = scope.value(node.operand)
        opposite = operand.is_unknown or operand.kinds == ARRAYS or operand.is_tensor
        return seems_mask(node.operand, scope) or (opposite and operand.dtype in (None, "bool"))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.Mult):
        sides = (node.left, node.right)
        return all(seems_mask(side, scope) or is_mask(side, scope) for side in sides)
    if value.kinds == ARRAYS and value.dtype == "bool":
        return True
    if isinstance(node, ast.Compare):
        return unknown and _compares_values(node, scope)
    joined = isinstance(node, ast.Call) and len(node.args) > 0 and scope.callee(node) in ("torch.cat", "torch.stack")
    named = node.args[0] if joined and isinstance(node, ast.Call) else node
    while (inner := _rearranged(named)) is not None:
        named = inner
    if not unknown and not (value.is_tensor and value.dtype is None):
        return False
    return named_mask(named, scope) or _is_negated(named, scope)


_MASK = re.compile(r"masks?(_?[0-9]+|_[a-z])?_*$")


def _rearranged(node: ast.expr) -> ast.expr | None:
    """What an expression has elements of, in their dtype: `m.view(-1)`, `m[:, 1:]`."""
    if isinstance(node, ast.Subscript):
        return node.value
    method = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return method.value if method is not None and method.attr in _REARRANGES else None


def _is_said_to_list(node: ast.expr, scope: Scope) -> bool:
    """Whether a docstring says of an argument, or of what an attribute is named after, that it lists places.

    So does an `__init__` that keeps a list there: `self.anchor_mask = anchor_mask or list(range(9))`.
    """
    function, cls = scope.function, scope.function.cls
    if isinstance(node, ast.Name):
        return node.id in listed_parameters(function.node)
    if not isinstance(node, ast.Attribute) or cls is None or ast.unparse(node.value) != "self":
        return False
    made = cls.methods.get("__init__")
    if made is not None and any(_keeps_list(node.attr, statement) for statement in made.of(ast.Assign)):
        return True
    texts = [cls.node] if made is None else [cls.node, made.node]
    return any(node.attr in listed_parameters(text) for text in texts)


def _keeps_list(name: str, statement: ast.Assign) -> bool:
    """Whether a statement gives an attribute of that name a list, or may give it one."""
    if not any(isinstance(target, ast.Attribute) and target.attr == name for target in statement.targets):
        return False
    value = statement.value
    sides = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    sides = value.values if isinstance(value, ast.BoolOp) else sides
    return any(
        isinstance(side, ast.List | ast.ListComp)
        or (isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id in ("list", "range"))
        for side in sides
    )


def _asks_for_bits(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)


def _is_negated(node: ast.expr, scope: Scope) -> bool:
    """Whether a name or attribute stands behind `~` elsewhere in the function, as masks do.

    An attribute may hold the bits of settings, of which `~` takes the others: `~self.flags & 1`.
    """
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    opposites = (n for n in scope.of(ast.UnaryOp) if isinstance(n.op, ast.Invert))
    if isinstance(node, ast.Attribute):
        opposites = (n for n in opposites if not _asks_for_bits(scope.parents.get(n)))
    negated = (n.operand for n in opposites)
    return any(type(n) is type(node) and ast.unparse(n) == ast.unparse(node) for n in negated)


def _compares_values(node: ast.Compare, scope: Scope) -> bool:
    """Whether a comparison is one of numbers or tensors, as far as its two sides show."""
    sides = [scope.value(side) for side in (node.left, node.comparators[0])]
    numbers = all(not s.is_(Kind.NONE) and (s.const is None or type(s.const.value) in (int, float)) for s in sides)
    order = isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE | ast.Eq | ast.NotEq)
    return len(node.ops) == 1 and order and numbers


def named_mask(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a name or attribute that says `mask`, and nothing shows that it lists places.

    That of one turn or part may have a letter or number behind it: `fg_mask_i`, `mask2`. A docstring may say what it
    is, and so does what the name is given elsewhere in the function: `mask = (x > 0).nonzero()`.
    """
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    last = node.id if isinstance(node, ast.Name) else node.attr
    # Most names say something else, and the text of an expression takes time to make.
    named = "mask" in last and _MASK.search(snippet(node).rpartition(".")[2]) is not None
    return named and not _is_said_to_list(node, scope) and not _is_given_places(node, scope)


def _is_given_places(node: ast.expr, scope: Scope) -> bool:
    """Whether a name is given a tensor of integers somewhere in the function."""
    stores = scope.names(node.id, stores=True) if isinstance(node, ast.Name) else ()
    given = (scope.parents.get(store) for store in stores)
    values = (scope.value(one.value) for one in given if isinstance(one, ast.Assign) and len(one.targets) == 1)
    return any(value.is_tensor and value.dtype == "int" for value in values)


def boolean(mask: ast.expr, scope: Scope) -> list[Obstacle]:
    """What is not proved of a mask: a tensor of integers would be rows to take, and the selection raises."""
    value = scope.value(mask)
    if value.is_tensor and value.dtype == "bool":
        return []
    return [Obstacle(f"`{snippet(mask)}` is not proved to be boolean", "boolean-mask")]


def laid_over(
    mask: Mask, tensor: ast.expr, scope: Scope, code: str, names: tuple[str | None, str | None] = (None, None)
) -> tuple[str, list[Obstacle]]:
    """Code for the mask with the dimensions of a tensor, and what is not proved.

    An index aligns the mask with the first dimensions, broadcasting with the last. `code` is how the mask is written,
    an atom. Where the shapes do not fit the index raises, and the selection may not. `names` are those that mask and
    tensor get before the code, where they have none.
    """
    if mask.broadcast:
        return code, []
    value, over = scope.value(mask.node), scope.value(tensor)
    unproved = Obstacle(
        f"`{snippet(mask.node)}` is not proved to have the shape of `{snippet(tensor)}`", "same-shape-dtype"
    )
    if value.shape_id is not None and value.shape_id == over.shape_id and not mask.leading:
        return code, []
    if not mask.leading and of_rows(value, over):
        reason = f"`{snippet(tensor)}` is not proved to have a dimension: `{snippet(mask.node)}` keeps those of none"
        return f"{code}[..., None]", [] if over.dimensioned else [Obstacle(reason, "enough-dimensions")]
    if mask.last or (not mask.leading and spans(mask.node, over.shape_id, scope)):
        return code, [unproved]
    if value.rank is not None and over.rank is not None:
        missing = over.rank - mask.leading - value.rank
        if missing < 0:
            return code, [Obstacle(f"`{snippet(mask.node)}` has more dimensions than `{snippet(tensor)}`")]
        return (f"{code}[{', '.join(['...', *['None'] * missing])}]" if missing else code), [unproved]
    behind = f" - {mask.leading}" if mask.leading else ""
    counted = names[0] or same_dimensions(mask.node, scope)
    whole = names[1] or (ast.unparse(tensor) if has_place(tensor, scope) else None)
    if counted is None or whole is None:
        return code, [UNNAMED]
    if counted == whole and not mask.leading:
        return code, []  # `x[x > 0]`
    missing_code = f"{whole}.dim(){behind} - {counted}.dim()"
    return f"{code}[(...,) + (None,) * ({missing_code})]", [unproved]


def has_place(node: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is a name, an attribute or an item at a fixed index of one: to read it again gives it again."""
    if isinstance(node, ast.Name | ast.Attribute):
        return True
    if not isinstance(node, ast.Subscript) or any(isinstance(part, ast.Call) for part in ast.walk(node)):
        return False
    parts = elements_of(node.slice)
    fixed = all(scope.value(part).is_(Kind.STATIC, Kind.SIZE, Kind.NONE) for part in parts)
    return fixed and scope.value(node.value).is_(Kind.TENSOR, Kind.CONTAINER) and has_place(node.value, scope)


UNNAMED = Obstacle("the number of dimensions is not known, and mask or tensor has no name to ask it of")


def _is_index(node: ast.expr, scope: Scope, seen: frozenset[str] = frozenset()) -> bool:
    """Whether the tensor is one of the indices that `torch.where(condition)` gives, whatever its argument is."""
    if isinstance(node, ast.Subscript):
        return _is_index(node.value, scope, seen)
    if isinstance(node, ast.Call):
        return scope.callee(node) == "torch.where" and len(node.args) == 1 and not node.keywords
    if not isinstance(node, ast.Name) or node.id in seen:
        return False
    for store in scope.names(node.id, stores=True):
        target = scope.parents.get(store)
        statement = scope.parents.get(target) if isinstance(target, ast.Tuple | ast.List) else target
        if (
            isinstance(statement, ast.Assign)
            and statement.value is not node
            and isinstance(statement.value, ast.Call | ast.Subscript)
            and _is_index(statement.value, scope, seen | {node.id})
        ):
            return True
    return False
