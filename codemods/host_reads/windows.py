"""Slices of a fixed length that begin at a number read from a tensor: `x[:, n : n + 4]`, read or written.

As an index of that many places (`n + torch.arange(4)`) they need no number.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.host_reads.copies import becomes_copy
from compilefix.codemods.host_reads.number_flow import has_other_dtype
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in


@dataclass(frozen=True)
class Window:
    """A slice that begins at the number and has a fixed length.

    part: the slice in the index. parts: all parts of the index. written: the statement that writes there, if one does.
    between: what is written into between the second bound and the slice, and may hold the first one.
    """

    item: ast.Subscript
    part: ast.Slice
    parts: tuple[ast.expr, ...]
    first: ast.expr
    length: ast.expr
    written: ast.Assign | None = None
    between: tuple[ast.expr, ...] = ()

    def code(self, first: str, template: Template, scope: Scope) -> str:
        """The index of its places, where `first` is code for the number it begins at."""
        base = template.use(self.item.value, operand=True)
        length = template.use(self.length)
        if not Sizes(scope).never_negative(self.length):
            length = f"max({length}, 0)"  # such a slice is empty
        places = f"{first} + {torch_name(scope)}.arange({length}, device={base}.device)"
        if any(_is_places(part, scope) for part in self.parts):  # behind it: each place of this with all of those
            places = f"({places})[:, None]"
        given = [places if part is self.part else _code(part, template) for part in self.parts]
        return f"{base}[{', '.join(given)}]"

    def obstacles(self, scope: Scope) -> Iterator[Obstacle]:
        """What is not the same for an index of places."""
        yield from scope.legality.computed_again(self.item.value, scope.facts)
        if scope.value(self.length).is_unknown:
            yield Obstacle(f"`{snippet(self.length)}` is not proved to be a Python integer", "static-shape-values")
        if not scope.value(self.item.value).certain:
            yield Obstacle(f"`{snippet(self.item.value)}` is not proved to be a tensor", "is-tensor")
        reason = "is cut off at the end, or counts from it, where the rewritten code raises or goes round"
        yield Obstacle(f"`{snippet(self.item)}` {reason}", "index-in-range")
        for tensor in self.between:
            reason = f"`{snippet(tensor)}` may share memory with `{snippet(self.first)}`"
            yield Obstacle(f"{reason}: the slice would have another length", "no-aliasing")
        if self.written is None:
            yield from becomes_copy(self.item, scope)
            return
        if any(_read_before(self.item.value, self.written, scope)):
            reason = (
                f"what was computed of `{snippet(self.item.value)}` before it is written may be computed again then"
            )
            yield Obstacle(reason, "no-recompute")
        value, base = scope.value(self.written.value), scope.value(self.item.value)
        if not value.storage.isdisjoint(base.storage):
            yield Obstacle(f"`{snippet(self.written.value)}` may share memory with `{snippet(self.item.value)}`")
        if not value.is_(Kind.STATIC, Kind.SIZE) and not (
            value.rank == 0 and value.dtype_id == base.dtype_id is not None
        ):
            shown, item = snippet(self.written.value), snippet(self.item)
            if has_other_dtype(value, base):
                yield Obstacle(f"`{shown}` has another dtype than `{item}`, which an index refuses")
            reason = f"is not proved to have the shape and dtype of `{item}`: an index refuses another one"
            yield Obstacle(f"`{shown}` {reason}, with another text", "same-shape-dtype")


def _code(part: ast.expr, template: Template) -> str:
    if not isinstance(part, ast.Slice):
        return "..." if isinstance(part, ast.Constant) and part.value is Ellipsis else template.use(part)
    bounds = [part.lower, part.upper] + ([part.step] if part.step is not None else [])
    return ":".join("" if bound is None else template.use(bound) for bound in bounds)


def window_of(node: ast.expr, scope: Scope) -> Window | None:
    """The slice of fixed length that a number begins, where it stands in the slice's first bound or in its second."""
    parent = scope.parents.get(node)
    part = scope.parents.get(parent) if isinstance(parent, ast.BinOp) else parent
    if not isinstance(part, ast.Slice) or part.lower is None or part.upper is None or part.step is not None:
        return None
    # What a call reads would be read apart in each bound.
    if parent not in (part, part.upper) or any(isinstance(n, ast.Call) for n in ast.walk(part.lower)):
        return None
    item, parts = scope.parents.get(part), list[ast.expr]([part])
    if isinstance(item, ast.Tuple):
        parts = item.elts
        item = scope.parents.get(item)
    if not isinstance(item, ast.Subscript) or not _stays_there(part, parts, scope):
        return None
    written = scope.parents.get(item)
    if isinstance(item.ctx, ast.Load):
        written = None
    elif not isinstance(written, ast.Assign) or written.targets != [item]:
        return None
    if not isinstance(item.value, ast.Name | ast.Attribute):
        return None  # its device is asked for, too: it would be computed twice
    base = scope.value(item.value)
    length = _length(part, item, scope)
    if length is None or node is length or not base.is_tensor:
        return None
    store = written if isinstance(written, ast.Assign) else None
    return Window(item, part, tuple(parts), part.lower, length, store, tuple(_written_between(part, item, scope)))


