"""What functions return, value by value: `return loss, {"loss": loss, "parts": [a, b]}` holds four."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.codemods.rule import Scope

_VALUE = "compilefix_value"


@dataclass(frozen=True)
class Returned:
    """The values that are returned on each way out, place by place, and the form that they stand in.

    form: the text of what is returned, with `compilefix_value` in the place of each value.
    """

    elements: tuple[tuple[ast.expr, ...], ...]
    form: str

    def code(self, values: Sequence[str]) -> str:
        """The text of what is returned, with code for each of its values."""
        given = iter(values)
        text = self.form.replace("{", "{{").replace("}", "}}")
        return re.sub(_VALUE, lambda _: next(given), text)


def returned_of(ways: Sequence[ast.expr], scope: Scope) -> Returned | None:
    """What several ways out return, where all of it has the same form: tuples, lists and dictionaries with the same
    keys in the same order."""
    kinds = {_kind(way, scope) for way in ways}
    if len(kinds) != 1:
        return None
    elements = tuple(zip(*(tuple(values_of(way, scope)) for way in ways), strict=True))
    form = _form(ways[-1], scope)
    return Returned(elements, form[1:-1].removesuffix(",") if isinstance(ways[-1], ast.Tuple) else form)


def values_of(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """The values in what is returned, in the order in which they are computed."""
    parts = _parts(node, scope)
    if parts is None:
        yield node
    for _, part in parts or ():
        yield from values_of(part, scope)


def _parts(node: ast.expr, scope: Scope) -> list[tuple[str, ast.expr]] | None:
    """The parts of a tuple, list or dictionary that is written out, with their keys; None for what is one value."""
    if isinstance(node, ast.Tuple | ast.List) and node.elts:
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else [("", e) for e in node.elts]
    if isinstance(node, ast.Dict) and node.keys:
        keys = [k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        plain = len(set(keys)) == len(node.keys)
        return list(zip(keys, node.values, strict=True)) if plain else None
    if isinstance(node, ast.Call) and node.keywords and not node.args and scope.callee(node) == "dict":
        named = [(k.arg, k.value) for k in node.keywords if k.arg is not None]
        return named if len(named) == len(node.keywords) else None
    return None


def _kind(node: ast.expr, scope: Scope) -> str:
    """A text that is the same for what has the same form."""
    parts = _parts(node, scope)
    if parts is None:
        return _VALUE
    kind = "dict" if isinstance(node, ast.Call) else type(node).__name__.lower()
    return f"{kind}({', '.join(f'{key!r}: {_kind(part, scope)}' for key, part in parts)})"


def _form(node: ast.expr, scope: Scope) -> str:
    parts = _parts(node, scope)
    if parts is None:
        return _VALUE
    forms = [_form(part, scope) for _, part in parts]
    if isinstance(node, ast.Tuple):
        return f"({', '.join(forms)}{',' if len(forms) == 1 else ''})"
    if isinstance(node, ast.List):
        return f"[{', '.join(forms)}]"
    if isinstance(node, ast.Call):
        return f"dict({', '.join(f'{key}={form}' for (key, _), form in zip(parts, forms, strict=True))})"
    quoted = [f'"{key}"' if key.isidentifier() else repr(key) for key, _ in parts]
    return f"{{{', '.join(f'{key}: {form}' for key, form in zip(quoted, forms, strict=True))}}}"
