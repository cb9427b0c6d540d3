"""The text of expressions on their way into a lambda."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from compilefix.codemods.rule import Scope

_SHOWS_CODE = re.compile(r"=\s*[}:!]")


def source_of(node: ast.expr, scope: Scope) -> str:
    """The source of an expression, on one line where that means the same."""
    text = _segment(node, scope)
    return ast.unparse(node) if text is None else _on_one_line(text)


def _segment(node: ast.expr, scope: Scope) -> str | None:
    """The source of a node, if it is really that: inside f-strings, Python before 3.12 can give a wrong place."""
    text = scope.file.segment(node)
    try:
        same = ast.dump(ast.parse(f"({text}\n)", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return None
    return text if same else None


def replaced_parts(node: ast.expr, new: Sequence[tuple[ast.expr, str]], scope: Scope) -> str:
    """The source of a node with other texts in the place of some of its parts."""
    whole = _segment(node, scope)
    new = [(part, _on_one_line(text)) for part, text in new if text != source_of(part, scope)]
    if any("\n" in text for _, text in new) and any(isinstance(part, ast.JoinedStr) for part in ast.walk(node)):
        return _unparsed(node, dict(new))  # a comment in it keeps it on several lines, which an f-string has not
    if whole is not None and isinstance(node, ast.JoinedStr) and _SHOWS_CODE.search(whole) and _shows_any(node, new):
        # `f"{x.mean()=}"` shows the code of the expression, which stays what it was.
        return _unparsed(node, dict(new))
    places = [_offset(node, part, scope) for part, _ in new]
    if whole is None or not all(place is not None and place[0] >= 0 and place[1] <= len(whole) for place in places):
        return _unparsed(node, dict(new))
    text = whole
    for place, text_of_part in sorted(
        zip(places, (t for _, t in new), strict=True), reverse=True, key=lambda item: item[0] or (0, 0)
    ):
        assert place is not None
        text = text[: place[0]] + text_of_part + text[place[1] :]
    return _on_one_line(text)


def _shows_any(text: ast.JoinedStr, new: Sequence[tuple[ast.expr, str]]) -> bool:
    """Whether a part that gets another text stands behind one that may be its own code, as in `f"{x=}"`."""
    changed = {part for part, _ in new}
    return any(
        isinstance(before, ast.Constant) and str(before.value).rstrip().endswith("=")
        for before, shown in pairwise(text.values)
        if any(part in changed for part in ast.walk(shown))
    )


def _offset(whole: ast.expr, part: ast.expr, scope: Scope) -> tuple[int, int] | None:
    """Where a part stands in the source of the whole, in code points."""
    text = _segment(part, scope)
    if text is None:
        return None
    position = scope.file.position
    start = position(part.lineno, part.col_offset) - position(whole.lineno, whole.col_offset)
    return start, start + len(text)


def _unparsed(node: ast.expr, new: dict[ast.expr, str]) -> str:
    return ast.unparse(_rebuilt(node, new))


def _rebuilt(node: ast.AST, new: dict[ast.expr, str]) -> ast.AST:
    """A copy with new code in the place of some parts."""
    if isinstance(node, ast.expr) and node in new:
        return ast.parse(f"({new[node]}\n)", mode="eval").body
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            fields[name] = [_rebuilt(v, new) if isinstance(v, ast.AST) else v for v in value]
        else:
            fields[name] = _rebuilt(value, new) if isinstance(value, ast.AST) else value
    return type(node)(**fields)


def _on_one_line(text: str) -> str:
    """Code that came on several lines, where it means the same on one: a text in triple quotes does not."""
    if "\n" not in text:
        return text
    opened = re.sub(r"(?<=[(\[{])\s*\n\s*", "", text)
    wanted = ast.dump(ast.parse(f"({text}\n)", mode="eval"))
    # A comma at the end says that a tuple of one is a tuple, or nothing.
    for end in (r",?\s*\n\s*(?=[)\]}])", r"\s*\n\s*(?=[)\]}])"):
        flat = re.sub(r"\s*\n\s*", " ", re.sub(end, "", opened))
        try:
            if ast.dump(ast.parse(flat, mode="eval")) == wanted:
                return flat
        except SyntaxError:
            continue
    return text


def operand_of(node: ast.expr, scope: Scope) -> str:
    """The source of an expression, as something that a method can be called on."""
    text = source_of(node, scope)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def escaped(text: str) -> str:
    """Code as it stands in a template, where braces name parts."""
    return text.replace("{", "{{").replace("}", "}}")
