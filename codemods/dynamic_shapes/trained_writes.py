"""Masked elements that get what training changes: `x[mask] = self.mask_token`, `x[mask] = self.project(features)`.

Nothing is read, and forward the statement is compiled as it is. The gradient of what is written is that of the masked
elements, as many as the mask has true values: where the model trains, AOTAutograd meets `aten.nonzero` as it traces the
backward pass, and Dynamo ends the graph there (GB0219), which `fullgraph=True` refuses.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.added_rows import ALONE, AddedRows, accumulated
from compilefix.codemods.dynamic_shapes.masks import Mask, whole_mask
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import where
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

_CONVERSIONS = frozenset({"to", "type", "type_as", "float", "half", "bfloat16", "double", "contiguous"})
_UNTRAINED = (
    "Dropout",
    "Pool",
    "ReLU",
    "GELU",
    "SiLU",
    "Identity",
    "Flatten",
    "Upsample",
    "Softmax",
    "Tanh",
    "Sigmoid",
)
_MATRIX = 2


@dataclass(frozen=True)
class TrainedWrite:
    """`x[mask] = value` where `value` hangs on a parameter: `memory` is `x`."""

    statement: ast.Assign
    memory: ast.expr
    mask: Mask
    value: ast.expr


def trained_write(node: ast.stmt, scope: Scope) -> TrainedWrite | None:
    """The masked write of a statement, where a parameter of the class is written or what is computed of one."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target = node.targets[0]
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name | ast.Attribute):
        return None
    value = scope.value(node.value)
    if not value.is_tensor or value.dtype in ("bool", "int"):
        return None
    handed = handed_attributes(node.value, scope)
    trained = value.leaves if handed is None else [f"self.{name}" for name in handed]
    if not any(_is_trained(leaf, scope) for leaf in trained) or (handed is not None and not _are_rows(handed, scope)):
        return None
    mask = whole_mask(target, scope) or _named(target, scope)
    return None if mask is None else TrainedWrite(node, target.value, mask, node.value)


def _named(target: ast.Subscript, scope: Scope) -> Mask | None:
    """An index that is called a mask somewhere in its name (`mask_time_indices`), and is not known to be another one.

    One that is declared to hold floats is not taken at its word: no tensor of floats is an index.
    """
    index = target.slice
    last = index.id if isinstance(index, ast.Name) else index.attr if isinstance(index, ast.Attribute) else ""
    value = scope.value(index)
    if "mask" not in last or not value.may_be(Kind.TENSOR) or value.dtype in ("int", "complex") or value.rank == 0:
        return None
    return Mask(index, index)


def selected(found: TrainedWrite, template: Template, scope: Scope) -> str:
    """The statements that select what is written; what stands against it is noted in the template."""
    elements = Elements(found.mask, scope, found.statement)
    template.refuse(scope.recomputed(found.mask.node, set(ast.walk(found.statement))))
    mask = scope.value(found.mask.node)
    if not mask.is_tensor:
        template.refuse([Obstacle(f"`{snippet(found.mask.node)}` is not proved to be a tensor", "boolean-mask")])
    if not _is_row(found, scope):
        if found.mask.leading or found.mask.last:
            template.refuse([Obstacle(f"`{snippet(found.value)}` may have a row for each true value")])
            return ""
        rows = AddedRows(found.memory, found.mask, found.value, ALONE)
        return accumulated(rows, found.statement, elements, template)
    memory, value = scope.value(found.memory), scope.value(found.value)
    if not memory.certain or not value.certain:
        unproved = found.value if memory.certain else found.memory
        template.refuse([Obstacle(f"`{snippet(unproved)}` is not proved to be a tensor", "is-tensor")])
    if memory.dtype_id is None or memory.dtype_id != value.dtype_id:
        reason = f"`{snippet(found.value)}` is not proved to have the dtype of `{snippet(found.memory)}`"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    reason = f"`{snippet(found.value)}` is not proved to be one row for all true values of `{snippet(found.mask.node)}`"
    template.refuse([Obstacle(reason, "same-shape-dtype")])
    if overlaps(found.memory, scope):
        template.refuse([Obstacle(f"elements of `{snippet(found.memory)}` may share memory: `copy_` refuses that")])
    name, over = template.use(found.memory), elements.over(found.memory, template)
    line = f"{name}.copy_({where(scope)}({over}, {template.use(found.value)}, {name}))"
    template.refuse(elements.obstacles)
    named = [f"{free} = {template.use(part)}" for free, part in elements.hoists.items()]
    return "\n".join([*named, elements.with_names(line, template)])


