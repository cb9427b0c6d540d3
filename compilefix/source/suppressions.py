"""Comments that silence findings: `# compilefix: ignore`, `ignore[CF101,CF2]`, `ignore-file`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_MARK = "compilefix:"
_COMMENT = re.compile(
    r"#\s*compilefix:\s*ignore(?P<file>-file)?(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Comment:
    """One comment: its line (from 1), the codes or prefixes that it names (none for every rule), and what it is on.

    `alone` says that no code stands on its line; only `ignore-file` means anything there.
    """

    line: int
    codes: frozenset[str]
    whole_file: bool = False
    alone: bool = False

    def silences(self, code: str) -> bool:
        """Whether the comment names this rule."""
        return not self.codes or any(code.startswith(prefix) for prefix in self.codes)


@dataclass(frozen=True)
class Suppressions:
    """The comments of one file."""

    comments: tuple[Comment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.comments)

    def covering(self, code: str, *lines: int) -> tuple[Comment, ...]:
        """The comments that silence a finding of `code`: those for the whole file, and those on one of `lines`.

        Give the line of the finding and the first and the last line of its statement.
        """
        return tuple(
            comment
            for comment in self.comments
            if (comment.whole_file or (not comment.alone and comment.line in lines)) and comment.silences(code)
        )

    def covers(self, code: str, *lines: int) -> bool:
        """Whether any comment silences the finding."""
        return bool(self.covering(code, *lines))

    def by_function(self, tree: ast.Module) -> Mapping[str, tuple[Comment, ...]]:
        """The comments on `def` lines, by the qualified name of the function, all of which they silence."""
        found: dict[str, tuple[Comment, ...]] = {}
        for qualname, head in _heads(tree, ""):
            on_it = tuple(c for c in self.comments if not c.whole_file and not c.alone and c.line in head)
            if on_it:
                found[qualname] = found.get(qualname, ()) + on_it
        return found


def parse(text: str) -> Suppressions:
    """The suppressions in `text`; none where it is not Python.

    Only comments count, not strings that look like them. A file without the mark costs one search.
    """
    if _MARK not in text.lower():
        return Suppressions()
    comments: list[Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                comments.extend(_comments(token.string, token.start[0], alone))
    except (tokenize.TokenError, SyntaxError):
        return Suppressions()
    return Suppressions(tuple(comments))


def parse_line(line: str) -> Suppressions:
    """The suppressions on one line that stands alone, as line 1; strings that look like comments count here too."""
    return Suppressions(tuple(_comments(line, 1, False)))


def _comments(text: str, line: int, alone: bool) -> Iterator[Comment]:
    for match in _COMMENT.finditer(text):
        # Without brackets, or with nothing between them, all rules are meant.
        codes = frozenset(code for part in (match["codes"] or "").split(",") if (code := part.strip().upper()))
        yield Comment(line, codes, bool(match["file"]), alone)


def _heads(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
    """The functions below a node with the lines from `def` to before the body."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = child.body[0]
            decorators = getattr(first, "decorator_list", [])
            body = min([first.lineno, *(decorator.lineno for decorator in decorators)])
            yield prefix + child.name, range(child.lineno, max(body, child.lineno + 1))
            yield from _heads(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _heads(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _heads(child, prefix)