def _stays_there(part: ast.Slice, parts: Sequence[ast.expr], scope: Scope) -> bool:
    """Whether an index in the place of a slice gives a result with the same dimensions.

    Behind it may be one other index, if nothing stands between: a second slice that became one, which is taken first.
    """
    at = parts.index(part)
    behind = list(parts[at + 1 :])
    if behind and _is_places(behind[0], scope):
        behind = behind[1:]
    return all(isinstance(p, ast.Slice) or _is_plain(p, scope) for p in parts[:at]) and all(
        _is_plain(p, scope) for p in behind
    )


def _is_plain(part: ast.expr, scope: Scope) -> bool:
    """Whether a part of an index is a slice with fixed bounds, a fixed number, an ellipsis or a new dimension."""
    if isinstance(part, ast.Constant) and part.value in (Ellipsis, None):
        return True
    bounds = (part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,)
    fixed = all(b is None or scope.value(b).is_(Kind.STATIC, Kind.SIZE) for b in bounds)
    return fixed and (isinstance(part, ast.Slice) or scope.value(part).dtype == "int")


def _is_places(part: ast.expr, scope: Scope) -> bool:
    """Whether a part of an index is a list of places, or a mask for one dimension."""
    value = scope.value(part)
    return value.is_tensor and value.certain and value.rank == 1


def _length(part: ast.Slice, item: ast.Subscript, scope: Scope) -> ast.expr | None:
    """What the second bound adds to the first, there or in the statement that gives it a name."""
    first, last = part.lower, part.upper
    if isinstance(last, ast.Name):
        last = _named(last, first, item, scope)
    if first is None or not isinstance(last, ast.BinOp) or not isinstance(last.op, ast.Add):
        return None
    sides = ((last.left, last.right), (last.right, last.left))
    length = next((other for side, other in sides if ast.unparse(side) == ast.unparse(first)), None)
    if length is None or scope.value(length).is_(Kind.STATIC, Kind.SIZE):
        return length
    return length if _is_given(length, scope) and not scope.value(first).is_(Kind.STATIC, Kind.SIZE) else None


def _is_given(length: ast.expr, scope: Scope) -> bool:
    """Whether a length of which nothing is known is a parameter, and not a number that the function itself reads."""
    parameters = {parameter.arg for parameter in scope.function.parameters}
    plain = isinstance(length, ast.Name) and length.id in parameters and not scope.names(length.id, stores=True)
    return plain and scope.value(length).is_unknown


def _named(last: ast.Name, first: ast.expr | None, item: ast.Subscript, scope: Scope) -> ast.expr | None:
    """What a name for the second bound was given, where that and what it is made of are still the same at the slice."""
    definition = scope.only_assignment(last.id)
    statement = scope.statement(item)
    if definition is None or not isinstance(first, ast.Name):
        return None
    if any(len(scope.names(n.id, stores=True)) > 1 for n in ast.walk(definition.value) if isinstance(n, ast.Name)):
        return None
    around = scope.parents.get(statement)
    block = next((b for b in (getattr(around, "body", ()), getattr(around, "orelse", ())) if statement in b), ())
    if definition not in block or block.index(definition) > block.index(statement):
        return None
    between = block[block.index(definition) + 1 : block.index(statement)]
    names = names_in(definition.value)
    return definition.value if all(_only_gives(s, names, scope) for s in between) else None


def _only_gives(statement: ast.stmt, names: Collection[str], scope: Scope) -> bool:
    """Whether a statement only gives other names values, or writes into a tensor."""
    if not isinstance(statement, ast.Assign):
        return False
    if scope.legality.effects.of(statement.value, scope.facts).mutates is not None:
        return False
    if any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
        return False
    return all(
        (isinstance(t, ast.Name) and t.id not in names)
        or (isinstance(t, ast.Subscript) and scope.value(t.value).is_tensor)
        for t in statement.targets
    )


def _read_before(memory: ast.expr, written: ast.stmt, scope: Scope) -> Iterator[bool]:
    """For each place that reads a tensor in front of a statement whether it reads elements, and not a size or dtype."""
    text, storage = ast.unparse(memory), scope.value(memory).storage
    places: list[ast.Name | ast.Attribute] = [*scope.of(ast.Name), *scope.of(ast.Attribute)]
    for node in places:
        same = isinstance(node.ctx, ast.Load) and node.lineno < written.lineno and ast.unparse(node) == text
        if same and may_share(scope.value(node).storage, storage):
            around = scope.parents.get(node)
            yield not (isinstance(around, ast.Attribute) and around.attr in _ASKED)


_ASKED = frozenset({"shape", "size", "dim", "ndim", "device", "dtype", "numel"})


def _written_between(part: ast.Slice, item: ast.Subscript, scope: Scope) -> Iterator[ast.expr]:
    """The tensors written into between the second bound and the slice that may share the memory of the first one."""
    if not isinstance(part.upper, ast.Name) or part.lower is None:
        return
    start, end = scope.statement(scope.names(part.upper.id, stores=True)[0]).lineno, scope.statement(item).lineno
    memory = scope.value(part.lower).storage
    for node in scope.of(ast.Assign):
        if start < node.lineno < end:
            written = (t.value for t in node.targets if isinstance(t, ast.Subscript))
            yield from (tensor for tensor in written if not scope.value(tensor).storage.isdisjoint(memory))