def _is_row(found: TrainedWrite, scope: Scope) -> bool:
    """Whether a parameter is written that is one row, perhaps in another dtype: a mask token.

    It has one dimension or none, or the ones before its last one have one element.
    """
    node = found.value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERSIONS:
        node = node.func.value
    rank, whole = scope.value(found.value).rank, scope.value(found.memory).rank
    masked = scope.value(found.mask.node).rank
    if isinstance(node, ast.Subscript) and rank in (0, 1):  # one of several tokens
        place = scope.value(node.slice)
        node = node.value if place.is_(Kind.STATIC, Kind.SIZE) and place.dtype == "int" else node
    handed = handed_attributes(node, scope)
    if handed is not None:
        return _are_rows(handed, scope)
    if rank is None or not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "self":
        return False
    if rank > 1:
        made = _made(node.attr, scope)
        fits = rank == _MATRIX or (whole is not None and rank <= whole)
        return fits and made is not None and _has_one_row(made[0], rank)
    return rank == 0 or whole is None or masked is None or masked < whole


def handed_attributes(node: ast.expr, scope: Scope) -> list[str] | None:
    """The attributes of the object that an argument is in all calls of a method; None for any other expression.

    In `self.padded(x, self.pad_token)` and `self.padded(y, self.other_token)` these are `pad_token` and `other_token`.
    """
    function = scope.function
    parameters = [p.arg for p in function.parameters]
    if function.cls is None or function.is_static or not isinstance(node, ast.Name) or node.id not in parameters[1:]:
        return None
    if scope.names(node.id, stores=True):
        return None
    position = parameters.index(node.id) - 1
    found: list[str] = []
    for caller in function.module.all_functions:
        facts = scope.legality.inference.facts(caller)
        for call in (c for c in caller.of(ast.Call) if facts.calls.get(c) is function):
            keyword = next((k.value for k in call.keywords if k.arg == node.id), None)
            plain = not any(isinstance(a, ast.Starred) for a in call.args)
            given = keyword or (call.args[position] if plain and position < len(call.args) else None)
            own = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self"
            if caller.cls is not function.cls or not own or not isinstance(given, ast.Attribute):
                return None
            if ast.unparse(given.value) != "self":
                return None
            found.append(given.attr)
    return found or None


def _is_trained(leaf: str, scope: Scope) -> bool:
    """Whether a tensor that a value hangs on for sure is a parameter of the class, or belongs to a layer of it."""
    cls = scope.function.cls
    owner, _, path = leaf.partition(".")
    if cls is None or owner != "self":
        return False
    made = _made(path.partition(".")[0], scope)
    return made is not None and _makes_trained(*made, scope)


def _made(name: str, scope: Scope) -> tuple[ast.Call, Class] | None:
    """The call that makes an attribute of the class, and the class that it stands in; None where several may."""
    cls = scope.function.cls
    for base in scope.legality.inference.project.ancestors(cls) if cls is not None else ():
        nodes = walk(base.node) if isinstance(base, Class) else []
        values = [n.value for n in nodes if isinstance(n, ast.Assign) and any(_is_own(t, name) for t in n.targets)]
        if values and isinstance(base, Class):
            made = values[0]
            return (made, base) if len(values) == 1 and isinstance(made, ast.Call) else None
    return None


def _is_own(node: ast.expr, name: str) -> bool:
    """Whether an expression is the attribute of this name of the object itself."""
    own = isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name)
    return own and node.value.id == "self"  # type: ignore[attr-defined]


def _are_rows(names: Sequence[str], scope: Scope) -> bool:
    """Whether all of these attributes are made as matrices of one row."""
    made = [_made(name, scope) for name in names]
    return all(one is not None and _has_one_row(one[0], _MATRIX) for one in made)


def _has_one_row(made: ast.Call, rank: int) -> bool:
    """Whether a parameter is made of `torch.zeros(1, 1, width)`: all sizes but the last are written, and 1."""
    inner = made.args[0] if made.args else None
    sizes = inner.args if isinstance(inner, ast.Call) else []
    if sizes and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    return len(sizes) == rank and all(isinstance(size, ast.Constant) and size.value == 1 for size in sizes[:-1])


def _makes_trained(call: ast.Call, cls: Class, scope: Scope) -> bool:
    made = cls.module.qualified(call.func) or ""
    if made in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        trains = [k.value for k in call.keywords if k.arg == "requires_grad"] + call.args[1:2]
        return not any(isinstance(value, ast.Constant) and value.value is False for value in trains)
    if made.startswith("torch.nn."):
        return not any(part in made for part in _UNTRAINED)
    return isinstance(scope.legality.inference.project.resolve(made), Class)
